import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { createSpellsView } from '../analyze/analysis.js';
import { createWatched, type WatchListOptions } from '../analyze/watch-list.js';
import type { Lake } from '../lake/lake.js';
import { readPointer } from '../lake/pointer.js';
import { createTableViews } from '../lake/views.js';
import { Database, interruptOnAbort } from '../sql/connection.js';
import { readAnalysis } from '../sql/model.js';
import { quoteIdentifier } from '../sql/quote.js';
import { lockDown } from '../sql/read-only-sql.js';
import { tablePath } from '../tables/layout.js';
import { TABLE_NAMES } from '../tables/table.js';

/** Nested queries whose rows are made once for a version of the lake, before a page is shown. */
const PREPARED_FIRST = ['data_clock', 'product_cards'];

/** Those that are made while pages are shown, in an order in which the rows of one product are read alone. */
const PREPARED_LATER = { product_listings: 'product_id', product_history: 'product_id, item_id', run_clocks: 'run_id' };

/** Pages, downloads and SQL that are answered side by side; others wait. */
const SESSIONS = 3;

export interface SnapshotOptions {
  /** DuckDB's memory limit, such as `450MB`. */
  memory: string;
  /** The reader's own price list. */
  list?: WatchListOptions | undefined;
  /** Stops whatever the snapshot does. */
  signal?: AbortSignal | undefined;
}

/** Variables of a session with their values. */
export type Variables = readonly (readonly [name: string, value: string])[];

/** The run that published what a snapshot shows; undefined where the lake has no `lake.json` yet. */
export interface PublishedRun {
  number: bigint;
  id: string;
  at: Date;
}

/**
 * A lake as one run published it. Questions reach its files and nothing else, and the snapshot never writes to them. Rows
 * that many questions need are kept in a database of its own, in a temporary folder.
 */
export class Snapshot {
  readonly run: PublishedRun | undefined;
  /** Name of the pipeline, or of the folder. */
  readonly name: string;
  /** Licence and credit texts of open-data websites. */
  readonly credits: readonly string[];
  /** The price list whose lines tables `found` and `watched` have. */
  readonly list: WatchListOptions | undefined;
  /** A folder that DuckDB may write to. */
  readonly scratch: string;
  /** Ends when all rows are made that questions read often. Rejected if they could not be. */
  readonly past: Promise<void>;
  readonly #prepared: Set<string>;
  readonly #db: Database;
  readonly #stop: AbortController;
  /** Names of the variables that a session may have. */
  readonly #variables = new WeakMap<DuckDBConnection, string[]>();
  #isPastReady = false;
  #users = 0;
  #isRetired = false;
  #closed: Promise<void> | undefined;

