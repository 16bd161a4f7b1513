import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { ApiClient } from '../../src/api/client.js';
import { isNamedId } from '../../src/formats/row-id.js';
import { realIo } from '../../src/io/real-io.js';
import { beginRun, findUnfinishedRun, type Landing } from '../../src/journal/landings.js';
import { type EntryOf, type RunEntry, runEntry } from '../../src/journal/run-entry.js';
import { type Allowance, findAllowance } from '../../src/plan/allowance.js';
import type { HydrationMeans } from '../../src/source/hydrate.js';
import { createFakeIo } from '../api/fake-io.js';
import { makeFolder } from '../journal/folder.js';

/** The landing that was opened last. */
let lake: string;
let opened: Landing;

const AT = '2026-11-20T06:00:00.000Z';
const ASKED: RunEntry = { type: 'feed.done', cursor: 0n, complete: true, at: AT, calls: 0 };
const LANDED: RunEntry = { type: 'datasets', readAt: AT, answer: '[]', calls: 0 };
const STAGES = { begun: [], asked: [ASKED], landed: [ASKED, LANDED] };

/** Opens the landing of a new run at a stage. The test closes it at its end. */
export async function openLanding(stage: keyof typeof STAGES = 'begun'): Promise<Landing> {
  lake = await makeFolder();
  const start = { runNumber: 1n, pipeline: 'prices', cursorFrom: null } as const;
  const landing = hold(await beginRun(lake, start, createFakeIo()));
  await landing.journal.append(...STAGES[stage]);
  return landing;
}

/** A test may open several landings. */
function hold(landing: Landing): Landing {
  opened = landing;
  onTestFinished(() => closeJournal(landing));
  return landing;
}

/** Opens the same landing like the next process does. */
export async function reopenLanding(): Promise<Landing> {
  await closeJournal(opened);
  const landing = await findUnfinishedRun(lake, 0n, realIo);
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

/** The entries of a type that are on disk. */
export function listEntries<T extends RunEntry['type']>({ folder }: Pick<Landing, 'folder'>, type: T): EntryOf<T>[] {
  const lines = readFileSync(path.join(folder, 'journal.ndjson'), 'utf8').split('\n').slice(0, -1);
  const entries = lines.map((line) => runEntry.parse(JSON.parse(line.replace(/,"sum":"\w+"}$/, '}'))));
  return entries.filter((entry): entry is EntryOf<T> => entry.type === type);
}

export function lastEntry<T extends RunEntry['type']>(landing: Landing, type: T): EntryOf<T> | undefined {
  return listEntries(landing, type).at(-1);
}

/** The allowance of a paid plan with this number of remaining export rows, or without a limit. */
export function allowRows(left?: number, isCounted = true): Allowance {
  const limits = left === undefined ? {} : { exportRowsPerMonth: left };
  const usage = isCounted ? { apiCalls: 0n, exportRows: 0n, resetsAt: '2026-12-01T00:00:00Z' } : null;
  const budget = { calls: { percent: 100 }, exportRows: { percent: 100 }, overage: 0 };
  return findAllowance({ status: 'ACTIVE', limits, usage }, budget);
}

/** The means to read complete items with everything that the key can read, but without an export. */
export const meansOf = (client: ApiClient, more: Partial<HydrationMeans> = {}): HydrationMeans => ({
  gate: undefined,
  exports: { format: 'ndjson', fitId: isNamedId },
  ratePerSecond: null,
  parts: [{ dataset: undefined, client }],
  ...more,
});
