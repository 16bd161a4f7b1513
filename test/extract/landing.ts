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
  opened = await beginRun(lake, start, createFakeIo());
  onTestFinished(() => closeJournal(opened));
  return opened;
}

/** The same landing as the next process finds it. */
export async function reopenLanding(): Promise<Landing> {
  await closeJournal(opened);
  const landing = await findUnfinishedRun(lake);
  if (landing === undefined) throw new Error('there is no unfinished run');
  opened = landing;
  return landing;
}

async function closeJournal({ journal }: Landing): Promise<void> {
  await journal.close().catch(() => {}); // a test may have closed it
}

/** The lines of a landed file. */
export async function readLanded(landing: Landing, name: string): Promise<string[]> {
  return (await readFile(path.join(landing.folder, name), 'utf8')).trimEnd().split('\n');
}
