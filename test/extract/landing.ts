import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { beginRun, findUnfinishedRun, type Landing } from '../../src/landing/landing.js';
import { createFakeIo } from '../api/fake-io.js';
import { makeFolder } from '../landing/folder.js';

/** Of the landing that was opened last. */
let lake: string;
let opened: Landing;

/** The landing of a new run, closed after the test. */
export async function openLanding(): Promise<Landing> {
  lake = await makeFolder();
  const start = { runNumber: 1n, pipeline: 'prices', cursorFrom: null } as const;
  return hold(await beginRun(lake, start, createFakeIo()));
}

/** A test may open several. */
function hold(landing: Landing): Landing {
  opened = landing;
  onTestFinished(() => closeJournal(landing));
  return landing;
}

/** The same landing as the next process finds it. */
export async function reopenLanding(): Promise<Landing> {
  await closeJournal(opened);
  const landing = await findUnfinishedRun(lake, 0n);
  if (landing === undefined) throw new Error('there is no unfinished run');
  return hold(landing);
}

async function closeJournal({ journal }: Landing): Promise<void> {
  await journal.close().catch(() => {}); // a test may have closed it
}

/** The lines of a landed file. */
export async function readLanded(landing: Landing, name: string): Promise<string[]> {
  return (await readFile(path.join(landing.folder, name), 'utf8')).trimEnd().split('\n');
}
