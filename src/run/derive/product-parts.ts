import path from 'node:path';
import { runSideBySide } from '../../io/side-by-side.js';
import { explainSystemFault } from '../../lake/faults.js';
import { MANY_FILES } from '../../lake/plan-compaction.js';
import type { TableRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import { quoteList } from '../../sql/quote.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { TableName } from '../../tables/table.js';
import { MOST_TASKS, type Workers } from '../../workers/workers.js';
import { divideElsewhere, dividePart, joinParts, type PartFiles } from './part-task.js';

/** So many items are grouped by product at once: what groups hold can't all be spilled. */
const WHOLE_ITEMS = 1_100_000n;
/** If there are more, so many at a time. */
const PART_ITEMS = 600_000n;

/** As few for a worker, because many work at once. */
const WORKER_ITEMS = 300_000n;

/** The folder of parts, and their size. */
export interface PartPlan {
  folder: string;
  /** Queries over the parts: only the columns that they name are kept. */
  queries: readonly string[];
  wholeItems?: bigint;
  partItems?: bigint;
  /** Processes that divide tables and work on parts, where items are many. */
  elsewhere?: { workers: Workers; ship: (sql: Sql) => Promise<string[]> } | undefined;
}

/** The rows of a table, and of some of its files. */
export type DividedTable = Pick<TableRows, 'rows' | 'files' | 'ofFiles'>;

/** Tables by name, as the rows of a part of the products. */
export type PartTables = Partial<Record<TableName, Sql>>;

/**
 * Tables in parts of products, so that memory stays the same however many items there are. A table is written once, a
 * folder for each part: every part would read all of it.
 */
export class ProductParts {
  readonly #graph: RelationGraph;
  readonly #plan: PartPlan;
  readonly #written = new Map<Relation, Promise<PartFiles>>();

  constructor(graph: RelationGraph, plan: PartPlan) {
    this.#graph = graph;
    this.#plan = plan;
  }

  /** The workers, if so many items are worth the way to them. */
  workers(items: bigint): PartPlan['elsewhere'] {
    const { elsewhere } = this.#plan;
    return elsewhere?.workers.pays(items) === true ? elsewhere : undefined;
  }

  /** Counts the parts that so many items make. Few are one. */
  count(items: bigint): number {
    const { wholeItems = WHOLE_ITEMS, partItems = PART_ITEMS } = this.#plan;
    const divide = (size: bigint) => Number((items + size - 1n) / size);
    if (this.workers(items) !== undefined) return Math.max(2, Math.min(divide(WORKER_ITEMS), MANY_FILES));
    if (items <= wholeItems) return 1;
    // A part leaves a file in each table: of more small ones, the run would join them again.
    return Math.max(divide(wholeItems), Math.min(divide(partItems), MANY_FILES));
  }

  /** The tables part by part, of so many items. Those whose rows are not a product's own come whole. */
  async divide(tables: Partial<Record<TableName, DividedTable>>, items: bigint): Promise<PartTables[]> {
    const names = Object.keys(tables) as TableName[];
    const parts = Array.from({ length: this.count(items) }, (): PartTables => ({}));
    for (const name of names) {
      const table = tables[name] as DividedTable;
      const isParted = parts.length > 1 && isByProduct(name);
      const files = isParted ? await this.#write(name, table, { count: parts.length, items }) : undefined;
      for (const [part, own] of parts.entries()) own[name] = readPart(table.rows, files, part);
    }
    return parts;
  }

  #write(table: TableName, rows: DividedTable, into: { count: number; items: bigint }): Promise<PartFiles> {
    const written = this.#written.get(rows.rows) ?? this.#divide(table, rows, into);
    this.#written.set(rows.rows, written);
    return written;
  }

  async #divide(
    table: TableName,
    divided: DividedTable,
    { count, items }: { count: number; items: bigint },
  ): Promise<PartFiles> {
    const folder = path.join(this.#plan.folder, table);
    const select = (source: Sql) =>
      sql`SELECT ${code(selectNamedColumns(table, this.#plan.queries))}, hash(product_id) % ${count} AS part
      FROM ${source} WHERE product_id IS NOT NULL`;
    const elsewhere = this.workers(items);
    if (elsewhere === undefined) {
      const whole = select(sql`${divided.rows}`);
      await this.#graph.ready(whole);
      return explainSystemFault(folder, () => dividePart(this.#graph.db, { views: [], select: whole.text, folder }));
    }
    const pieces = groupBySize(divided.files).map((group) => select(divided.ofFiles(group)));
    const parts = await runSideBySide(MOST_TASKS, pieces, async (piece) =>
      divideElsewhere(elsewhere.workers, { views: await elsewhere.ship(piece), select: piece.text, folder }),
    );
    return joinParts(parts);
  }
}

/** Files that have about as many rows as a worker takes. */
function groupBySize<F extends { rows: bigint }>(files: readonly F[]): F[][] {
  const groups: F[][] = [];
  let rows = WORKER_ITEMS;
  for (const file of files) {
    if (rows >= WORKER_ITEMS) {
      groups.push([]);
      rows = 0n;
    }
    groups.at(-1)?.push(file);
    rows += file.rows;
  }
  return groups;
}

/** @param files undefined where the table is not divided */
function readPart(rows: Relation, files: PartFiles | undefined, part: number): Sql {
  if (files === undefined) return sql`FROM ${rows}`;
  const own = files.get(part);
  if (own === undefined) return sql`SELECT * FROM ${rows} WHERE false`;
  return code(`SELECT * FROM read_parquet(${quoteList(own)}, hive_partitioning = false)`);
}

/** True for tables whose rows of a product are its own. */
export function isByProduct(table: TableName): boolean {
  return loadTableSchema(table).columns.some(({ name }) => name === 'product_id');
}
