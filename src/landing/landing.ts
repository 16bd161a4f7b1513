import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Io } from '../io.js';
import { Journal } from './journal.js';

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
}

function landingRoot(lakeRoot: string): string {
  return path.join(lakeRoot, '_pricelake', 'landing');
}

/** The run that was begun last and not ended, or undefined. Its journal says what is there already. */
export async function findUnfinishedRun(lakeRoot: string): Promise<Landing | undefined> {
  for (const runId of (await listRuns(lakeRoot)).reverse()) {
    const folder = path.join(landingRoot(lakeRoot), runId);
    const journal = await Journal.open(path.join(folder, 'journal.ndjson'));
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
  const journal = await Journal.open(path.join(folder, 'journal.ndjson'));
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
  for (const runId of await listRuns(lakeRoot)) {
    const folder = path.join(landingRoot(lakeRoot), runId);
    const journal = await Journal.open(path.join(folder, 'journal.ndjson'));
    const end = journal.last('end');
    await journal.close();
    if (end !== undefined && Date.parse(end.at) < io.now().getTime() - keepMs) {
      await rm(folder, { recursive: true });
      io.log('debug', 'landing.pruned', { runId });
    }
  }
}

async function listRuns(lakeRoot: string): Promise<string[]> {
  const names = await readdir(landingRoot(lakeRoot)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => /^\d{6,}-/.test(name)).sort(compareRuns);
}

/** By run number: as text, run 1000000 would stand before run 999999. */
function compareRuns(a: string, b: string): number {
  return Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1);
}
