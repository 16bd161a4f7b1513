import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBResultReader,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import accessors from '@duckdb/node-api/lib/vectors/dataAccessors.js';
import pLimit from 'p-limit';
import { isOutOfMemory } from '../io/errors.js';
import { settleAll } from '../io/side-by-side.js';

// Keeps a U+FEFF at the start of a text, because a shop's title may start with one. By default, DuckDB's bindings drop
// it, which also falsifies the bounds in a file's statistics.
Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) });

export interface DuckDbOptions {
  /** The path of a database file, or `:memory:`, which is the default. */
  path?: string;
  tempDirectory?: string;
  /** The memory limit of DuckDB, in bytes or as text such as `2GB`. The whole process uses more memory than that. */
  memoryLimit?: number | string;
  /** If work runs out of memory, this limit replaces `memoryLimit`, and the work runs again. */
  mostMemory?: number | string;
  threads?: number;
  /** The number of statements that may run in parallel; defaults to 1. Each may run on a different session. */
  sessions?: number;
  signal?: AbortSignal;
}

export type Statements = Pick<Database, 'run' | 'rows' | 'row'>;

/** The number of `inLane` calls that may run in parallel. */
const LANES = 2;

/** A DuckDB instance whose sessions use UTC. Each statement runs on any free session, with its values bound. */
export class Database {
  readonly #instance: DuckDBInstance;
  readonly #options: DuckDbOptions;
  readonly #sessions: Session[] = [];
  readonly #free: Session[] = [];
  /** The statements that wait for a session, oldest first. */
  readonly #waiting: ((session: Session) => void)[] = [];
  readonly #most: number;
  #threads: number;
  /** The number of threads that DuckDB currently uses. */
  #setTo: number;
  readonly #running = new Set<Promise<unknown>>();
  readonly #inLane = pLimit(LANES);
  readonly #inTurn = pLimit(1);
  #openLanes = 0;
  #numbers = 0;
  /** Resolves after the last change to the number of threads. Changes run one after another. */
  #setting: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  private constructor(instance: DuckDBInstance, first: DuckDBConnection, options: DuckDbOptions, threads: number) {
    this.#instance = instance;
    this.#options = options;
    this.#most = options.sessions ?? 1;
    this.#threads = threads;
    this.#setTo = threads;
    this.#free.push(this.#addSession(first));
  }

  static async open(options: DuckDbOptions = {}): Promise<Database> {
    const settings: Record<string, string> = {
      // Prevents DuckDB from downloading or loading the extensions that a statement would need.
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    };
    if (options.tempDirectory !== undefined) settings.temp_directory = options.tempDirectory;
    if (options.memoryLimit !== undefined) settings.memory_limit = writeMemory(options.memoryLimit);
    if (options.threads !== undefined) settings.threads = String(options.threads);
    const instance = await DuckDBInstance.create(options.path ?? ':memory:', settings);
    const first = await connect(instance);
    const [row] = (await first.runAndReadAll("SELECT current_setting('threads')")).getRows();
    const db = new Database(instance, first, options, Number(row?.[0]));
    while (db.#sessions.length < db.#most) db.#free.push(db.#addSession(await connect(instance)));
    return db;
  }

  /** The connection for parsing and interrupting statements. Use it only if the database has a single session. */
  get connection(): DuckDBConnection {
    return (this.#sessions[0] as Session).connection;
  }

  async run(sql: string, values?: DuckDBValue[]): Promise<void> {
    await this.withSession((connection) => connection.run(sql, values));
  }

  read(
    sql: string,
    values?: DuckDBValue[] | Record<string, DuckDBValue>,
    types?: Record<string, DuckDBType>,
  ): Promise<DuckDBResultReader> {
    return this.withSession((connection) => connection.runAndReadAll(sql, values, types));
  }

  /** Returns all rows as objects. A BIGINT is a bigint. DECIMALs and times are DuckDB's value objects. */
  async rows(sql: string, values?: DuckDBValue[]): Promise<Record<string, DuckDBValue>[]> {
    return (await this.read(sql, values)).getRowObjects();
  }

  async row(sql: string, values?: DuckDBValue[]): Promise<Record<string, DuckDBValue> | undefined> {
    return (await this.rows(sql, values))[0];
  }

  /** Reserves a session for `work`. If `work` runs out of memory, raises the memory limit and runs `work` again. */
  async withSession<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw CLOSED();
    const session = await this.#acquire();
    const workAgain = async (error: unknown) => {
      if (this.#options.mostMemory === undefined || !isOutOfMemory(error)) throw error;
      await session.connection.run(`SET memory_limit = '${writeMemory(this.#options.mostMemory)}'`);
      return work(session.connection);
    };
    const statement =
      this.#closing === undefined ? work(session.connection).catch(workAgain) : Promise.reject(CLOSED());
    this.#running.add(statement);
    return statement.finally(() => {
      this.#running.delete(statement);
      this.#free.push(session);
      this.#serve();
    });
  }

  /**
   * Runs `work` in parallel with other work. During the call, DuckDB has one thread fewer, because threads that wait
   * for work use CPU time: a COPY into 132 partitions took 1.77 CPU seconds on two threads, and 1.07 on one. If there
   * is only one thread, calls run one at a time.
   */
  async inLane<T>(work: () => Promise<T>): Promise<T> {
    if (this.#threads < 2) return this.#inTurn(work);
    return this.#inLane(async () => {
      this.#openLanes += 1;
      await this.#setThreads();
      try {
        return await work();
      } finally {
        this.#openLanes -= 1;
        await this.#setThreads();
      }
    });
  }

  get threads(): number {
    return this.#threads;
  }

  /** Sets the number of threads for statements that start later. */
  useThreads(threads: number): Promise<void> {
    this.#threads = threads;
    return this.#setThreads();
  }

  /** Stops caching Parquet footers, because those of tens of thousands of files exceed the memory limit. */
  async forgetFooters(): Promise<void> {
    const set = this.#sessions.map(({ connection }) => connection.run('SET parquet_metadata_cache = false'));
    const setting = settleAll(set);
    this.#running.add(setting);
    await setting.finally(() => this.#running.delete(setting));
  }

  nextNumber(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  /** Throws if the signal is aborted. Long-running work calls it between statements. */
  throwIfStopped(): void {
    this.#options.signal?.throwIfAborted();
  }

  /** Closes the database. First interrupts statements and waits for them, because DuckDB would hang otherwise. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const releases = this.#sessions.map(({ connection }) => interruptOnAbort(connection, AbortSignal.abort()));
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    for (const release of [...releases, ...this.#sessions.map(({ release }) => release)]) release();
    for (const { connection } of this.#sessions) connection.closeSync();
    this.#instance.closeSync();
  }

  #addSession(connection: DuckDBConnection): Session {
    const release = this.#options.signal === undefined ? () => {} : interruptOnAbort(connection, this.#options.signal);
    const session = { connection, release };
    this.#sessions.push(session);
    return session;
  }

  /** Outside `inLane` calls, keeps one of three or more sessions free, because statements then use all threads. */
  #isFull(): boolean {
    const busy = this.#sessions.length - this.#free.length;
    return this.#most > 2 && this.#openLanes === 0 && busy >= this.#most - 1;
  }

  #acquire(): Promise<Session> {
    const session = this.#isFull() ? undefined : this.#free.pop();
    if (session !== undefined) return Promise.resolve(session);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#free.length > 0 && !this.#isFull()) {
      this.#waiting.shift()?.(this.#free.pop() as Session);
    }
  }

  /** Sets DuckDB's number of threads: one fewer than `#threads` during `inLane` calls, but at least one. */
  #setThreads(): Promise<void> {
    this.#serve();
    const setting = this.#setting.then(async () => {
      const wanted = this.#openLanes > 0 ? Math.max(1, this.#threads - 1) : this.#threads;
      if (wanted === this.#setTo || this.#closing !== undefined) return;
      await this.run(`SET threads = ${wanted}`);
      this.#setTo = wanted;
    });
    this.#setting = setting.catch(() => {}); // whoever requested this change receives the error
    return setting;
  }
}

