import path from 'node:path';
import { MANY_FILES } from '../../lake/plan-compaction.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { TableName } from '../../tables/table.js';
import {
  type DividedTable,
  type Division,
  divideHere,
  divideTable,
  type Elsewhere,
  filesOf,
  readParts,
  selectParts,
  WORKER_ROWS,
} from './divide.js';
import type { PartFile } from './part-task.js';

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
  /** Processes that divide tables and work on parts, where items are many. */
  elsewhere?: Elsewhere | undefined;
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
  readonly #written = new Map<Relation, Promise<PartFile[]>>();

  constructor(graph: RelationGraph, plan: PartPlan) {
    this.#graph = graph;
    this.#plan = plan;
  }

  /** The workers, if so many items are worth the way to them. */
  workers(items: bigint): Elsewhere | undefined {
    const { elsewhere } = this.#plan;
    return elsewhere?.workers.pays(items) === true ? elsewhere : undefined;
  }

  /** Counts the parts that so many items make. Few are one. */
  count(items: bigint): number {
    const { wholeItems = WHOLE_ITEMS, partItems = PART_ITEMS } = this.#plan;
    const divide = (size: bigint) => Number((items + size - 1n) / size);
    const isSent = this.workers(items) !== undefined;
    if (items <= wholeItems && !isSent) return 1;
    // A part leaves a file in each table: of more small ones, the run would join them again.
    const few = Math.min(divide(isSent ? WORKER_ROWS : partItems), MANY_FILES);
    return Math.max(isSent ? 2 : 1, divide(wholeItems), few);
  }

  /** The tables part by part, of so many items. Those whose rows are not a product's own come whole. */
  async divide(tables: Partial<Record<TableName, DividedTable>>, items: bigint): Promise<PartTables[]> {
    const names = Object.keys(tables) as TableName[];
    const parts = Array.from({ length: this.count(items) }, (): PartTables => ({}));
    for (const name of names) {
      const table = tables[name] as DividedTable;
      const isParted = parts.length > 1 && isByProduct(name);
      const files = isParted ? await this.#write(table, { count: parts.length, items }) : undefined;
      for (const [part, own] of parts.entries()) own[name] = readPart(table.rows, files, part);
    }
    return parts;
  }

  #write(table: DividedTable, into: { count: number; items: bigint }): Promise<PartFile[]> {
    const written = this.#written.get(table.rows) ?? this.#divide(table, into);
    this.#written.set(table.rows, written);
    return written;
  }

  async #divide(table: DividedTable, { count, items }: { count: number; items: bigint }): Promise<PartFile[]> {
    const folder = path.join(this.#plan.folder, table.table);
    const division: Division = { key: 'product_id', count, queries: this.#plan.queries, folder };
    const elsewhere = this.workers(items);
    if (elsewhere !== undefined) return divideTable(this.#graph, elsewhere, table, division);
    const whole = selectParts(table.table, sql`${table.rows}`, division);
    return divideHere(this.#graph, whole, folder);
  }
}

/** @param files undefined where the table is not divided */
function readPart(rows: Relation, files: readonly PartFile[] | undefined, part: number): Sql {
  if (files === undefined) return sql`FROM ${rows}`;
  const own = filesOf(files, part);
  return own.length === 0 ? sql`SELECT * FROM ${rows} WHERE false` : readParts(own);
}

/** True for tables whose rows of a product are its own. */
export function isByProduct(table: TableName): boolean {
  return loadTableSchema(table).columns.some(({ name }) => name === 'product_id');
}
