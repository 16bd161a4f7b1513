import path from 'node:path';
import { MANY_FILES } from '../../lake/plan-compaction.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { TableName } from '../../tables/table.js';
import { divideRows, filesOf, type PartFile, readParts } from '../apply/divide.js';

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
  readonly #written = new Map<Relation, Promise<PartFile[]>>();

  constructor(graph: RelationGraph, plan: PartPlan) {
    this.#graph = graph;
    this.#plan = plan;
  }

  /** Counts the parts that so many items make. Few are one. */
  count(items: bigint): number {
    const { wholeItems = WHOLE_ITEMS, partItems = PART_ITEMS } = this.#plan;
    const divide = (size: bigint) => Number((items + size - 1n) / size);
    if (items <= wholeItems) return 1;
    // A part leaves a file in each table: of more small ones, the run would join them again.
    return Math.max(divide(wholeItems), Math.min(divide(partItems), MANY_FILES));
  }

  /** The tables part by part, of so many items. Those whose rows are not a product's own come whole. */
  async divide(tables: Partial<Record<TableName, Relation>>, items: bigint): Promise<PartTables[]> {
    const names = Object.keys(tables) as TableName[];
    const parts = Array.from({ length: this.count(items) }, (): PartTables => ({}));
    for (const name of names) {
      const rows = tables[name] as Relation;
      const isParted = parts.length > 1 && isByProduct(name);
      const files = isParted ? await this.#write(name, rows, parts.length) : undefined;
      for (const [part, own] of parts.entries()) own[name] = readPart(rows, files, part);
    }
    return parts;
  }

  #write(name: TableName, rows: Relation, count: number): Promise<PartFile[]> {
    const written = this.#written.get(rows) ?? this.#divide(name, rows, count);
    this.#written.set(rows, written);
    return written;
  }

  /** Rows without a product are in no part. */
  #divide(name: TableName, rows: Relation, count: number): Promise<PartFile[]> {
    const columns = code(selectNamedColumns(name, this.#plan.queries));
    const select = sql`SELECT ${columns}, hash(product_id) % ${count} AS part FROM ${rows} WHERE product_id IS NOT NULL`;
    return divideRows(this.#graph, select, path.join(this.#plan.folder, name));
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
