import { hostname } from 'node:os';
import * as z from 'zod';
import { doTyping, TYPING } from '../apply/typing-task.js';
import { makeScratchFolder } from '../io/scratch-folder.js';
import { explainDamage, explainMemory, explainSystemFault } from '../lake/faults.js';
import { openSession } from '../lake/session.js';
import { doSlice, SLICE } from '../lake/slice-task.js';
import { joinExchange } from '../remote/join-exchange.js';
import type { Database } from '../sql/connection.js';
import type { Exchange, ExchangeAddress } from '../workers/exchange.js';
import { TaskPaths } from '../workers/task-paths.js';
import { readRequest, type TaskKind, type TaskRequest, writeLastingError, writeResult } from '../workers/workers.js';
import { dividePart, PART, ROWS } from './derive/part-task.js';
import { CHECK, countCheck } from './prove/check-task.js';

/** Does a kind of task, from the request to the line of its answer. */
type Work = (db: Database, request: TaskRequest, exchange: Exchange, began: number) => Promise<string>;

function join<I, O>(kind: TaskKind<I, O>, work: (db: Database, task: I) => Promise<O>): [string, Work] {
  const run: Work = async (db, { files, task }, exchange, began) => {
    await exchange.get(files);
    const asked = new TaskPaths(exchange.roots);
    const value = kind.input(asked).parse(task);
    await exchange.makeFolders(asked.folders);
    const result = await work(db, value);
    const paths = new TaskPaths(exchange.roots);
    const encoded = z.encode(kind.output(paths), result);
    const written = await exchange.put([...paths.files, ...paths.left]);
    return writeResult(encoded, written, { ...measureProcess(began), ...exchange.traffic });
  };
  return [kind.name, run];
}

const WORKS = new Map([
  join(TYPING, doTyping),
  join(SLICE, doSlice),
  join(PART, dividePart),
  join(ROWS, dividePart),
  join(CHECK, countCheck),
]);

/**
 * Does a task of a run in a worker of a cluster, by the same functions as the run itself. Takes and gives a line.
 * @throws what another try elsewhere may not bring again
 */
export async function doTask(line: string, signal: AbortSignal): Promise<string> {
  const began = performance.now();
  try {
    const request = readRequest(line);
    const work = WORKS.get(request.kind);
    if (work === undefined) throw new Error(`there is no kind of task ${request.kind}`);
    // The next worker on this machine removes the folder of one that was killed.
    const workFolder = await makeScratchFolder('work');
    const session = await openSession({ hasModels: true, memoryLimit: request.memory, signal, workFolder });
    try {
      // A Spark task has one core.
      await session.db.run('SET threads = 1; SET preserve_insertion_order = false');
      const where = `a worker on ${hostname()}`;
      const run = () =>
        explainMemory(where, () =>
          within(request.exchange, workFolder, (exchange) => work(session.db, request, exchange, began)),
        );
      return await explainSystemFault(where, () => explainDamage(where, run));
    } finally {
      await session.close();
    }
  } catch (error) {
    const lasting = writeLastingError(error);
    if (lasting === undefined) throw error;
    return lasting;
  }
}

async function within<T>(address: ExchangeAddress, folder: string, work: (exchange: Exchange) => Promise<T>) {
  const exchange = await joinExchange(address, folder);
  try {
    return await work(exchange);
  } finally {
    await exchange.close();
  }
}

function measureProcess(began: number) {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  return {
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    maxBytes: maxRSS * 1024,
  };
}
