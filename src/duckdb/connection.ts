import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { interruptOnAbort } from './interrupt.js';
import { keepByteOrderMarks } from './keep-byte-order-marks.js';

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

/** One DuckDB instance with UTC sessions. Values are bound, never pasted. */
export class Database {
  readonly #instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
  readonly #signal: AbortSignal | undefined;
  readonly #release: () => void;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, signal: AbortSignal | undefined) {
    this.#instance = instance;
    this.connection = connection;
    this.#signal = signal;
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
    return new Database(instance, await connect(instance), options.signal);
  }

  /** A further session on the same instance, for work side by side. */
  async session(): Promise<DuckDBConnection> {
    return connect(this.#instance);
  }

  async run(sql: string, values?: DuckDBValue[]): Promise<void> {
    await this.connection.run(sql, values);
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

  close(): void {
    this.#release();
    this.connection.closeSync();
    this.#instance.closeSync();
  }
}

async function connect(instance: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  // Footers are read once, not by every query: the files of a lake never change.
  await connection.run('SET parquet_metadata_cache = true');
  return connection;
}
