import { createHash } from 'node:crypto';
import { readModel } from '../duckdb/model-sql.js';
import type { DerivedTableName, TableName } from '../tables/table.js';
import { readAnalysis } from './analysis.js';

interface DerivedTable {
  /** Published tables that the query reads; among them are derived ones that are made before it. */
  reads: readonly TableName[];
  /** True when the rows of a product follow from its own items: a large lake makes the table in parts. */
  byProduct: boolean;
  readSelect(): string;
}

const DERIVED: Record<DerivedTableName, DerivedTable> = {
  products: { reads: ['items'], byProduct: true, readSelect: () => readModel('products') },
  product_prices: { reads: ['items'], byProduct: true, readSelect: () => readModel('product_prices') },
  shop_currencies: { reads: ['items'], byProduct: false, readSelect: () => readModel('shop_currencies') },
  offers: { reads: ['items', 'shop_currencies'], byProduct: true, readSelect: () => readAnalysis('judged_offers') },
  price_spread: { reads: ['offers', 'sites'], byProduct: true, readSelect: () => readAnalysis('price_spread') },
};

/** A table that follows from others, and the query that makes it. */
export interface DerivedSelect {
  table: DerivedTableName;
  reads: readonly TableName[];
  byProduct: boolean;
  /** Gives the columns of `schemas/<table>.yaml`, in their order and types. Its `run_id` is the DuckDB variable `run_id`. */
  select: string;
  /** Tells the query from another one: a hash of its text and of the macros. */
  query: bigint;
}

/** The derived tables in levels: the tables of a level read none of their own level or of a later one. */
export function listDerivedLevels(): DerivedSelect[][] {
  return sortIntoLevels(
    Object.entries(DERIVED).map(([table, { reads, byProduct, readSelect }]) => {
      const select = readSelect();
      return { table: table as DerivedTableName, reads, byProduct, select, query: hashQuery(select) };
    }),
  );
}

/** 48 bits: every reader of the log takes such a number. */
function hashQuery(select: string): bigint {
  const digest = createHash('sha256').update(readModel('macros')).update(select).digest();
  return BigInt(digest.readUIntBE(0, 6));
}

/** The derived tables, each behind those that it reads. */
export function derivedSelects(): DerivedSelect[] {
  return listDerivedLevels().flat();
}

/** @throws Error when tables read each other in a circle */
export function sortIntoLevels<T extends { table: TableName; reads: readonly TableName[] }>(tables: T[]): T[][] {
  const levels: T[][] = [];
  let left = tables;
  while (left.length > 0) {
    const waiting = new Set(left.map(({ table }) => table));
    const level = left.filter(({ reads }) => !reads.some((read) => waiting.has(read)));
    if (level.length === 0) throw new Error(`derived tables read each other: ${[...waiting].join(', ')}`);
    levels.push(level);
    left = left.filter((one) => !level.includes(one));
  }
  return levels;
}
