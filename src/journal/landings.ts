import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, syncFolder } from '../io/durable.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { Journal, readJournal } from './journal.js';
import type { RunEntry } from './run-entry.js';
import {
  type AnyRun,
  type Applicable,
  isApplicable,
  isPublishable,
  type Publishable,
  RUN_FOLD,
  type RunState,
  START_AGAIN,
} from './run-state.js';

export const JOURNAL = 'journal.ndjson';

export type RunJournal = Journal<RunEntry, RunState>;

/** The files that a run has downloaded, and its journal, in `_pricelake/landing/<run id>/`. */
export interface Landing {
  runNumber: bigint;
  runId: string;
  folder: string;
  journal: RunJournal;
}

/** The files that a run has downloaded, and the state that its journal had when it was read. */
export interface LandedRun<State extends RunState = AnyRun> {
  runNumber: bigint;
  runId: string;
  folder: string;
  state: State;
}

export interface RunStart {
  runNumber: bigint;
  pipeline: string;
  cursorFrom: bigint | null;
  /** The ids of the datasets that the run copies; omitted if it copies all datasets that the key can read. */
  datasets?: bigint[];
}

export function landingRoot(lakeRoot: string): string {
  return path.join(lakeRoot, '_pricelake', 'landing');
}

/** Lists the folders of runs by name, oldest run first. */
export async function listRuns(lakeRoot: string): Promise<string[]> {
  const names = await readdir(landingRoot(lakeRoot)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => /^\d{6,}-/.test(name)).sort(compareRuns);
}

/** Compares run numbers as integers, because as text, 1000000 would come before 999999. */
function compareRuns(a: string, b: string): number {
  return Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1);
}

export const readNumber = (name: string) => BigInt(/^\d+/.exec(name)?.[0] ?? 0);

