import { type DuckDBConnection, DuckDBInstance, type DuckDBResultReader, type DuckDBValue } from '@duckdb/node-api';
import { interruptOnAbort } from './interrupt.js';
import { keepByteOrderMarks } from './keep-byte-order-marks.js';
import { quoteIdentifier, quoteLiteral } from './quote.js';

keepByteOrderMarks();

export interface DuckDbOptions {
  /** Database file, or `:memory:` (default). */
  path?: string;
  /** Where DuckDB may spill. */
  tempDirectory?: string;
  /** DuckDB's own ceiling; the process needs more beside it. */
  memoryLimit?: string;
  threads?: number;
  /** Interrupts the statement that runs, and each one after it. */
  signal?: AbortSignal;
}

type Kind = 'view' | 'table';
const showKept = (name: string) => `SELECT * EXCLUDE (filename) FROM kept_${name}`;
/** Stands for the SELECT of a table that has no rows. */
const NO_ROWS = '';

/** The table or view of all sessions: in a session, `substitute` may show another under its name. */
export const itself = (name: string): string => `memory.main.${quoteIdentifier(name)}`;

/** What the sessions of one instance have in common. */
interface Shared {
  /** What `define` made: the same is not made again. */
  defined: Map<string, { kind: Kind; of?: string }>;
  /** The files of which `keep` has the rows. */
  kept: Map<string, Promise<ReadonlySet<string>>>;
  forks: number;
  /** Those that are open. */
  sessions: Set<Database>;
  keepsFooters: boolean;
}

/** One DuckDB instance with UTC sessions. Values are bound, never pasted. */
export class Database {
  readonly #instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
  readonly #signal: AbortSignal | undefined;
  readonly #release: () => void;
  readonly #isFork: boolean;
  readonly #forks = new Set<Database>();
  /** Statements under way. */
  readonly #running = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;
  readonly #shared: Shared;

  private constructor(
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    { signal, main }: { signal?: AbortSignal | undefined; main?: Database },
  ) {
    this.#instance = instance;
    this.connection = connection;
    this.#signal = signal;
    this.#isFork = main !== undefined;
    const shared = () => ({ defined: new Map(), kept: new Map(), forks: 0, sessions: new Set<Database>() });
    this.#shared = main === undefined ? { ...shared(), keepsFooters: true } : main.#shared;
    this.#shared.sessions.add(this);
    this.#release = signal === undefined ? () => {} : interruptOnAbort(connection, signal);
  }

  static async open(options: DuckDbOptions = {}): Promise<Database> {
    const settings: Record<string, string> = {
      // Nothing is fetched at run time: extensions that are not built in stay out.
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    };
    if (options.tempDirectory !== undefined) settings.temp_directory = options.tempDirectory;
    if (options.memoryLimit !== undefined) settings.memory_limit = options.memoryLimit;
    if (options.threads !== undefined) settings.threads = String(options.threads);
    const instance = await DuckDBInstance.create(options.path ?? ':memory:', settings);
    return new Database(instance, await connect(instance), { signal: options.signal });
  }

