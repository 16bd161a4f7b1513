import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';
import type { TableName } from '../tables/table.js';
import { readAnalysis } from './analysis.js';

/** Derived tables and their queries, in dependency order. */
const DERIVED = [
  { table: 'products', read: () => readModel('products') },
  { table: 'product_prices', read: () => readModel('product_prices') },
  { table: 'price_spread', read: () => readAnalysis('price_spread') },
] as const satisfies readonly { table: TableName; read: () => string }[];

const readModel = (name: string) => readFileSync(packagePath(`pipelines/models/${name}.sql`), 'utf8');

/** A table that follows from others, and the SELECT that makes it. */
export interface DerivedSelect {
  table: TableName;
  /** Gives the columns of `schemas/<table>.yaml`, in their order and types, from the views `items` and `sites`. */
  select: string;
}

/** The derived tables in dependency order. Their `run_id` is the DuckDB variable `run_id` (`SET VARIABLE`). */
export function derivedSelects(): DerivedSelect[] {
  return DERIVED.map(({ table, read }) => ({ table, select: read() }));
}
