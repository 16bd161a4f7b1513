import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { doTyping, TYPING } from '../apply/typing-task.js';
import { PricelakeError } from '../io/errors.js';
import { makeScratchFolder } from '../io/scratch-folder.js';
import { explainDamage, explainMemory, explainSystemFault } from '../lake/faults.js';
import { openSession } from '../lake/session.js';
import { doSlice, SLICE } from '../lake/slice-task.js';
import type { Database } from '../sql/connection.js';
import { ignoreMissing } from '../tables/layout.js';
import { readRequest, type SharedPlace, type TaskKind, writeLastingError, writeResult } from '../workers/workers.js';
import { dividePart, PART } from './derive/part-task.js';
import { CHECK, countCheck } from './prove/check-task.js';

/** A kind of task with what does it, from JSON to the line of its answer. */
type Work = (db: Database, task: unknown) => Promise<(began: number) => string>;

function join<I, O>(kind: TaskKind<I, O>, work: (db: Database, task: I) => Promise<O>): [string, Work] {
  const run: Work = async (db, task) => {
    const result = await work(db, kind.input.parse(task));
    return (began) => writeResult(kind, result, measureProcess(began));
  };
  return [kind.name, run];
}

const WORKS = new Map([join(TYPING, doTyping), join(SLICE, doSlice), join(PART, dividePart), join(CHECK, countCheck)]);

/**
 * Does a task of a run in a worker of a cluster, by the same functions as the run itself. Takes and gives a line.
 * @throws what another try elsewhere may not bring again
 */
export async function doTask(line: string, signal: AbortSignal): Promise<string> {
  const began = performance.now();
  try {
    const { kind, memory, place, task } = readRequest(line);
    const work = WORKS.get(kind);
    if (work === undefined) throw new Error(`there is no kind of task ${kind}`);
    await requirePlace(place);
    // The next worker on this machine removes the folder of one that was killed.
    const workFolder = await makeScratchFolder('work');
    const session = await openSession({ hasModels: true, memoryLimit: memory, signal, workFolder });
    try {
      // A Spark task has one core.
      await session.db.run('SET threads = 1; SET preserve_insertion_order = false');
      const where = `a worker on ${hostname()}`;
      const run = () => explainMemory(where, () => work(session.db, task));
      return (await explainSystemFault(where, () => explainDamage(where, run)))(began);
    } finally {
      await session.close();
    }
  } catch (error) {
    const lasting = writeLastingError(error);
    if (lasting === undefined) throw error;
    return lasting;
  }
}

/** @throws PricelakeError `config` where this machine has no such folder, or another one than the run */
async function requirePlace({ folder, mark }: SharedPlace): Promise<void> {
  const sees = async (path: string) => (await stat(path).catch(ignoreMissing)) !== undefined;
  if (await sees(mark)) return;
  const what = (await sees(folder))
    ? `has another folder as ${folder} than the run`
    : `does not see the folder ${folder}`;
  throw new PricelakeError('config', `${hostname()}, a machine of the cluster, ${what}`, {
    hint: "Mount the lake's folder under the same path on every machine of the cluster.",
  });
}

function measureProcess(began: number) {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  return {
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    maxBytes: maxRSS * 1024,
  };
}
