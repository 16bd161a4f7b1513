import { readFileSync } from 'node:fs';
import { BIGINT, BOOLEAN, type DuckDBResult, VARCHAR } from '@duckdb/node-api';
import type { Database } from '../duckdb/connection.js';
import { packagePath } from '../schemas.js';

export interface SpreadSelection {
  /** ISO 4217 code; all currencies without it. */
  currency?: string | undefined;
  /** Sold by at least so many websites. */
  minShops: number;
  /** False leaves out products with a price far from all others. */
  withOutliers: boolean;
  top: number;
}

/** Streams the widest price spreads over the views `price_spread`, `products` and `sites`, the widest first. */
export function streamWidestSpreads(db: Database, selection: SpreadSelection): Promise<DuckDBResult> {
  const { currency, minShops, withOutliers, top } = selection;
  return db.connection.stream(
    readFileSync(packagePath('pipelines/analysis/widest_spreads.sql'), 'utf8'),
    { currency: currency ?? null, min_shops: BigInt(minShops), with_outliers: withOutliers, top: BigInt(top) },
    { currency: VARCHAR, min_shops: BIGINT, with_outliers: BOOLEAN, top: BIGINT },
  );
}
