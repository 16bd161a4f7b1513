import { DuckDBDateValue, type DuckDBValue } from '@duckdb/node-api';
import type { Database } from '../sql/connection.js';
import { setVariables } from './analysis.js';
import { requireCategory, requireKnownValue, toProductId } from './known-values.js';

/** Grades that show how reliable a spread is, best first (docs/concepts/spreads.md). */
export const GRADES = ['A', 'B', 'C'] as const;
export type Grade = (typeof GRADES)[number];

export interface SpreadSelection {
  /** An ISO 4217 code; undefined for all currencies. */
  currency?: string | undefined;
  /** The slug or path of a category, which includes its subcategories. */
  category?: string | undefined;
  brand?: string | undefined;
  product?: string | undefined;
  minShops: number;
  /** The lowest grade to include; defaults to B. */
  grade?: Grade | undefined;
  top: number;
  /** The first day to include, such as `2026-11-20`. */
  since?: string | undefined;
}

/**
 * Sets the variables that the spread queries in pipelines/analysis read.
 * @throws PricelakeError `usage` for a category without products
 */
export async function selectSpreads(db: Database, selection: SpreadSelection): Promise<void> {
  const { currency, category, brand, product, minShops, grade, top, since } = selection;
  if (category !== undefined) await requireCategory(db, category, '--category');
  await setVariables(db, {
    currency: currency ?? null,
    category: category ?? null,
    brand: brand ?? null,
    product: product === undefined ? null : toProductId(product),
    min_shops: BigInt(minShops),
    grade: grade ?? null,
    top: BigInt(top),
    since: since === undefined ? null : toDate(since),
  });
}

export function toDate(day: string): DuckDBValue {
  return new DuckDBDateValue(Date.parse(day) / (24 * 3600 * 1000));
}

/** Requires that values are in the lake. @throws PricelakeError `usage`, with a similar value, if one is unknown */
export async function requireKnown(
  db: Pick<Database, 'rows'>,
  selection: Pick<SpreadSelection, 'currency' | 'brand' | 'product'>,
): Promise<void> {
  for (const name of ['currency', 'brand', 'product'] as const) {
    const given = selection[name];
    if (given !== undefined) await requireKnownValue(db, name, given, `--${name}`);
  }
}
