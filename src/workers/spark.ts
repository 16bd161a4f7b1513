import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Exchange } from './exchange.js';
import { Job, type Submitted } from './job.js';
import { RETRY_HINT } from './submission.js';
import { TaskPaths } from './task-paths.js';
import {
  encodeTask,
  readAnswer,
  refuseResult,
  type TaskKind,
  type Usage,
  type Workers,
  writeRequest,
} from './workers.js';

export interface SparkSettings extends Submitted {
  /** Rows from which on a piece of a run goes to the cluster. */
  leastRows: number;
}

export interface SparkWorld {
  io: Pick<Io, 'sleep' | 'log'>;
  /** Ends everything. */
  stop: AbortSignal;
  /** DuckDB's limit in each worker. */
  memory: number | string;
  /** Opens this end of the way that files take, when the first task comes. */
  openExchange: () => Exchange;
}

/** A line of the program on the driver: the worker's answer, or why Spark gave up. */
const line = z.union([
  z.strictObject({ id: z.number(), answer: z.string() }),
  z.strictObject({ id: z.number(), fault: z.string() }),
]);

/** So often a wait looks whether the run has to end. */
const WATCH_MS = 500;

interface Waiting {
  give: (text: string) => void;
  fail: (error: unknown) => void;
}

/**
 * Spark schedules tasks on its cluster, and workers of ours do them. `spark-submit` starts when the first task comes; its
 * program (pipelines/spark/run_tasks.py) takes tasks by a socket that only this user can open, and ends when it closes.
 */
export class SparkWorkers implements Workers {
  readonly #settings: SparkSettings;
  readonly #world: SparkWorld;
  readonly #waiting = new Map<number, Waiting>();
  readonly #total = { tasks: 0, cpuSeconds: 0, maxBytes: 0, sentBytes: 0, gotBytes: 0 };
  #last = 0;
  #job: Promise<Job> | undefined;
  #exchange: Exchange | undefined;
  readonly #ending = new AbortController();
  #closing: Promise<void> | undefined;
  #watch: NodeJS.Timeout | undefined;
  /** Tasks that have not ended. */
  readonly #doing = new Set<Promise<unknown>>();

  constructor(settings: SparkSettings, world: SparkWorld) {
    this.#settings = settings;
    this.#world = world;
    world.stop.addEventListener('abort', () => this.#fail(world.stop.reason), { once: true });
  }

  pays(rows: bigint): boolean {
    return this.#closing === undefined && rows >= BigInt(this.#settings.leastRows);
  }

  async do<I, O>(kind: TaskKind<I, O>, task: I, refuse: (result: O) => Promise<string | undefined>): Promise<O> {
    const done = this.#do(kind, task, refuse);
    this.#doing.add(done);
    try {
      return await done;
    } finally {
      this.#doing.delete(done);
    }
  }

  async #do<I, O>(kind: TaskKind<I, O>, task: I, refuse: (result: O) => Promise<string | undefined>): Promise<O> {
    this.#world.stop.throwIfAborted();
    try {
      this.#exchange ??= this.#world.openExchange();
      const exchange = this.#exchange;
      const asked = new TaskPaths(exchange.roots);
      const encoded = encodeTask(kind, task, asked);
      const [address, files] = [await exchange.address(), await exchange.put(asked.files)];
      const { memory } = this.#world;
      const text = await this.#ask(kind.name, writeRequest(kind, encoded, { memory, exchange: address, files }));
      const answer = readAnswer(kind, text, asked);
      this.#count(kind.name, answer.usage);
      const { result } = answer;
      await exchange.get(answer.files);
      await exchange.leave(answer.left);
      const why = await refuse(result);
      if (why !== undefined) throw refuseResult(kind.name, why);
      return result;
    } catch (error) {
      // An answer of the service that breaks its contract may be void by now. Anything else ends the run.
      if (!(error instanceof PricelakeError && error.code === 'contract')) this.#fail(error);
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#watch);
    // Nobody waits for what is under way: the run has failed. A task whose files are still being sent must not begin.
    if (this.#doing.size > 0) this.#fail(new Error('the run has ended'));
    const job = await this.#job?.catch(() => undefined);
    await job?.close(this.#ending.signal.aborted);
    await this.#exchange?.close();
    await Promise.allSettled(this.#doing);
    if (this.#total.tasks > 0) this.#world.io.log('info', 'spark.done', this.#total);
  }

  #count(task: string, usage: Usage): void {
    this.#world.io.log('debug', 'spark.task', { task, ...usage });
    this.#total.tasks += 1;
    this.#total.maxBytes = Math.max(this.#total.maxBytes, usage.maxBytes);
    for (const key of ['cpuSeconds', 'sentBytes', 'gotBytes'] as const) this.#total[key] += usage[key];
  }

  /** @param name the task in Spark's own pages */
  #ask(name: string, task: string): Promise<string> {
    const id = ++this.#last;
    return new Promise<string>((give, fail) => {
      if (this.#ending.signal.aborted) return fail(this.#ending.signal.reason);
      this.#waiting.set(id, { give, fail });
      this.#watch ??= this.#watchRun();
      this.#job ??= this.#open();
      this.#job.then(
        (job) => job.send(`${JSON.stringify({ id, name, task })}\n`),
        (error) => this.#fail(error),
      );
    });
  }

  /** A deadline ends a wait that has none of its own: the world's sleep says when it has passed. */
  #watchRun(): NodeJS.Timeout {
    const look = () => this.#world.io.sleep(0, this.#world.stop).catch((error) => this.#fail(error));
    return setInterval(look, WATCH_MS).unref();
  }

  #open(): Promise<Job> {
    const listener = { take: (text: string) => this.#take(text), fail: (error: unknown) => this.#fail(error) };
    return Job.open(this.#settings, listener, this.#ending.signal);
  }

  #take(text: string): void {
    const found = line.parse(JSON.parse(text));
    const waiting = this.#waiting.get(found.id);
    this.#waiting.delete(found.id);
    if ('answer' in found) waiting?.give(found.answer);
    else waiting?.fail(explainFault(found.fault));
  }

  /** The first error is that of all tasks, and ends the program with whatever it has under way. */
  #fail(error: unknown): void {
    this.#ending.abort(error);
    for (const { fail } of this.#waiting.values()) fail(this.#ending.signal.reason);
    this.#waiting.clear();
  }
}

function explainFault(text: string): PricelakeError {
  return new PricelakeError('unavailable', 'Spark gave a task up', { hint: RETRY_HINT, excerpt: text.slice(-4_000) });
}
