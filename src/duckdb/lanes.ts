import type { Database } from './connection.js';
import { createMacros } from './model-sql.js';
import { quoteIdentifier, quoteLiteral } from './quote.js';

const LANES = 2;
/** Rows of temporary tables that lanes may get copies of; more would fill the memory twice. */
const SHARED_ROWS = 250_000n;

/**
 * Sessions that run statements side by side, each on a thread of its own. Within one statement a thread of DuckDB waits
 * actively while another has the only work: a COPY of 150,000 rows into the files of 132 partitions took 1.77 CPU
 * seconds on two threads and 1.07 on one (bench/README.md).
 */
export class Lanes {
  readonly #db: Database;
  readonly #threads: number;
  readonly #free: Database[];
  readonly #all: readonly Database[];
  readonly #shared: readonly string[];
  #waiters: ((lane: Database) => void)[] = [];

  private constructor(db: Database, threads: number, lanes: Database[], shared: readonly string[]) {
    this.#db = db;
    this.#threads = threads;
    this.#all = lanes;
    this.#free = [...lanes];
    this.#shared = shared;
  }

  /**
   * Lanes that see what `select` reads: the views that `define` made, copies of temporary tables, and variables but for lists. Undefined on one
   * thread, or where these tables are large. Until `close`, statements of `db` have a thread less.
   */
  static async open(db: Database, select = ''): Promise<Lanes | undefined> {
    const settings = await db.row(
      "SELECT current_setting('threads') AS threads, CAST(current_setting('preserve_insertion_order') AS BOOLEAN) AS keeps_order",
    );
    const threads = Number(settings?.threads);
    const reads = listReads(db, select, await countTableRows(db));
    if (threads < 2 || reads.rows > SHARED_ROWS) return undefined;
    for (const name of reads.tables) {
      const table = quoteIdentifier(name);
      await db.run(`CREATE OR REPLACE TABLE memory.main.${table} AS FROM temp.${table}`);
    }
    const variables = await readVariables(db);
    const lanes: Database[] = [];
    for (let i = 0; i < LANES; i += 1) {
      const lane = await db.fork();
      lanes.push(lane);
      await lane.run(`SET preserve_insertion_order = ${settings?.keeps_order === true}`);
      for (const { name, value, type } of variables) {
        await lane.run(`SET VARIABLE ${quoteIdentifier(name)} = CAST($1 AS ${type})`, [value]);
      }
      await createMacros(lane);
      for (const [name, of] of reads.views) await lane.define('view', name, of);
    }
    await db.run(`SET threads = ${threads - 1}`);
    return new Lanes(db, threads, lanes, reads.tables);
  }

  /** Runs `work` on the next free lane. */
  async run<T>(work: (lane: Database) => Promise<T>): Promise<T> {
    const lane = this.#free.pop() ?? (await new Promise<Database>((resolve) => this.#waiters.push(resolve)));
    try {
      return await work(lane);
    } finally {
      const next = this.#waiters.shift();
      if (next === undefined) this.#free.push(lane);
      else next(lane);
    }
  }

  /** When no work is under way any more. */
  async close(): Promise<void> {
    for (const lane of this.#all) lane.close();
    for (const name of this.#shared) await this.#db.run(`DROP TABLE memory.main.${quoteIdentifier(name)}`);
    await this.#db.run(`SET threads = ${this.#threads}`);
  }
}

/** Variables as text. Lists and structures have none that is sure to be read back. */
async function readVariables(db: Database) {
  const rows = await db.rows("SELECT name, type FROM duckdb_variables() WHERE type NOT SIMILAR TO '.*[\\[(].*'");
  const variables = rows.map(({ name, type }) => ({ name: String(name), type: String(type) }));
  if (variables.length === 0) return [];
  // `duckdb_variables` shows null and the text NULL alike.
  const texts = variables.map(({ name }, i) => `CAST(getvariable(${quoteLiteral(name)}) AS VARCHAR) AS v${i}`);
  const values = await db.row(`SELECT ${texts.join(', ')}`);
  return variables.map(({ name, type }, i) => {
    const value = values?.[`v${i}`] ?? null;
    return {
      name,
      type: type === '"NULL"' || type === 'NULL' ? 'VARCHAR' : type,
      value: value === null ? null : String(value),
    };
  });
}

async function countTableRows(db: Database): Promise<Map<string, bigint>> {
  const rows = await db.rows('SELECT table_name, estimated_size FROM duckdb_tables() WHERE temporary');
  return new Map(rows.map(({ table_name, estimated_size }) => [String(table_name), BigInt(String(estimated_size))]));
}

/** Views and temporary tables that the text names, or a view that it reads; a view comes after what it reads. */
function listReads(db: Database, select: string, tableRows: ReadonlyMap<string, bigint>) {
  const views = db.views();
  const found = new Map<string, string>();
  const looked = new Set<string>();
  const tables = new Set<string>();
  const look = (text: string) => {
    // Paths of files have such names as well.
    const code = text.replace(/'(?:[^']|'')*'/gu, "''");
    for (const word of new Set(code.match(/\w+/gu))) {
      const of = views.get(word);
      if (of === undefined) {
        if (tableRows.has(word)) tables.add(word);
      } else if (!looked.has(word)) {
        looked.add(word);
        look(of);
        found.set(word, of);
      }
    }
  };
  look(select);
  const rows = [...tables].reduce((sum, name) => sum + (tableRows.get(name) ?? 0n), 0n);
  return { views: found, tables: [...tables], rows };
}
