import { link, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import { Journal, JournalEntries } from './journal.js';
import type { JournalEntry } from './journal-entry.js';
import { toLine } from './journal-line.js';

const JOURNAL = 'journal.ndjson';

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

function landingRoot(lakeRoot: string): string {
  return path.join(lakeRoot, '_pricelake', 'landing');
}

/** The run that was begun last and not ended, or undefined. Its journal says what is there already. */
export async function findUnfinishedRun(lakeRoot: string): Promise<Landing | undefined> {
  for (const runId of (await listRuns(lakeRoot)).reverse()) {
    const folder = path.join(landingRoot(lakeRoot), runId);
    const journal = await Journal.open(path.join(folder, JOURNAL));
    const begin = journal.last('begin');
    if (begin !== undefined && journal.last('end') === undefined) {
      return { runNumber: begin.runNumber, runId: begin.runId, folder, journal };
    }
    await journal.close();
    if (begin !== undefined) return undefined;
    await rm(folder, { recursive: true }); // a crash before its first line: it holds nothing
  }
  return undefined;
}

/** Makes the folder and the first line of a new run. */
export async function beginRun(lakeRoot: string, start: RunStart, io: Io): Promise<Landing> {
  const at = io.now().toISOString();
  const runId = `${String(start.runNumber).padStart(6, '0')}-${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const folder = path.join(landingRoot(lakeRoot), runId);
  await mkdir(folder, { recursive: true });
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
  await rm(landing.folder, { recursive: true });
}

/** Removes the raw bytes of ended runs that are older than `keepMs`. */
export async function pruneLandings(lakeRoot: string, keepMs: number, io: Io): Promise<void> {
  const limit = io.now().getTime() - keepMs;
  for (const runId of await listRuns(lakeRoot)) {
    // No run ends before it begins: the journals of all that are kept would take longer to read than a small run.
    if (readBegun(runId) >= limit) continue;
    const folder = path.join(landingRoot(lakeRoot), runId);
    const journal = await readKept(path.join(folder, JOURNAL), io);
    const end = journal?.last('end');
    if (end !== undefined && Date.parse(end.at) < limit) {
      await rm(folder, { recursive: true });
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

async function listRuns(lakeRoot: string): Promise<string[]> {
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

/** A run's landing, looked at without touching it. */
export interface LandedRun {
  runNumber: bigint;
  runId: string;
  folder: string;
  journal: JournalEntries;
}

/** The run that is not ended, as another process may be writing it. Changes nothing. */
export async function peekUnfinishedRun(lakeRoot: string): Promise<LandedRun | undefined> {
  for (const runId of (await listRuns(lakeRoot)).reverse()) {
    const [last] = await readRun(lakeRoot, runId);
    if (last !== undefined) return last.journal.last('end') === undefined ? last : undefined;
  }
  return undefined;
}

/** None where a crash came before its first line. */
async function readRun(lakeRoot: string, name: string): Promise<LandedRun[]> {
  const folder = path.join(landingRoot(lakeRoot), name);
  const journal = await JournalEntries.read(path.join(folder, JOURNAL));
  const begin = journal.last('begin');
  return begin === undefined ? [] : [{ runNumber: begin.runNumber, runId: begin.runId, folder, journal }];
}

/** All runs whose raw bytes are there, in order; one that has ended says so in its journal. Damaged journals are told. Changes nothing. */
export async function listSoundRuns(lakeRoot: string): Promise<{ runs: LandedRun[]; damaged: string[] }> {
  const runs: LandedRun[] = [];
  const damaged: string[] = [];
  for (const runId of await listRuns(lakeRoot)) {
    try {
      runs.push(...(await readRun(lakeRoot, runId)));
    } catch (error) {
      if (!(error instanceof PricelakeError)) throw error;
      damaged.push(error.message);
    }
  }
  return { runs, damaged };
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
