import type { DuckDBResult } from '@duckdb/node-api';
import type { Database } from '../duckdb/connection.js';
import { readAnalysis, setVariables } from './analysis.js';

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
export async function streamWidestSpreads(db: Database, selection: SpreadSelection): Promise<DuckDBResult> {
  const { currency, minShops, withOutliers, top } = selection;
  await setVariables(db, {
    currency: currency ?? null,
    min_shops: BigInt(minShops),
    with_outliers: withOutliers,
    top: BigInt(top),
  });
  return db.connection.stream(readAnalysis('widest_spreads'));
}