  private constructor(db: Database, scratch: string, stop: AbortController, facts: SnapshotFacts) {
    this.#db = db;
    this.#stop = stop;
    this.scratch = scratch;
    this.run = facts.run;
    this.name = facts.name;
    this.credits = facts.credits;
    this.list = facts.list;
    this.#prepared = facts.prepared;
    this.past = this.#makePast().then(() => {
      this.#isPastReady = true;
    });
    this.past.catch(() => {}); // each question that needs it gets the error
  }

  /** Nested queries whose rows are there already. */
  get prepared(): ReadonlySet<string> {
    return this.#prepared;
  }

  /** @throws PricelakeError `lake_invalid` if a table can't be read */
  static async open(lake: Lake, { memory, list, signal }: SnapshotOptions): Promise<Snapshot> {
    const scratch = await mkdtemp(join(tmpdir(), 'pricelake-explore-'));
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
      await createTableViews(db, lake);
      const pointer = await readPointer(lake);
      const folders = TABLE_NAMES.map((table) => tablePath(lake, table));
      const prepared = new Set<string>();
      for (const name of PREPARED_FIRST) {
        await db.run(`CREATE TABLE ${name} AS ${readAnalysis(name)}`);
        prepared.add(name);
      }
      await createSpellsView(db);
      if (list !== undefined) await readList(db, list);
      const credits = await db.rows(
        'SELECT DISTINCT attribution AS text FROM sites WHERE is_current AND attribution IS NOT NULL ORDER BY text',
      );
      await lockDown(db, [...folders, scratch]);
      return new Snapshot(db, scratch, stop, {
        prepared,
        run: pointer && { number: pointer.runNumber, id: pointer.runId, at: pointer.at },
        name: pointer?.pipeline ?? basename(lake.root),
        list,
        credits: credits.map(({ text }) => String(text)),
      });
    } catch (error) {
      await db?.close();
      await rm(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  get isPastReady(): boolean {
    return this.#isPastReady;
  }

  /**
   * Lends a session with these variables, and no others, until `work` ends. Its statements are interrupted when `signal` is
   * aborted.
   */
  lend<T>(variables: Variables, signal: AbortSignal, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    return this.#db.withSession(async (connection) => {
      const release = interruptOnAbort(connection, signal);
      try {
        signal.throwIfAborted();
        await this.#setVariables(connection, variables);
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

  /** Rows of one of our own statements. */
  rows(sql: string, values: DuckDBValue[] = []): Promise<Record<string, DuckDBValue>[]> {
    return this.lend([], this.#stop.signal, async (connection) =>
      (await connection.runAndReadAll(sql, values)).getRowObjects(),
    );
  }

  async #setVariables(connection: DuckDBConnection, variables: Variables): Promise<void> {
    const before = this.#variables.get(connection) ?? [];
    const names = variables.map(([name]) => name);
    // A question that is interrupted halfway leaves some of either.
    this.#variables.set(connection, [...before, ...names]);
    for (const name of before) await connection.run(`RESET VARIABLE ${quoteIdentifier(name)}`);
    for (const [name, value] of variables) {
      await connection.run(`SET VARIABLE ${quoteIdentifier(name)} = $1`, [value]);
    }
    this.#variables.set(connection, names);
  }

  /** Keeps the snapshot open until `work` ends, even if a newer one takes its place. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
      if (this.#isRetired && this.#users === 0) await this.close();
    }
  }

  /** Closes as soon as nobody uses it. */
  retire(): void {
    this.#isRetired = true;
    if (this.#users === 0) this.close().catch(() => {}); // a temporary folder may stay
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled([this.past]);
    await this.#db.close();
    await rm(this.scratch, { recursive: true, force: true });
  }

  /** Rows in the order of products, so that those of one are read alone. */
  async #makePast(): Promise<void> {
    await this.#prepareLater();
    await this.#db.run('CREATE TABLE prepared_spells AS FROM price_spells ORDER BY product_id, item_id, from_at');
    await this.#db.run('CREATE OR REPLACE VIEW price_spells AS FROM prepared_spells');
  }

  /** Until a table is there, questions read the files of the lake. Those of table offers are in the order of products. */
  async #prepareLater(): Promise<void> {
    await this.#db.run('CREATE TABLE prepared_offers AS FROM offers');
    await this.#db.run('CREATE OR REPLACE VIEW offers AS FROM prepared_offers');
    for (const [name, order] of Object.entries(PREPARED_LATER)) {
      await this.#db.run(`CREATE TABLE ${name} AS FROM (${readAnalysis(name)}\n) ORDER BY ${order}`);
      this.#prepared.add(name);
    }
  }
}

type SnapshotFacts = Pick<Snapshot, 'run' | 'name' | 'credits' | 'list'> & {
  prepared: Set<string>;
};

/** Makes what the analyses of a price list read. */
async function readList(db: Database, list: WatchListOptions): Promise<void> {
  await createWatched(db, { ...list, now: new Date() });
  await db.run(`CREATE VIEW clock AS SELECT seen_us AS now_us FROM (${readAnalysis('data_clock')})`);
}
