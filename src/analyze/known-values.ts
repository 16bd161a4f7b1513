import { PricelakeError } from '../io/errors.js';
import { suggestName } from '../io/suggest-name.js';
import type { Database } from '../sql/connection.js';
import { bindQuery, readAnalysis } from '../sql/model.js';
import { quoteLiteral } from '../sql/quote.js';
import type { TableName } from '../tables/table.js';
import type { Variable } from './variables.js';

/** The number of similar names that DuckDB selects. One of these names is suggested. */
const CANDIDATES = 20;

interface Lookup {
  tables: readonly TableName[];
  column: string;
  hint: string;
}

const LOOKUPS = {
  currency: { tables: ['items', 'price_spread_daily'], column: 'currency', hint: 'Use a code from items.currency.' },
  brand: { tables: ['products'], column: 'brand', hint: 'Use a brand from products.brand.' },
  product: {
    tables: ['items', 'price_spread_daily'],
    column: 'product_id',
    hint: 'Use a product_id from the products table, or a GTIN.',
  },
  site: { tables: ['sites'], column: 'site_id', hint: 'Use a site_id from the sites table.' },
} as const satisfies Record<string, Lookup>;

export type KnownKind = keyof typeof LOOKUPS;

/** Removes leading zeros from a GTIN. A GTIN means the same product without them (API §4, /products/{id}). */
export function toProductId(given: string): string {
  return /^\d+$/u.test(given) ? given.replace(/^0+(?=\d)/u, '') : given;
}

/**
 * Throws for a value that isn't in the lake, so that a typo causes an error instead of an empty result.
 * @param tables - the tables in this session; values of other tables aren't checked
 * @throws PricelakeError `usage` with the most similar known value
 */
export async function requireKnownValue(
  db: Pick<Database, 'rows'>,
  kind: KnownKind,
  given: string,
  label: string,
  tables?: readonly TableName[],
): Promise<void> {
  const { column, hint, tables: wanted }: Lookup = LOOKUPS[kind];
  if (tables !== undefined && !wanted.every((table) => tables.includes(table))) return;
  const value = kind === 'product' ? toProductId(given) : given;
  const known = wanted.map((table) => `SELECT ${column}::VARCHAR AS known FROM ${table} WHERE ${column} IS NOT NULL`);
  const near = await db.rows(
    `SELECT known FROM (${known.join(' UNION ')}) ORDER BY damerau_levenshtein(lower(known), lower($1)), known LIMIT ${CANDIDATES}`,
    [value],
  );
  const names = near.map((row) => String(row.known));
  if (names.some((one) => one.toLowerCase() === value.toLowerCase())) return;
  const guess = kind === 'site' ? undefined : suggestName(given, names);
  // There are only a few currencies, so the message lists all of them.
  const all = kind === 'currency' && names.length > 0 ? `Choose from ${names.sort().join(', ')}.` : hint;
  throw new PricelakeError('usage', `${label} ${given}: the lake has no such ${kind === 'site' ? 'shop' : kind}`, {
    hint: guess === undefined ? all : `Did you mean ${guess}?`,
  });
}

/** Requires that a category has listings. @throws PricelakeError `usage`, with a similar category, if it has none */
export async function requireCategory(
  db: Pick<Database, 'rows' | 'row'>,
  category: string,
  label: string,
  tables?: readonly TableName[],
): Promise<void> {
  if (tables !== undefined && !tables.includes('items')) return;
  const tree = bindQuery(readAnalysis('category_tree'), {}, { category: quoteLiteral(category) });
  if ((await db.row(tree.text)) !== undefined) return;
  const known = await db.rows(
    `SELECT DISTINCT unnest([category_slug, category_path, category_name]) AS name FROM items WHERE category_slug IS NOT NULL`,
  );
  const near = suggestName(
    category,
    known.flatMap(({ name }) => (name === null ? [] : [String(name)])),
  );
  throw new PricelakeError('usage', `${label} ${category}: the category has no products`, {
    hint: near === undefined ? 'Use the slug, path or name of a category in the items table.' : `Did you mean ${near}?`,
  });
}

/**
 * Requires that the values of variables are in the lake. Returns the values in the form in which the lake contains
 * them, such as a GTIN without leading zeros.
 * @throws PricelakeError `usage` for a value that isn't in the lake
 */
export async function resolveKnown(
  db: Pick<Database, 'rows' | 'row'>,
  variables: readonly Variable[],
  set: Readonly<Record<string, string>>,
  tables?: readonly TableName[],
): Promise<Record<string, string>> {
  const resolved: Record<string, string> = { ...set };
  for (const { name, kind } of variables) {
    const given = set[name];
    if (given === undefined) continue;
    if (kind === 'category') await requireCategory(db, given, `${name}`, tables);
    if (kind in LOOKUPS) await requireKnownValue(db, kind as KnownKind, given, `${name}`, tables);
    if (kind === 'product') resolved[name] = toProductId(given);
  }
  return resolved;
}
