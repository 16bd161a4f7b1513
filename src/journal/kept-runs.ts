import { link, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { PricelakeError } from '../io/errors.js';
import { Journal } from './journal.js';
import {
  isOpen,
  JOURNAL,
  type LandedRun,
  landingRoot,
  listRuns,
  NOTHING_LEFT,
  readNumber,
  readRun,
} from './landings.js';
import { readEntries } from './read-entries.js';
import type { RunEntry } from './run-entry.js';
import { type Ended, RUN_FOLD } from './run-state.js';

/** The runs whose downloaded data is still on disk. */
export interface KeptRuns {
  /** The finished runs, oldest first. */
  runs: LandedRun<Ended>[];
  /** The newest run, if it is unfinished. */
  open: LandedRun | undefined;
  /** The path and the fault of each journal that can't be used, as a sentence. */
  damaged: string[];
}

/** Lists the runs whose data is on disk. Changes nothing. @param published the newest run in the runs table */
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
      else if (hasEnded(run)) kept.runs.unshift(run);
      // Only the newest run can be unfinished.
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

const hasEnded = (run: LandedRun): run is LandedRun<Ended> => run.state.stage === 'ended';

/** Hard-links a run's downloads into a lake that continues the run. Copies its journal without the final entries. */
export async function linkRun(run: LandedRun, lakeRoot: string): Promise<void> {
  const folder = path.join(landingRoot(lakeRoot), run.runId);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(run.folder)) {
    if (name !== JOURNAL) await link(path.join(run.folder, name), path.join(folder, name));
  }
  const made: RunEntry['type'][] = ['tally', 'held', 'end'];
  const entries = await readEntries(path.join(run.folder, JOURNAL), RUN_FOLD);
  const journal = await Journal.open(path.join(folder, JOURNAL), RUN_FOLD);
  await journal.append(...entries.filter(({ type }) => !made.includes(type)));
  await journal.close();
}
