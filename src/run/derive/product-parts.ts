import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { explainSystemFault } from '../../lake/faults.js';
import { MANY_FILES } from '../../lake/plan-compaction.js';
import type { RelationGraph } from '../../sql/graph.js';
import { quoteList, quoteLiteral } from '../../sql/quote.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import { ignoreMissing } from '../../tables/layout.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { TableName } from '../../tables/table.js';

/** So many items are grouped by product at once: what groups hold can't all be spilled. */
const WHOLE_ITEMS = 1_100_000n;
/** If there are more, so many at a time. */
const PART_ITEMS = 600_000n;

/** The folder of parts, and their size. */
export interface PartPlan {
  folder: string;
  /** Queries over the parts: only the columns that they name are kept. */
  queries: readonly string[];
  wholeItems?: bigint;
  partItems?: bigint;
}

/** Tables by name, as the rows of a part of the products. */
export type PartTables = Partial<Record<TableName, Sql>>;

/**
 * Tables in parts of products, so that memory stays the same however many items there are. A table is written once, a
 * folder for each part: every part would read all of it.
 */
export class ProductParts {
  readonly #graph: RelationGraph;
  readonly #plan: PartPlan;
  readonly #written = new Map<Relation, Promise<string>>();

  constructor(graph: RelationGraph, plan: PartPlan) {
    this.#graph = graph;
    this.#plan = plan;
  }

  /** Counts the parts that so many items make. Few are one. */
  count(items: bigint): number {
    const { wholeItems = WHOLE_ITEMS, partItems = PART_ITEMS } = this.#plan;
    if (items <= wholeItems) return 1;
    const divide = (size: bigint) => Number((items + size - 1n) / size);
    // A part leaves a file in each table: of more small ones, the run would join them again.
    return Math.max(divide(wholeItems), Math.min(divide(partItems), MANY_FILES));
  }

  /** The tables part by part. Those whose rows are not a product's own come whole. */
  async divide(tables: Partial<Record<TableName, Relation>>, count: number): Promise<PartTables[]> {
    const names = Object.keys(tables) as TableName[];
    const parts = Array.from({ length: count }, (): PartTables => ({}));
    for (const name of names) {
      const rows = tables[name] as Relation;
      const isParted = count > 1 && isByProduct(name);
      const folder = isParted ? await this.#write(name, rows, count) : '';
      for (const [part, own] of parts.entries()) {
        own[name] = isParted ? await readPart(rows, path.join(folder, `part=${part}`)) : sql`FROM ${rows}`;
      }
    }
    return parts;
  }

  #write(table: TableName, rows: Relation, count: number): Promise<string> {
    const before = this.#written.get(rows);
    const folder = path.join(this.#plan.folder, table);
    const written = before ?? this.#copy(table, rows, count, folder).then(() => folder);
    this.#written.set(rows, written);
    return written;
  }

  async #copy(table: TableName, rows: Relation, count: number, folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    const columns = selectNamedColumns(table, this.#plan.queries);
    const select = sql`SELECT ${code(columns)}, hash(product_id) % ${count} AS part FROM ${rows} WHERE product_id IS NOT NULL`;
    await this.#graph.ready(select);
    const copy = `COPY (${select.text}) TO ${quoteLiteral(folder)} (FORMAT parquet, PARTITION_BY (part))`;
    await explainSystemFault(folder, () => this.#graph.db.run(copy));
  }
}

async function readPart(rows: Relation, folder: string): Promise<Sql> {
  const names = await readdir(folder).catch(ignoreMissing);
  if (names === undefined) return sql`SELECT * FROM ${rows} WHERE false`;
  const files = names.map((name) => path.join(folder, name));
  return code(`SELECT * FROM read_parquet(${quoteList(files)}, hive_partitioning = false)`);
}

/** True for tables whose rows of a product are its own. */
export function isByProduct(table: TableName): boolean {
  return loadTableSchema(table).columns.some(({ name }) => name === 'product_id');
}
