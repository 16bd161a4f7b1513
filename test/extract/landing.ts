import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { beginRun, findUnfinishedRun, type Landing } from '../../src/landing/landing.js';
import { createFakeIo } from '../api/fake-io.js';
import { makeFolder } from '../landing/folder.js';

let lake: string;
let open: Landing[] = [];
beforeEach(async () => {
  lake = await makeFolder();
});
afterEach(async () => {
  for (const landing of open.splice(0)) await landing.journal.close().catch(() => {});
});

/** The landing of a new run. */
export async function openLanding(): Promise<Landing> {
  const start = { runNumber: 1n, pipeline: 'prices', cursorFrom: null } as const;
  const landing = await beginRun(lake, start, createFakeIo());
  open.push(landing);
  return landing;
}

/** The same landing as the next process finds it. */
export async function reopenLanding(): Promise<Landing> {
  for (const landing of open.splice(0)) await landing.journal.close().catch(() => {});
  const landing = await findUnfinishedRun(lake);
  if (landing === undefined) throw new Error('there is no unfinished run');
  open = [landing];
  return landing;
}

/** The lines of a landed file. */
export async function readLanded(landing: Landing, name: string): Promise<string[]> {
  return (await readFile(path.join(landing.folder, name), 'utf8')).trimEnd().split('\n');
}
