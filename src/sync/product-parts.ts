import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Database, itself } from '../duckdb/connection.js';
import { quoteList, quoteLiteral } from '../duckdb/quote.js';
import { MANY_FILES } from '../lake/plan-compaction.js';
import { explainSystemFault } from '../lake/system-fault.js';
import { selectNamedColumns } from '../tables/named-columns.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';

/** So many items are grouped by product at once: what groups hold can't all be spilled. */
const WHOLE_ITEMS = 1_100_000n;
/** Of more, so many at a time. */
const PART_ITEMS = 600_000n;

/** Where parts are kept, and how large they are. */
export interface PartPlan {
  folder: string;
  /** Queries over the parts: only the columns that they name are kept. */
  queries: readonly string[];
  wholeItems?: bigint;
  partItems?: bigint;
}

/**
 * The tables in parts of products, so that memory stays the same however many items there are. A table is written once, a
 * folder for each part: every part would read all of it.
 */
export class ProductParts {
  readonly #db: Database;
  readonly #plan: PartPlan;
  #count: Promise<number> | undefined;
  readonly #written = new Set<TableName>();

  constructor(db: Database, plan: PartPlan) {
    this.#db = db;
    this.#plan = plan;
  }

  /** Runs `work` for each part: views of these tables show the rows of its products alone. Few items are one part. */
  async each(tables: readonly TableName[], work: () => Promise<void>): Promise<void> {
    this.#count ??= this.#countParts();
    const count = await this.#count;
    if (count === 1) return work();
    const parted = tables.filter(isByProduct);
    for (const table of parted) {
      if (!this.#written.has(table)) await this.#write(table, count);
      this.#written.add(table);
    }
    for (let part = 0; part < count; part++) {
      await this.#db.substituteEach(parted, (table) => this.#select(table, part), work);
    }
  }

  async #countParts(): Promise<number> {
    const { wholeItems = WHOLE_ITEMS, partItems = PART_ITEMS } = this.#plan;
    const row = await this.#db.row('SELECT count(*) AS n FROM items');
    const items = row?.n as bigint;
    if (items <= wholeItems) return 1;
    const divide = (size: bigint) => Number((items + size - 1n) / size);
    // A part leaves a file in each table: of more small ones, the run would join them again.
    return Math.max(divide(wholeItems), Math.min(divide(partItems), MANY_FILES));
  }

  async #write(table: TableName, count: number): Promise<void> {
    const folder = path.join(this.#plan.folder, table);
    await mkdir(folder, { recursive: true });
    const columns = selectNamedColumns(table, this.#plan.queries);
    const rows = `SELECT ${columns}, hash(product_id) % ${count} AS part FROM ${table} WHERE product_id IS NOT NULL`;
    const copy = `COPY (${rows}) TO ${quoteLiteral(folder)} (FORMAT parquet, PARTITION_BY (part))`;
    await explainSystemFault(folder, () => this.#db.run(copy));
  }

  #select(table: TableName, part: number): string {
    const folder = path.join(this.#plan.folder, table, `part=${part}`);
    if (!existsSync(folder)) return `SELECT * FROM ${itself(table)} WHERE false`;
    const files = readdirSync(folder).map((name) => path.join(folder, name));
    return `SELECT * FROM read_parquet(${quoteList(files)}, hive_partitioning = false)`;
  }
}

/** True for tables whose rows of a product are its own. */
export function isByProduct(table: TableName): boolean {
  return loadTableSchema(table).columns.some(({ name }) => name === 'product_id');
}
