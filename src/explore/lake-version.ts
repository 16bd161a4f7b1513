import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { createSpellsView } from '../analyze/analysis.js';
import { type Conversion, loadRates } from '../analyze/exchange-rates.js';
import { makeScratchFolder } from '../io/scratch-folder.js';
import { readPointer } from '../lake/pointer.js';
import { createTableViews } from '../lake/views.js';
import { Database, interruptOnAbort, type Statements } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { lockDown } from '../sql/read-only-sql.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { TABLE_NAMES } from '../tables/table.js';
import { Moves } from './moves.js';
import { Prepared } from './prepared.js';

/** The maximum number of pages, downloads and queries that are answered at the same time. Further requests wait. */
const SESSIONS = 3;

/** Makes DuckDB return freed memory to the system early. Its allocator would otherwise keep hundreds of megabytes. */
const RETURN_MEMORY = `SET allocator_background_threads = true; SET allocator_flush_threshold = '8MB';
  SET allocator_bulk_deallocation_flush_threshold = '32MB'`;

/** DuckDB's default schema. */
const MAIN = 'main';

export interface VersionOptions {
  /** DuckDB's memory limit, such as `450MB`. */
  memory: string;
  /** Interrupts all running statements when aborted. */
  signal?: AbortSignal | undefined;
  /** The user's exchange rates, loaded as the `rates` table. */
  rates?: Conversion | undefined;
}

/** DuckDB session variables and their values. */
export type Variables = readonly (readonly [name: string, value: string])[];

/** The run that published a version. */
export interface PublishedRun {
  number: bigint;
  id: string;
  at: Date;
}

interface VersionFacts {
  source: { root: string; memory: string; rates: Conversion | undefined };
  run: PublishedRun | undefined;
  /** The name of the pipeline, or of the lake's folder if nothing is published. */
  name: string;
  /** License and credit texts of the websites. */
  credits: readonly string[];
}

/** The variables and the schema that are set in a session. */
interface SessionState {
  variables: readonly string[];
  schema: string;
}

/**
 * A published version of a lake, open for queries. Queries can read only the lake's files, and can't write to them.
 * Rows that many queries need are stored in a temporary database. The version closes when its last holder releases it.
 */
export class LakeVersion {
  readonly facts: VersionFacts;
  /** A temporary folder that DuckDB may write to. */
  readonly scratch: string;
  readonly prepared: Prepared;
  readonly moves = new Moves();
  readonly #db: Database;
  readonly #stop: AbortController;
  readonly #sessions = new WeakMap<DuckDBConnection, SessionState>();
  #keeping: Promise<void> | undefined;
  #movesFailedAt: number | undefined;
  readonly #threads: number;
  /** The number of running background jobs. While it is above zero, DuckDB uses only one thread. */
  #works = 0;
  #schemas = 0;
  #holders = 0;
  #closed: Promise<void> | undefined;

  private constructor(db: Database, scratch: string, stop: AbortController, facts: VersionFacts) {
    this.#db = db;
    this.#stop = stop;
    this.scratch = scratch;
    this.facts = facts;
    this.#threads = db.threads;
    this.prepared = new Prepared(this.statements());
    this.#onOneThread(() => this.prepared.all).catch(() => {}); // each query that needs these rows reports the error
  }

  /** Opens the newest published version. @throws PricelakeError `lake_invalid` if a table can't be read */
  static async open(lake: Lake, { memory, signal, rates }: VersionOptions): Promise<LakeVersion> {
    const scratch = await makeScratchFolder('explore');
    const stop = new AbortController();
    let db: Database | undefined;
    try {
      db = await Database.open({
        path: join(scratch, 'prepared.duckdb'),
        tempDirectory: join(scratch, 'spill'),
        memoryLimit: memory,
        sessions: SESSIONS,
        signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
      });
      await db.run(RETURN_MEMORY);
      await createTableViews(db, lake);
      await createSpellsView(db);
      if (rates !== undefined) await loadRates(db, rates.file);
      const pointer = await readPointer(lake);
      const credits = await db.rows(
        'SELECT DISTINCT attribution AS text FROM sites WHERE is_current AND attribution IS NOT NULL ORDER BY text',
      );
      const folders = TABLE_NAMES.map((table) => tablePath(lake, table));
      // Keeps `threads` changeable, although the database is locked down. Readers can run only SELECT, so they can't
      // change it.
      await db.run("SET allowed_configs = ['threads']");
      await lockDown(db, [...folders, scratch]);
      return new LakeVersion(db, scratch, stop, {
        source: { root: lake.root, memory, rates },
        run: pointer && { number: pointer.runNumber, id: pointer.runId, at: pointer.at },
        name: pointer?.pipeline ?? basename(lake.root),
        credits: credits.map(({ text }) => String(text)),
      });
    } catch (error) {
      await db?.close();
      await rm(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Runs a background job with a single DuckDB thread, because further threads would spin while idle and use memory
   * that pages need.
   */
  async #onOneThread(work: () => Promise<void>): Promise<void> {
    const useThreads = () => this.#db.useThreads(this.#works > 0 ? 1 : this.#threads);
    this.#works += 1;
    await useThreads();
    try {
      await work();
    } finally {
      this.#works -= 1;
      await useThreads();
    }
  }

  /**
   * Runs `work` with a session that has exactly these variables and resolves table names in `schema` first. Aborting
   * `signal` interrupts the session's statements.
   */
  lend<T>(
    variables: Variables,
    signal: AbortSignal,
    work: (connection: DuckDBConnection) => Promise<T>,
    schema = MAIN,
  ): Promise<T> {
    return this.#db.withSession(async (connection) => {
      const release = interruptOnAbort(connection, signal);
      try {
        signal.throwIfAborted();
        await this.#setUp(connection, variables, schema);
        return await work(connection);
      } catch (error) {
        // Throws the reason for the abort, because DuckDB reports only that the statement was interrupted.
        signal.throwIfAborted();
        throw error;
      } finally {
        release();
      }
    });
  }