/** Creates the folder of a new run and the first line of its journal. */
export async function beginRun(lakeRoot: string, start: RunStart, io: Io): Promise<Landing> {
  const at = io.now().toISOString();
  const runId = `${String(start.runNumber).padStart(6, '0')}-${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  return openLanding(path.join(landingRoot(lakeRoot), runId), { runId, at, ...start });
}

export async function openLanding(folder: string, begin: RunStart & { runId: string; at: string }): Promise<Landing> {
  await makeFolder(folder);
  const journal = await Journal.open(path.join(folder, JOURNAL), RUN_FOLD);
  await journal.append({ type: 'begin', ...begin }).catch(async (error: unknown) => {
    await journal.close();
    throw error;
  });
  return { runNumber: begin.runNumber, runId: begin.runId, folder, journal };
}

/** Returns the state of a run that has downloaded all rows. @throws Error if the run hasn't downloaded them yet */
export function readApplicable({ journal, runId }: Pick<Landing, 'journal' | 'runId'>): Applicable {
  if (isApplicable(journal.state)) return journal.state;
  throw new Error(`run ${runId} is ${journal.state.stage}: its rows have not been downloaded yet`);
}

/** Returns the state of a run with journaled row counts. @throws Error if it has none, to prevent early commits */
export function readPublishable({ journal, runId }: Pick<Landing, 'journal' | 'runId'>): Publishable {
  if (isPublishable(journal.state)) return journal.state;
  throw new Error(`run ${runId} is ${journal.state.stage}: its row counts are not final yet`);
}

export function readBegin({ journal, folder }: Pick<Landing, 'journal' | 'folder'>): AnyRun['begin'] {
  const { state } = journal;
  if (state.stage !== 'none') return state.begin;
  throw new PricelakeError('lake_invalid', `${folder}: the first line of the journal is missing`, {
    hint: START_AGAIN,
  });
}

/**
 * Finds the run to continue, which is the newest run if it is unfinished. Deletes folders that a crash left without a
 * journal. See `peekUnfinishedRun` for the parameters and errors.
 */
export async function findUnfinishedRun(
  lakeRoot: string,
  published: bigint,
  io: Pick<Io, 'log'>,
): Promise<Landing | undefined> {
  const found = await peekUnfinishedRun(lakeRoot, published, (folder) => rm(folder, { recursive: true }));
  if (found === undefined) return undefined;
  const { runNumber, runId, folder } = found;
  return { runNumber, runId, folder, journal: await Journal.open(path.join(folder, JOURNAL), RUN_FOLD, io) };
}

/**
 * Finds the unfinished run. Changes nothing, because another process may be working on this run.
 * @param published the number of the newest run in the runs table; damaged journals of runs up to this one are ignored
 * @param onBare called with each folder that a crash left without a journal
 * @throws PricelakeError `lake_invalid` if the journal of an unpublished run is damaged
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

/** True if a run is unfinished. A published run whose journal has lost the row counts is also regarded as finished. */
export function isOpen({ state }: LandedRun, isPublished: boolean): boolean {
  return state.stage !== 'ended' && (!isPublished || isPublishable(state));
}

export const NOTHING_LEFT = 'the journal has no lines left';

/** Reads a run. Returns undefined for a folder without downloads and without journal lines, which a crash can leave. */
export async function readRun(folder: string): Promise<LandedRun | undefined> {
  const file = path.join(folder, JOURNAL);
  const state = await readJournal(file, RUN_FOLD);
  const refuse = (what: string) => new PricelakeError('lake_invalid', `${file}: ${what}`, { hint: START_AGAIN });
  if (state.stage === 'none') {
    const others = (await readdir(folder)).filter((name) => name !== JOURNAL);
    if (others.length > 0) throw refuse(NOTHING_LEFT);
    return undefined;
  }
  const { runNumber, runId } = state.begin;
  if (runId !== path.basename(folder)) throw refuse(`it is the journal of run ${runId}`);
  return { runNumber, runId, folder, state };
}

/** Deletes a run and its downloads, for example if it had nothing to do. */
export async function dropRun(landing: Landing): Promise<void> {
  await landing.journal.close();
  await removeLanding(landing.folder);
}

const GONE = 'gone-';

/** Deletes a run's folder. Renames it first, so that a power failure can't leave a partly deleted run. */
async function removeLanding(folder: string): Promise<void> {
  const gone = path.join(path.dirname(folder), `${GONE}${path.basename(folder)}`);
  await rename(folder, gone);
  await syncFolder(path.dirname(folder));
  await rm(gone, { recursive: true });
}

async function clearLeftovers(lakeRoot: string): Promise<void> {
  const names = await readdir(landingRoot(lakeRoot)).catch(() => []);
  for (const name of names) {
    if (name.startsWith(GONE)) await rm(path.join(landingRoot(lakeRoot), name), { recursive: true });
  }
}

/** Deletes the downloaded files of runs that ended more than `keepMs` ago. */
export async function pruneLandings(lakeRoot: string, keepMs: number, io: Io): Promise<void> {
  const limit = io.now().getTime() - keepMs;
  await clearLeftovers(lakeRoot);
  for (const runId of await listRuns(lakeRoot)) {
    // A run that started within the last `keepMs` also ended within this time, so its journal needn't be read.
    if (readBegun(runId) >= limit) continue;
    const folder = path.join(landingRoot(lakeRoot), runId);
    const state = await readKept(path.join(folder, JOURNAL), io);
    if (state?.stage === 'ended' && Date.parse(state.endedAt) < limit) {
      await removeLanding(folder);
      io.log('debug', 'landing.pruned', { runId });
    }
  }
}

/** Returns the time at which a run started, from its id, in milliseconds since 1970; NaN if the id has another form. */
function readBegun(runId: string): number {
  const time = /-(\d{4})(\d\d)(\d\d)(T\d\d)(\d\d)(\d\dZ)$/.exec(runId);
  return time === null ? Number.NaN : Date.parse(`${time[1]}-${time[2]}-${time[3]}${time[4]}:${time[5]}:${time[6]}`);
}

/** Reads a run's journal. Returns undefined if it is damaged, so that the run is kept and `verify` can report it. */
async function readKept(file: string, io: Io): Promise<RunState | undefined> {
  return readJournal(file, RUN_FOLD).catch((error: unknown) => {
    if (!(error instanceof PricelakeError)) throw error;
    io.log('warn', 'landing.damaged', { reason: error.message });
    return undefined;
  });
}
