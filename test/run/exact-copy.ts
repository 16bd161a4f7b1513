import { expect } from 'vitest';
import { readItems, readTruth, type World } from './world.js';

/** The lake holds exactly the service's items. */
export async function expectExactCopy({ lakePath, sandbox }: World): Promise<void> {
  expect(await readItems(lakePath)).toEqual(await readTruth(sandbox));
}

/** Requests for exports so far. */
export function listExports({ requests }: World): string[] {
  return requests.filter((request) => request.startsWith('/export'));
}
