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

/** Calls of this month, as the plan tells them. */
export async function countUsed({ sandbox }: World): Promise<number> {
  const headers = { authorization: `Bearer ${sandbox.keys.live}` };
  const plan = await (await fetch(`${sandbox.baseUrl}/api/v1/plan`, { headers })).json();
  return (plan as { usage: { apiCalls: number } }).usage.apiCalls;
}