  /** A further session on the same tables, views and macros, for work side by side; its variables are this one's as they are now. */
  async fork(): Promise<Database> {
    const connection = await this.#track(() => connect(this.#instance));
    const fork = new Database(this.#instance, connection, { signal: this.#signal, main: this });
    if (!this.#shared.keepsFooters) await fork.run(FORGET_FOOTERS);
    this.#forks.add(fork);
    const names = (await this.rows('SELECT name FROM duckdb_variables()')).map(({ name }) => String(name));
    if (names.length === 0) return fork;
    const values = names.map((name) => `getvariable(${quoteLiteral(name)}) AS ${quoteIdentifier(name)}`);
    this.#shared.forks += 1;
    const table = `variables_${this.#shared.forks}`;
    await this.run(`CREATE TABLE ${table} AS SELECT ${values.join(', ')}`);
    const set = (name: string) => `SET VARIABLE ${name} = (SELECT ${name} FROM ${table})`;
    await fork.run([...names.map((name) => set(quoteIdentifier(name))), `DROP TABLE ${table}`].join(';'));
    return fork;
  }

  async run(sql: string, values?: DuckDBValue[]): Promise<void> {
    await this.#track(() => this.connection.run(sql, values));
  }

  /** All rows of a statement, with the types of DuckDB. */
  read(sql: string, values?: DuckDBValue[]): Promise<DuckDBResultReader> {
    return this.#track(() => this.connection.runAndReadAll(sql, values));
  }

  /** All rows as objects of JavaScript values: BIGINT → bigint, DECIMAL and times stay DuckDB values. */
  async rows(sql: string, values?: DuckDBValue[]): Promise<Record<string, DuckDBValue>[]> {
    return (await this.read(sql, values)).getRowObjects();
  }

  /** The first row, or undefined. */
  async row(sql: string, values?: DuckDBValue[]): Promise<Record<string, DuckDBValue> | undefined> {
    return (await this.rows(sql, values))[0];
  }

  async #track<T>(start: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new Error('the session is closed');
    const statement = start();
    this.#running.add(statement);
    try {
      return await statement;
    } finally {
      this.#running.delete(statement);
    }
  }

  /**
   * Makes view or table `name` of a SELECT, in place of whichever is there. A statement over small tables is
   * planned several times faster than one over views of files, which are bound again at each use.
   */
  async define(kind: Kind, name: string, select: string): Promise<void> {
    if (kind === 'view' && this.#isDefined(kind, name, select)) return;
    await this.#replace(kind, name, `AS ${select}`);
    this.#shared.defined.set(name, kind === 'view' ? { kind, of: select } : { kind });
  }

  /**
   * Makes view `name` of the rows of files, which never change: only files that are not in table `kept_<name>` are read
   * into it, those that are left out go. `read` gives SQL of a relation of some files, with column `filename`.
   */
  async keep(name: string, paths: readonly string[], read: (paths: readonly string[]) => string): Promise<void> {
    const before = this.#shared.kept.get(name);
    const kept = this.#keepFiles(name, before, paths, read);
    this.#shared.kept.set(name, kept);
    await kept;
  }

  /** SELECT of the rows that view `name` shows of what `keep` made; undefined where it shows others. */
  keptRows(name: string): string | undefined {
    return this.#isDefined('view', name, showKept(name)) ? showKept(name) : undefined;
  }

  async #keepFiles(
    name: string,
    before: Promise<ReadonlySet<string>> | undefined,
    paths: readonly string[],
    read: (paths: readonly string[]) => string,
  ): Promise<ReadonlySet<string>> {
    const table = `kept_${name}`;
    const now = new Set(paths);
    const there = await before?.catch(() => undefined);
    if (there === undefined) await this.define('table', table, `SELECT * FROM ${read(paths)}`);
    else {
      const gone = [...there].filter((path) => !now.has(path));
      const added = paths.filter((path) => !there.has(path));
      if (gone.length > 0)
        await this.run(`DELETE FROM ${table} WHERE filename IN (${gone.map(quoteLiteral).join(', ')})`);
      if (added.length > 0) await this.run(`INSERT INTO ${table} SELECT * FROM ${read(added)}`);
    }
    await this.define('view', name, showKept(name));
    return now;
  }

  /** Table `name` without rows, which stays so: not made again while it is there. */
  async keepEmpty(name: string, columns: readonly { name: string; type: string }[]): Promise<void> {
    if (this.#isDefined('table', name, NO_ROWS)) return;
    await this.defineEmpty(name, columns);
    this.#shared.defined.set(name, { kind: 'table', of: NO_ROWS });
  }

  /** Makes table `name` without rows, in place of the view or table that is there. */
  async defineEmpty(name: string, columns: readonly { name: string; type: string }[]): Promise<void> {
    const list = columns.map((column) => `${quoteIdentifier(column.name)} ${column.type}`);
    await this.#replace('table', name, `(${list.join(', ')})`);
    this.#shared.defined.set(name, { kind: 'table' });
  }

  #isDefined(kind: Kind, name: string, of: string): boolean {
    const defined = this.#shared.defined.get(name);
    return defined?.kind === kind && defined.of === of;
  }

  async #replace(kind: Kind, name: string, definition: string): Promise<void> {
    const before = this.#shared.defined.get(name);
    this.#shared.defined.delete(name);
    const drop = (other: string) => this.run(`DROP ${other} IF EXISTS ${itself(name)}`);
    if (before !== undefined && before.kind !== kind) await drop(before.kind);
    const sql = `CREATE OR REPLACE ${kind} ${itself(name)} ${definition}`;
    try {
      await this.run(sql);
    } catch (error) {
      // Another statement made it.
      const message = error instanceof Error ? error.message : '';
      const other = /^Catalog Error: Existing object .* is of type (Table|View), trying to/.exec(message)?.[1];
      if (other === undefined) throw error;
      await drop(other);
      await this.run(sql);
    }
  }

  /** Shows a SELECT under the name of a view or table while `work` runs, in this session alone; it may read the one `itself`. */
  async substitute<T>(name: string, select: string, work: () => Promise<T>): Promise<T> {
    await this.run(`CREATE TEMP VIEW ${quoteIdentifier(name)} AS ${select}`);
    try {
      return await work();
    } finally {
      await this.run(`DROP VIEW temp.main.${quoteIdentifier(name)}`);
    }
  }

  /** `substitute` for each of several views or tables. */
  substituteEach<N extends string, T>(
    [name, ...others]: readonly N[],
    select: (name: N) => string,
    work: () => Promise<T>,
  ): Promise<T> {
    if (name === undefined) return work();
    return this.substitute(name, select(name), () => this.substituteEach(others, select, work));
  }

  /** From now on, no session keeps the footers of Parquet files: those of tens of thousands fill more than the limit of memory. */
  async forgetFooters(): Promise<void> {
    if (!this.#shared.keepsFooters) return;
    this.#shared.keepsFooters = false;
    // One that is being closed needs it no more.
    await Promise.allSettled([...this.#shared.sessions].map((session) => session.run(FORGET_FOOTERS)));
  }

  /** For long work between two statements. */
  throwIfStopped(): void {
    this.#signal?.throwIfAborted();
  }

  /** Closes the sessions it has forked as well. Closing again does nothing. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * A statement of `run`, `read` or `rows` that is under way is interrupted and waited for: DuckDB does not return where it
   * is closed beneath one.
   */
  async #close(): Promise<void> {
    const release = interruptOnAbort(this.connection, AbortSignal.abort());
    await Promise.allSettled([...this.#forks].map((fork) => fork.close()));
    await Promise.allSettled(this.#running);
    release();
    this.#release();
    this.#shared.sessions.delete(this);
    this.connection.closeSync();
    if (!this.#isFork) this.#instance.closeSync();
  }
}

const FORGET_FOOTERS = 'SET parquet_metadata_cache = false';

/** Rows of a partition that a COPY holds before it writes them as a row group: DuckDB would hold half a million. */
const PARTITION_ROWS = 61_440;

async function connect(instance: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await instance.connect();
  // Footers are read once, not by every query: the files of a lake never change. Their bytes are in the system's cache,
  // and would fill DuckDB's memory a second time.
  await connection.run(`SET TimeZone = 'UTC'; SET parquet_metadata_cache = true; SET enable_external_file_cache = false;
    SET partitioned_write_flush_threshold = ${PARTITION_ROWS}`);
  return connection;
}
