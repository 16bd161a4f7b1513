import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import { suggestName } from '../errors/suggest-name.js';
import { type SpreadSelection, toProductId } from './spread-selection.js';

/** Of the nearest by DuckDB's measure, the one that is near enough to be meant. */
const CANDIDATES = 20;

/** Values that the lake knows, of listings and of the days that are closed, and where a person finds them. */
const KNOWN = {
  currency: { of: 'currency', hint: 'Give a code as in items.currency.' },
  brand: { of: 'brand', hint: 'Give a brand as in products.brand.' },
  product: { of: 'product_id', hint: 'Give a product_id as in table products, or a GTIN.' },
} as const;

const TABLES = {
  currency: ['items', 'price_spread_daily'],
  brand: ['products'],
  product: ['items', 'price_spread_daily'],
};

/**
 * Refuses a value that nothing in the lake has, rather than showing an empty result for a typing mistake.
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
    const all = name === 'currency' && names.length > 0 ? `There are ${names.sort().join(', ')}.` : hint;
    throw new PricelakeError('usage', `--${name} ${given}: nothing in the lake has it`, {
      hint: guess === undefined ? all : `Did you mean ${guess}?`,
    });
  }
}
