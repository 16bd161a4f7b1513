import { join } from 'node:path';
import type { DuckDBDataChunk, DuckDBPreparedStatement, DuckDBValue } from '@duckdb/node-api';
import { Database } from '../../sql/connection.js';
import { quoteLiteral } from '../../sql/quote.js';
import { runWhole } from '../../sql/whole-result.js';

/** Values keyed by parameter name, such as `{ step: 3 }` for `$step`. */
export type SqlValues = Record<string, DuckDBValue>;
export type SqlRow = Record<string, DuckDBValue>;

/** A DuckDB database that runs one task at a time, so that readers never see half a step. */
export class WorldDatabase {
  readonly #database: Database;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Opens a database file, so that a large world doesn't have to fit into memory. */
  static async open(directory: string): Promise<WorldDatabase> {
    const database = await Database.open({
      path: join(directory, 'world.duckdb'),
      memoryLimit: '1GB',
      tempDirectory: join(directory, 'spill'),
    });
    // Skips checkpoints, because the data is deleted when the process ends.
    await database.run("SET checkpoint_threshold = '512MB'");
    await database.run('PRAGMA disable_checkpoint_on_shutdown');
    return new WorldDatabase(database);
  }

  /** Runs `work` after all earlier tasks. `work` must use only the session that it receives. */
  use<T>(work: (session: WorldSession) => Promise<T>): Promise<T> {
    const result = this.#queue.then(() => work(new WorldSession(this.#database)));
    this.#queue = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    await this.#queue;
    await this.#database.close();
  }
}

export class WorldSession {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Runs a script. Each statement is bound to the values that it uses. */
  async run(script: string, values: SqlValues = {}): Promise<void> {
    const statements = await this.#database.connection.extractStatements(script);
    for (let k = 0; k < statements.count; k++) {
      const prepared = await statements.prepare(k);
      bindNamed(prepared, values);
      await prepared.run();
      prepared.destroySync();
    }
  }

  /** Runs a query and returns its rows as objects. Use it only for a few rows. */
  async rows(sql: string, values: SqlValues = {}): Promise<SqlRow[]> {
    const prepared = await this.#database.connection.prepare(sql);
    bindNamed(prepared, values);
    return (await prepared.runAndReadAll()).getRowObjects();
  }

  async row(sql: string, values: SqlValues = {}): Promise<SqlRow | undefined> {
    return (await this.rows(sql, values))[0];
  }

  /** Returns the first column, which must be INTEGER without nulls. */
  async integers(sql: string, values: SqlValues = {}): Promise<Uint32Array> {
    const parts: DuckDBValue[][] = [];
    await this.eachChunk(sql, values, (chunk) => parts.push(chunk.getColumnValues(0)));
    const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part as number[], at);
      at += part.length;
    }
    return all;
  }

  /** Passes a large result to `take` in DuckDB's chunks. */
  async eachChunk(sql: string, values: SqlValues, take: (chunk: DuckDBDataChunk) => void): Promise<void> {
    const prepared = await this.#database.connection.prepare(sql);
    bindNamed(prepared, values);
    const { chunks } = await runWhole(prepared);
    for await (const chunk of chunks()) take(chunk);
  }

  /** Writes the only column of a query, which must be text, as lines. */
  async copyLines(select: string, path: string, values: SqlValues = {}): Promise<void> {
    // With an empty quote and a delimiter that no text contains, the CSV writer doesn't change the text.
    const options = `FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\u0001'`;
    const prepared = await this.#database.connection.prepare(`COPY (${select}) TO ${quoteLiteral(path)} (${options})`);
    bindNamed(prepared, values);
    await prepared.run();
  }
}

function bindNamed(prepared: DuckDBPreparedStatement, values: SqlValues): void {
  const named: SqlValues = {};
  for (let k = 1; k <= prepared.parameterCount; k++) {
    const name = prepared.parameterName(k);
    const value = values[name];
    if (value === undefined) throw new Error(`no value for the parameter $${name}`);
    named[name] = value;
  }
  if (prepared.parameterCount > 0) prepared.bind(named);
}