const writeMemory = (size: number | string) => (typeof size === 'number' ? `${size / 1024 ** 2}MiB` : size);

const CLOSED = () => new Error('the database is closed');

interface Session {
  connection: DuckDBConnection;
  release: () => void;
}

/** The number of rows that a COPY buffers for each partition before it writes a row group. The default is 500,000. */
const PARTITION_ROWS = 61_440;

async function connect(instance: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await instance.connect();
  // Caches the footers of the lake's files, because the files never change. Doesn't cache their contents, because the
  // operating system does.
  await connection.run(`SET TimeZone = 'UTC'; SET parquet_metadata_cache = true; SET enable_external_file_cache = false;
    SET partitioned_write_flush_threshold = ${PARTITION_ROWS}`);
  return connection;
}

const AGAIN_MS = 50;

/**
 * Interrupts repeatedly after an abort, because an interrupt between statements has no effect. Returns a function that
 * stops interrupting.
 */
export function interruptOnAbort(connection: Pick<DuckDBConnection, 'interrupt'>, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    timer ??= setInterval(() => connection.interrupt(), AGAIN_MS);
  };
  signal.addEventListener('abort', interrupt);
  if (signal.aborted) interrupt();
  return () => {
    signal.removeEventListener('abort', interrupt);
    clearInterval(timer);
  };
}
