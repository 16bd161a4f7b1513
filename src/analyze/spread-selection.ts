import { DuckDBDateValue, type DuckDBValue } from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import type { Database } from '../sql/connection.js';
import { readAnalysis } from '../sql/model.js';
import { setVariables } from './analysis.js';

/** Grades of trust in a spread, best first (docs/concepts/spreads.md). */
export const GRADES = ['A', 'B', 'C'] as const;
export type Grade = (typeof GRADES)[number];

/** A choice of price spreads. */
export interface SpreadSelection {
  /** ISO 4217 code; all currencies without it. */
  currency?: string | undefined;
  /** Slug or path of names; with the categories below it. */
  category?: string | undefined;
  /** As products name it, in any case. */
  brand?: string | undefined;
  /** A product id, or a GTIN in any of its forms. */
  product?: string | undefined;
  /** Sold by at least so many websites. */
  minShops: number;
  /** False leaves out products with a price far from all others. */
  withOutliers: boolean;
  /** The lowest grade that is shown; B without it. */
  grade?: Grade | undefined;
  top: number;
  /** First day, `2026-11-20`. */
  since?: string | undefined;
}

/**
 * Sets the variables that the queries of spreads read (pipelines/analysis).
 * @throws PricelakeError `usage` for a category that no product is in.
 */
export async function selectSpreads(db: Database, selection: SpreadSelection): Promise<void> {
  const { currency, category, brand, product, minShops, withOutliers, grade, top, since } = selection;
  if (category !== undefined) await requireCategory(db, category);
  await setVariables(db, {
    currency: currency ?? null,
    category: category ?? null,
    brand: brand ?? null,
    product: product === undefined ? null : toProductId(product),
    min_shops: BigInt(minShops),
    with_outliers: withOutliers,
    grade: grade ?? null,
    top: BigInt(top),
    since: since === undefined ? null : toDate(since),
  });
}

/** Removes a GTIN's leading zeros, because all its forms are one product (API section 4, /products/{id}). */
export function toProductId(given: string): string {
  return /^\d+$/u.test(given) ? given.replace(/^0+(?=\d)/u, '') : given;
}

export function toDate(day: string): DuckDBValue {
  return new DuckDBDateValue(Date.parse(day) / (24 * 3600 * 1000));
}

async function requireCategory(db: Database, category: string): Promise<void> {
  await setVariables(db, { category });
  if ((await db.row(readAnalysis('category_tree'))) !== undefined) return;
  const known = await db.rows('SELECT DISTINCT category_slug AS slug FROM products WHERE category_slug IS NOT NULL');
  const near = suggestName(
    category,
    known.map(({ slug }) => String(slug)),
  );
  throw new PricelakeError('usage', `--category ${category}: no products in it`, {
    hint: near === undefined ? 'Use a slug or a path as in products.category_path.' : `Did you mean ${near}?`,
  });
}

/** Near names by DuckDB's measure. One of them may be suggested. */
const CANDIDATES = 20;

/** Column of each value, and advice on where to find a known one. */
const KNOWN = {
  currency: { of: 'currency', hint: 'Use a code from items.currency.' },
  brand: { of: 'brand', hint: 'Use a brand from products.brand.' },
  product: { of: 'product_id', hint: 'Use a product_id from table products, or a GTIN.' },
} as const;

const TABLES = {
  currency: ['items', 'price_spread_daily'],
  brand: ['products'],
  product: ['items', 'price_spread_daily'],
};

/**
 * Refuses a value that the lake does not have, so that a typo gives an error and not an empty result.
 * @throws PricelakeError `usage` with the nearest known value
 */
export async function requireKnown(
  db: Pick<Database, 'rows'>,
  selection: Pick<SpreadSelection, 'currency' | 'brand' | 'product'>,
): Promise<void> {
  for (const name of ['currency', 'brand', 'product'] as const) {
    const given = selection[name];
    if (given === undefined) continue;
    const { of, hint } = KNOWN[name];
    const known = TABLES[name].map((table) => `SELECT ${of} AS known FROM ${table} WHERE ${of} IS NOT NULL`);
    const near = await db.rows(
      `SELECT known FROM (${known.join(' UNION ')}) ORDER BY damerau_levenshtein(lower(known), lower($1)), known LIMIT ${CANDIDATES}`,
      [name === 'product' ? toProductId(given) : given],
    );
    const names = near.map((row) => String(row.known));
    const wanted = (name === 'product' ? toProductId(given) : given).toLowerCase();
    if (names.some((one) => one.toLowerCase() === wanted)) continue;
    const guess = suggestName(given, names);
    // Currencies are few enough to name.
    const all = name === 'currency' && names.length > 0 ? `Choose from ${names.sort().join(', ')}.` : hint;
    throw new PricelakeError('usage', `--${name} ${given}: the lake has no such ${name}`, {
      hint: guess === undefined ? all : `Did you mean ${guess}?`,
    });
  }
}