  /**
   * Returns an object that runs statements in `schema`, to create tables. Statements fail after this version is closed.
   */
  statements(schema = MAIN): Statements {
    const work = <T>(use: (connection: DuckDBConnection) => Promise<T>) =>
      this.lend([], this.#stop.signal, use, schema);
    const rows: Statements['rows'] = (sql, values) =>
      work(async (connection) => (await connection.runAndReadAll(sql, values)).getRowObjects());
    return {
      rows,
      row: async (sql, values) => (await rows(sql, values))[0],
      run: (sql, values) =>
        work(async (connection) => {
          await connection.run(sql, values);
        }),
    };
  }

  async #setUp(connection: DuckDBConnection, variables: Variables, schema: string): Promise<void> {
    const before = this.#sessions.get(connection) ?? { variables: [], schema: MAIN };
    const names = variables.map(([name]) => name);
    // Records all names in advance, because an interrupted statement may leave variables and a schema behind.
    this.#sessions.set(connection, { variables: [...before.variables, ...names], schema: '' });
    if (schema !== before.schema) {
      await connection.run(`SET search_path = '${schema === MAIN ? MAIN : `${schema},${MAIN}`}'`);
    }
    for (const name of before.variables) {
      if (!names.includes(name)) await connection.run(`RESET VARIABLE ${quoteIdentifier(name)}`);
    }
    for (const [name, value] of variables) {
      await connection.run(`SET VARIABLE ${quoteIdentifier(name)} = $1`, [value]);
    }
    this.#sessions.set(connection, { variables: names, schema });
  }

  /** A promise that resolves when the current computation of price moves ends, even if it fails; undefined if idle. */
  get keeping(): Promise<void> | undefined {
    return this.#keeping;
  }

  /**
   * The time at which computing the price moves failed, in milliseconds of `performance.now()`; undefined if it hasn't
   * failed.
   */
  get movesFailedAt(): number | undefined {
    return this.#movesFailedAt;
  }

  /** Computes the price moves in advance, because pages request them often. */
  keepMoves(): Promise<void> {
    this.#movesFailedAt = undefined;
    const kept = this.#onOneThread(() => this.#keepMoves());
    const ended = kept
      .catch(() => {
        this.#movesFailedAt = performance.now();
      })
      .then(() => {
        this.#keeping = undefined;
      });
    this.#keeping = ended;
    return kept;
  }

  async #keepMoves(): Promise<void> {
    await this.prepared.all;
    const clock = await this.statements().row('SELECT seen_us // 1000 AS ms FROM data_clock');
    await this.moves.make({
      lend: (variables, work) => this.lend(variables, this.#stop.signal, work),
      prepared: this.prepared.names,
      run: this.facts.run?.number,
      newest: typeof clock?.ms === 'bigint' ? new Date(Number(clock.ms)) : undefined,
    });
  }

  nextSchema(): string {
    this.#schemas += 1;
    return `list_${this.#schemas}`;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Keeps this version open until `release` is called. */
  hold(): void {
    this.#holders += 1;
  }

  /** Releases one hold, and closes the version if it was the last. */
  async release(): Promise<void> {
    this.#holders -= 1;
    if (this.#holders === 0) this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled([this.prepared.all]);
    await this.#db.close();
    await rm(this.scratch, { recursive: true, force: true });
  }
}
