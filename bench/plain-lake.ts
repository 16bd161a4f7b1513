import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setVariables } from '../src/analyze/analysis.js';
import { Database } from '../src/sql/connection.js';
import { readAnalysis } from '../src/sql/model.js';

/** An analysis with its variables, as in the address of its page. */
export interface PlainQuestion {
  analysis: string;
  set: Readonly<Record<string, string>>;
}

/** Elapsed and CPU time in milliseconds. */
export interface Took {
  ms: number;
  cpuMs: number;
}

/** The maximum number of rows to read. Pages show fewer. */
const MOST_ROWS = 1000;

/** Queries a lake's Parquet files with DuckDB's default settings, without prepared rows. */
export class PlainLake {
  readonly #db: Database;

  private constructor(db: Database) {
    this.#db = db;
  }

  static async open(lake: string): Promise<PlainLake> {
    const db = await Database.open();
    await db.run(`SET file_search_path = '${lake}'`);
    await db.run(await readFile(path.join(lake, 'catalog.sql'), 'utf8'));
    return new PlainLake(db);
  }

  /** Runs the questions one after another, and measures their time. */
  async time(questions: readonly PlainQuestion[]): Promise<Took> {
    const took = { ms: 0, cpuMs: 0 };
    for (const { analysis, set } of questions) {
      await setVariables(this.#db, set);
      const begin = performance.now();
      const before = process.cpuUsage();
      await this.#db.rows(`FROM (${readAnalysis(analysis)}\n) LIMIT ${MOST_ROWS}`);
      const { user, system } = process.cpuUsage(before);
      took.ms += performance.now() - begin;
      took.cpuMs += (user + system) / 1000;
      const unset = Object.fromEntries(Object.keys(set).map((name) => [name, null]));
      await setVariables(this.#db, unset);
    }
    return took;
  }

  /** Returns the first column of a query as text. */
  async list(query: string): Promise<string[]> {
    return (await this.#db.rows(query)).map((row) => String(Object.values(row)[0]));
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}
