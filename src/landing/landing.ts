import { link, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PricelakeError } from '../errors/errors.js';
import { makeFolder, syncFolder } from '../io/durable.js';
import type { Io } from '../io/io.js';
import { Journal, JournalEntries } from './journal.js';
import type { JournalEntry } from './journal-entry.js';
import { toLine } from './journal-line.js';
import { JOURNAL, type LandedRun, landingRoot, listRuns, peekUnfinishedRun } from './landed-runs.js';

/** The raw bytes of one run and its journal: `_pricelake/landing/<run id>/`. */
export interface Landing {
  runNumber: bigint;
  runId: string;
  folder: string;
  journal: Journal;
}

export interface RunStart {
  runNumber: bigint;
  pipeline: string;
  cursorFrom: bigint | null;
  /** Ids of the datasets that the run copies; absent: all that the key can read. */
  datasets?: bigint[];
}

/**
 * The run to go on with: the newest, where it has not ended. What a crash left of one that had not begun is removed.
 * Parameter and errors as of `peekUnfinishedRun`.
 */
export async function findUnfinishedRun(lakeRoot: string, published: bigint): Promise<Landing | undefined> {
  const found = await peekUnfinishedRun(lakeRoot, published, (folder) => rm(folder, { recursive: true }));
  return found && { ...found, journal: await Journal.open(path.join(found.folder, JOURNAL)) };
}

/** Makes the folder and the first line of a new run. */
export async function beginRun(lakeRoot: string, start: RunStart, io: Io): Promise<Landing> {
  const at = io.now().toISOString();
  const runId = `${String(start.runNumber).padStart(6, '0')}-${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const folder = path.join(landingRoot(lakeRoot), runId);
  await makeFolder(folder);
  const journal = await Journal.open(path.join(folder, JOURNAL));
  await journal.append({ type: 'begin', runId, at, ...start }).catch(async (error: unknown) => {
    await journal.close();
    throw error;
  });
  return { runNumber: start.runNumber, runId, folder, journal };
}

/** Forgets a run that turned out to have nothing to do. */
export async function dropRun(landing: Landing): Promise<void> {
  await landing.journal.close();
  await removeLanding(landing.folder);
}

/** Beginning of the name of a folder that is being removed. */
const GONE = 'gone-';

/** Gone at once, also in a power cut: what is left of a run that is half removed would look like a damaged one. */
async function removeLanding(folder: string): Promise<void> {
  const gone = path.join(path.dirname(folder), `${GONE}${path.basename(folder)}`);
  await rename(folder, gone);
  await syncFolder(path.dirname(folder));
  await rm(gone, { recursive: true });
}

/** Removes what is left of landings whose removal was cut off. */
async function clearLeftovers(lakeRoot: string): Promise<void> {
  const names = await readdir(landingRoot(lakeRoot)).catch(() => []);
  for (const name of names) {
    if (name.startsWith(GONE)) await rm(path.join(landingRoot(lakeRoot), name), { recursive: true });
  }
}

/** Removes the raw bytes of ended runs that are older than `keepMs`. */
export async function pruneLandings(lakeRoot: string, keepMs: number, io: Io): Promise<void> {
  const limit = io.now().getTime() - keepMs;
  await clearLeftovers(lakeRoot);
  for (const runId of await listRuns(lakeRoot)) {
    // No run ends before it begins: the journals of all that are kept would take longer to read than a small run.
    if (readBegun(runId) >= limit) continue;
    const folder = path.join(landingRoot(lakeRoot), runId);
    const journal = await readKept(path.join(folder, JOURNAL), io);
    const end = journal?.last('end');
    if (end !== undefined && Date.parse(end.at) < limit) {
      await removeLanding(folder);
      io.log('debug', 'landing.pruned', { runId });
    }
  }
}

/** When the run began, in milliseconds, by its name; NaN for another name. */
function readBegun(runId: string): number {
  const time = /-(\d{4})(\d\d)(\d\d)(T\d\d)(\d\d)(\d\dZ)$/.exec(runId);
  return time === null ? Number.NaN : Date.parse(`${time[1]}-${time[2]}-${time[3]}${time[4]}:${time[5]}:${time[6]}`);
}

/** `verify` reports a damaged journal of an older run; it stops no run, and its bytes stay. */
async function readKept(file: string, io: Io): Promise<JournalEntries | undefined> {
  return JournalEntries.read(file).catch((error: unknown) => {
    if (!(error instanceof PricelakeError)) throw error;
    io.log('warn', 'landing.damaged', { reason: error.message });
    return undefined;
  });
}

/**
 * Gives another lake the raw bytes of a run, to be gone on with from where they had landed: what was made of them then
 * is not in its journal. Files are linked, not copied.
 */
export async function linkRun(run: LandedRun, lakeRoot: string): Promise<void> {
  const folder = path.join(landingRoot(lakeRoot), run.runId);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(run.folder)) {
    if (name !== JOURNAL) await link(path.join(run.folder, name), path.join(folder, name));
  }
  const made: JournalEntry['type'][] = ['tally', 'held', 'end'];
  const lines = run.journal.entries.filter((entry) => !made.includes(entry.type)).map((entry) => `${toLine(entry)}\n`);
  await writeFile(path.join(folder, JOURNAL), lines.join(''));
}
