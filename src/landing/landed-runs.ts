import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { PricelakeError } from '../errors/errors.js';
import { JournalEntries } from './journal.js';
import { START_AGAIN } from './journal-line.js';

export const JOURNAL = 'journal.ndjson';

/** A run's landing, looked at without touching it. */
export interface LandedRun {
  runNumber: bigint;
  runId: string;
  folder: string;
  journal: JournalEntries;
}

export function landingRoot(lakeRoot: string): string {
  return path.join(lakeRoot, '_pricelake', 'landing');
}

/** Names of the folders of runs, in order. */
export async function listRuns(lakeRoot: string): Promise<string[]> {
  const names = await readdir(landingRoot(lakeRoot)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => /^\d{6,}-/.test(name)).sort(compareRuns);
}

/** By run number: as text, run 1000000 would come before run 999999. */
function compareRuns(a: string, b: string): number {
  return Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1);
}

const readNumber = (name: string) => BigInt(/^\d+/.exec(name)?.[0] ?? 0);

/**
 * The run that is not ended, as another process may be writing it. Changes nothing.
 * @param published number of the newest run that table `runs` has: of it and those before, no journal is needed
 * @param onBare gets folders of which a crash left nothing but the name
 * @throws PricelakeError `lake_invalid` where the journal of a run that is not published is damaged
 */
export async function peekUnfinishedRun(
  lakeRoot: string,
  published: bigint,
  onBare: (folder: string) => Promise<void> = async () => {},
): Promise<LandedRun | undefined> {
  for (const name of (await listRuns(lakeRoot)).reverse()) {
    const isPublished = readNumber(name) <= published;
    const folder = path.join(landingRoot(lakeRoot), name);
    const run = await readRun(folder).catch((error: unknown) => {
      if (!isPublished || !(error instanceof PricelakeError)) throw error;
    });
    if (run !== undefined) return isOpen(run, isPublished) ? run : undefined;
    if (isPublished) return undefined;
    await onBare(folder);
  }
  return undefined;
}

/** A run settles its tally before it publishes: the journal of a published one without it has lost its end. */
function isOpen({ journal }: LandedRun, isPublished: boolean): boolean {
  return !hasEnded(journal) && (!isPublished || journal.last('tally') !== undefined);
}

const NOTHING_LEFT = 'no line of it is left';

const hasEnded = (journal: JournalEntries) => journal.last('end') !== undefined;

/** Undefined where a crash came before its first line: nothing had landed. */
async function readRun(folder: string): Promise<LandedRun | undefined> {
  const file = path.join(folder, JOURNAL);
  const journal = await JournalEntries.read(file);
  const [begin] = journal.entries;
  const refuse = (what: string) => new PricelakeError('lake_invalid', `${file}: ${what}`, { hint: START_AGAIN });
  if (begin === undefined) {
    const others = (await readdir(folder)).filter((name) => name !== JOURNAL);
    if (others.length > 0) throw refuse(NOTHING_LEFT);
    return undefined;
  }
  if (begin.type !== 'begin') throw refuse('its first line is gone');
  if (begin.runId !== path.basename(folder)) throw refuse(`it is the journal of run ${begin.runId}`);
  return { runNumber: begin.runNumber, runId: begin.runId, folder, journal };
}

/** Runs whose raw bytes are kept. */
export interface KeptRuns {
  /** Those that have ended, in order. */
  runs: LandedRun[];
  /** The newest, where it has not. */
  open: LandedRun | undefined;
  /** Why the others can't be used, in words. */
  damaged: string[];
}

/** Changes nothing. `published` as of `peekUnfinishedRun`. */
export async function listSoundRuns(lakeRoot: string, published: bigint): Promise<KeptRuns> {
  const kept: KeptRuns = { runs: [], open: undefined, damaged: [] };
  let isNewest = true;
  for (const name of (await listRuns(lakeRoot)).reverse()) {
    const folder = path.join(landingRoot(lakeRoot), name);
    const isPublished = readNumber(name) <= published;
    const tell = (what: string) => kept.damaged.unshift(`${path.join(folder, JOURNAL)}: ${what}`);
    try {
      const run = await readRun(folder);
      if (run === undefined && !isPublished) continue;
      if (run === undefined) tell(NOTHING_LEFT);
      else if (hasEnded(run.journal)) kept.runs.unshift(run);
      // Only the newest run may be under way.
      else if (isNewest && isOpen(run, isPublished)) kept.open = run;
      else tell('its end is cut off');
    } catch (error) {
      if (!(error instanceof PricelakeError)) throw error;
      kept.damaged.unshift(error.message);
    }
    isNewest = false;
  }
  return kept;
}
