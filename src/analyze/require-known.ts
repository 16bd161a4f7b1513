import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import type { Database } from '../sql/connection.js';
import { type SpreadSelection, toProductId } from './spread-selection.js';

/** The nearest by DuckDB's measure, from which the one to suggest is chosen. */
const CANDIDATES = 20;

/** Values that the lake knows, from listings and closed days, and where to find them. */
const KNOWN = {
  currency: { of: 'currency', hint: 'Give a code from items.currency.' },
  brand: { of: 'brand', hint: 'Give a brand from products.brand.' },
  product: { of: 'product_id', hint: 'Give a product_id from table products, or a GTIN.' },
} as const;

const TABLES = {
  currency: ['items', 'price_spread_daily'],
  brand: ['products'],
  product: ['items', 'price_spread_daily'],
};

/**
 * Refuses a value that the lake does not have, so that a typo is not an empty result.
 * @throws PricelakeError `usage` with the nearest known value
 */
export async function requireKnown(
  db: Database,
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
