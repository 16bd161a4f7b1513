import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { interruptOnAbort } from './interrupt.js';
import { keepByteOrderMarks } from './keep-byte-order-marks.js';
import { quoteIdentifier } from './quote.js';

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
/** Stands for the SELECT of a table that has no rows. */
const NO_ROWS = '';

/** One DuckDB instance with UTC sessions. Values are bound, never pasted. */
export class Database {
  readonly #instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
  readonly #signal: AbortSignal | undefined;
  readonly #release: () => void;
  readonly #isFork: boolean;
  readonly #forks = new Set<Database>();
  #isClosed = false;
  /** What `define` and `keep` made: the same is not made again. */
  readonly #defined = new Map<string, { kind: Kind; of?: string }>();

  private constructor(
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    { signal, isFork = false }: { signal?: AbortSignal | undefined; isFork?: boolean },
  ) {
    this.#instance = instance;
    this.connection = connection;
    this.#signal = signal;
    this.#isFork = isFork;
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

  /** A further session on the same instance, for work side by side; it has no temporary view, table, macro or variable. */
  async fork(): Promise<Database> {
    const fork = new Database(this.#instance, await connect(this.#instance), { signal: this.#signal, isFork: true });
    this.#forks.add(fork);
    return fork;
  }

  /** Views that `define` made, by name. */
  views(): ReadonlyMap<string, string> {
    const views = new Map<string, string>();
    for (const [name, { kind, of }] of this.#defined) if (kind === 'view' && of !== undefined) views.set(name, of);
    return views;
  }

  async run(sql: string, values?: DuckDBValue[]): Promise<void> {
    await this.connection.run(sql, values);
  }

  /**
   * Makes temporary view or table `name` of a SELECT, in place of whichever is there. A statement over small tables is
   * planned several times faster than one over views of files, which are bound again at each use.
   */
  async define(kind: Kind, name: string, select: string): Promise<void> {
    if (kind === 'view' && this.#isDefined(kind, name, select)) return;
    await this.#replace(kind, name, `AS ${select}`);
    this.#defined.set(name, kind === 'view' ? { kind, of: select } : { kind });
  }

  /** Makes temporary table `name` of a SELECT over files, which never change: not again while it is there. */
  async keep(name: string, select: string): Promise<void> {
    if (this.#isDefined('table', name, select)) return;
    await this.#replace('table', name, `AS ${select}`);
    this.#defined.set(name, { kind: 'table', of: select });
  }

  /** Temporary table `name` without rows, which stays so: not made again while it is there. */
  async keepEmpty(name: string, columns: readonly { name: string; type: string }[]): Promise<void> {
    if (this.#isDefined('table', name, NO_ROWS)) return;
    await this.defineEmpty(name, columns);
    this.#defined.set(name, { kind: 'table', of: NO_ROWS });
  }

  /** Makes temporary table `name` without rows, in place of the view or table that is there. */
  async defineEmpty(name: string, columns: readonly { name: string; type: string }[]): Promise<void> {
    const list = columns.map((column) => `${quoteIdentifier(column.name)} ${column.type}`);
    await this.#replace('table', name, `(${list.join(', ')})`);
    this.#defined.set(name, { kind: 'table' });
  }

  #isDefined(kind: Kind, name: string, of: string): boolean {
    const defined = this.#defined.get(name);
    return defined?.kind === kind && defined.of === of;
  }

  async #replace(kind: Kind, name: string, definition: string): Promise<void> {
    const before = this.#defined.get(name);
    this.#defined.delete(name);
    const drop = (other: string) => this.run(`DROP ${other} IF EXISTS ${quoteIdentifier(name)}`);
    if (before !== undefined && before.kind !== kind) await drop(before.kind);
    const sql = `CREATE OR REPLACE TEMP ${kind} ${quoteIdentifier(name)} ${definition}`;
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

  /** Replaces view or table `name` by another view while `work` runs; it may read `<name>_itself`. */
  async substitute<T>(name: string, select: string, work: () => Promise<T>): Promise<T> {
    const [shown, itself] = [quoteIdentifier(name), quoteIdentifier(`${name}_itself`)];
    const kind = this.#defined.get(name)?.kind ?? (await this.#findKind(name));
    await this.run(`ALTER ${kind} ${shown} RENAME TO ${itself}`);
    try {
      await this.run(`CREATE TEMP VIEW ${shown} AS ${select}`);
      return await work();
    } finally {
      await this.run(`DROP VIEW IF EXISTS ${shown}`);
      await this.run(`ALTER ${kind} ${itself} RENAME TO ${shown}`);
    }
  }

  async #findKind(name: string): Promise<Kind> {
    const tables = await this.rows('SELECT 1 FROM duckdb_tables() WHERE temporary AND table_name = $1', [name]);
    return tables.length > 0 ? 'table' : 'view';
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

  /** All rows as objects of JavaScript values: BIGINT → bigint, DECIMAL and times stay DuckDB values. */
  async rows(sql: string, values?: DuckDBValue[]): Promise<Record<string, DuckDBValue>[]> {
    const reader = await this.connection.runAndReadAll(sql, values);
    return reader.getRowObjects();
  }

  /** The first row, or undefined. */
  async row(sql: string, values?: DuckDBValue[]): Promise<Record<string, DuckDBValue> | undefined> {
    return (await this.rows(sql, values))[0];
  }

  /** For long work between two statements. */
  throwIfStopped(): void {
    this.#signal?.throwIfAborted();
  }

  /** Closes the sessions it has forked as well. Closing again does nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const fork of this.#forks) fork.close();
    this.#release();
    this.connection.closeSync();
    if (!this.#isFork) this.#instance.closeSync();
  }
}

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
