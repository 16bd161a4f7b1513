import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { createSpellsView } from '../analyze/analysis.js';
import { type Conversion, loadRates } from '../analyze/exchange-rates.js';
import { makeScratchFolder } from '../io/scratch-folder.js';
import type { Lake } from '../lake/lake.js';
import { readPointer } from '../lake/pointer.js';
import { createTableViews } from '../lake/views.js';
import { Database, interruptOnAbort, type Statements } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { lockDown } from '../sql/read-only-sql.js';
import { tablePath } from '../tables/layout.js';
import { TABLE_NAMES } from '../tables/table.js';
import { Moves } from './moves.js';
import { Prepared } from './prepared.js';

/** Pages, downloads and SQL that are answered side by side; others wait. */
const SESSIONS = 3;

/** Memory that DuckDB has freed goes back to the system soon: its allocator keeps hundreds of megabytes otherwise. */
const RETURN_MEMORY = `SET allocator_background_threads = true; SET allocator_flush_threshold = '8MB';
  SET allocator_bulk_deallocation_flush_threshold = '32MB'`;

/** DuckDB's own schema of tables. */
const MAIN = 'main';

export interface VersionOptions {
  /** DuckDB's memory limit, such as `450MB`. */
  memory: string;
  /** Stops whatever is asked. */
  signal?: AbortSignal | undefined;
  /** The user's exchange rates, as table `rates`. */
  rates?: Conversion | undefined;
}

/** Variables of a session with their values. */
export type Variables = readonly (readonly [name: string, value: string])[];

/** The run that published a version; undefined where the lake has no `lake.json` yet. */
export interface PublishedRun {
  number: bigint;
  id: string;
  at: Date;
}

interface VersionFacts {
  source: { root: string; memory: string; rates: Conversion | undefined };
  run: PublishedRun | undefined;
  /** Name of the pipeline, or of the folder. */
  name: string;
  /** Licence and credit texts of open-data websites. */
  credits: readonly string[];
}

/** Variables and schema that a session has. */
interface SessionState {
  variables: readonly string[];
  schema: string;
}

/**
 * A lake as one run published it. Statements reach its files and nothing else, and never write to them. Rows that many
 * questions need are kept in a database of its own, in a temporary folder. It is open while somebody holds it.
 */
export class LakeVersion {
  readonly facts: VersionFacts;
  /** A folder that DuckDB may write to. */
  readonly scratch: string;
  readonly prepared: Prepared;
  readonly moves = new Moves();
  readonly #db: Database;
  readonly #stop: AbortController;
  readonly #sessions = new WeakMap<DuckDBConnection, SessionState>();
  #keeping: Promise<void> | undefined;
  #movesFailedAt: number | undefined;
  readonly #threads: number;
  /** Works on one thread that have not ended. */
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
    this.#onOneThread(() => this.prepared.all).catch(() => {}); // each question that needs its rows gets the error
  }

  /** @throws PricelakeError `lake_invalid` if a table can't be read */
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
      // A query can't set it, because it is one SELECT.
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

  /** Work beside pages takes less time and memory on one thread: idle threads spin, and each holds rows of its own. */
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
   * Lends a session with these variables, and no others, until `work` ends. It finds tables in `schema` first. Its
   * statements are interrupted when `signal` is aborted.
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
        // DuckDB says only that it was interrupted.
        signal.throwIfAborted();
        throw error;
      } finally {
        release();
      }
    });
  }

  /** Our own statements, which end with this version. They make tables in `schema`. */
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
    // A question that is interrupted halfway leaves some of either.
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

  /** Ends, never rejected, when what has moved is kept; undefined if nobody keeps it now. */
  get keeping(): Promise<void> | undefined {
    return this.#keeping;
  }

  /** When what has moved could not be kept, by the clock of `performance`; the rest may be kept later. */
  get movesFailedAt(): number | undefined {
    return this.#movesFailedAt;
  }

  /** Keeps what has moved, for pages that ask for it often. */
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

  /** A name that no other schema has. */
  nextSchema(): string {
    this.#schemas += 1;
    return `list_${this.#schemas}`;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Keeps this version open until `release`. */
  hold(): void {
    this.#holders += 1;
  }

  /** Closes when nobody holds it. */
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
