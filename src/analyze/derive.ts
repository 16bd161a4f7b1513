import { readFileSync } from 'node:fs';
import type { TableName } from '../model.js';
import { packagePath } from '../schemas.js';

/** Derived tables and their files, in dependency order. */
const DERIVED = [
  { table: 'products', file: 'pipelines/models/products.sql' },
  { table: 'product_prices', file: 'pipelines/models/product_prices.sql' },
  { table: 'price_spread', file: 'pipelines/analysis/price_spread.sql' },
] as const satisfies readonly { table: TableName; file: string }[];

/** A table that follows from others, and the SELECT that makes it. */
export interface DerivedSelect {
  table: TableName;
  /** Gives the columns of `schemas/<table>.yaml`, in their order and types, from the views `items` and `sites`. */
  select: string;
}

/** The derived tables in dependency order. Their `run_id` is the DuckDB variable `run_id` (`SET VARIABLE`). */
export function derivedSelects(): DerivedSelect[] {
  return DERIVED.map(({ table, file }) => ({ table, select: readFileSync(packagePath(file), 'utf8') }));
}
