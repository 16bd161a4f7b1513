import { listAnalyses } from '../src/analyze/analysis.js';
import type { PlainLake } from './plain-lake.js';

/** A kind of page, requested with different values each time. */
export interface PageKind {
  name: string;
  /** The maximum time in milliseconds that a reader should wait for the page once the server is warm. */
  target: number;
  /** The paths to request. Each asks a different question. */
  paths: readonly string[];
  /** False if its questions read tables that the published lake doesn't have. */
  isPlain?: boolean;
}

const SEARCH_MS = 150;
const PRODUCT_MS = 150;
const TODAY_MS = 500;
const OTHER_MS = 1000;

/** Lists the pages with values that occur in the lake. The first path of each kind measures the cold page. */
export async function listPages(lake: PlainLake, times: number): Promise<PageKind[]> {
  const products = await listProducts(lake, times);
  const shops = await lake.list(
    `SELECT site_id FROM items WHERE is_listed GROUP BY site_id ORDER BY hash(site_id) LIMIT ${times}`,
  );
  const categories = await lake.list(`SELECT category_slug FROM products WHERE category_slug IS NOT NULL
    GROUP BY category_slug ORDER BY count(*) DESC, category_slug LIMIT ${times}`);
  const currencies = await lake.list(
    'SELECT currency FROM product_prices GROUP BY currency ORDER BY count(*) DESC, currency',
  );
  const titles = await lake.list(
    `SELECT title FROM products WHERE title IS NOT NULL GROUP BY title ORDER BY hash(title) LIMIT ${times}`,
  );
  const numbers = Array.from({ length: times }, (_, k) => k);
  const of = (names: readonly string[], k: number) => encodeURIComponent(names[k % names.length] as string);
  const kind = (name: string, target: number, path: (k: number) => string) => ({
    name,
    target,
    paths: numbers.map(path),
  });
  return [
    kind(
      'Today',
      TODAY_MS,
      (k) => `/?since=${['run', 'day', 'week'][k % 3]}&currency=${k === 0 ? '' : of(currencies, Math.floor(k / 3))}`,
    ),
    // A title, requested once per letter, as when a reader types it.
    kind(
      'Search as one types',
      SEARCH_MS,
      (k) => `/products?part=rows&q=${encodeURIComponent((titles[Math.floor(k / 4)] ?? '').slice(0, 2 + 2 * (k % 4)))}`,
    ),
    kind('Search of a whole title', SEARCH_MS, (k) => `/products?q=${of(titles, k)}`),
    kind('Products by price', OTHER_MS, (k) => `/products?min_price=${5 + k}&sort=min_price`),
    kind('Products of a category', OTHER_MS, (k) => `/products?category=${of(categories, k)}`),
    kind('Products of a shop', OTHER_MS, (k) => `/products?site_id=${of(shops, k)}`),
    kind('Product', PRODUCT_MS, (k) => `/products/${of(products, k)}`),
    kind('Product, all prices', PRODUCT_MS, (k) => `/products/${of(products.toReversed(), k)}?days=all`),
    kind('Shops', OTHER_MS, (k) => `/shops?category=${k === 0 ? '' : of(categories, k)}`),
    kind('Shop', OTHER_MS, (k) => `/shops/${of(shops, k)}`),
    kind('Categories', OTHER_MS, (k) => `/categories?currency=${k === 0 ? '' : of(currencies, k - 1)}`),
    kind('Two dates', OTHER_MS, (k) => `/?date=2026-10-${String(10 + k).padStart(2, '0')}&until=2026-11-01`),
    kind('Products at two dates', OTHER_MS, (k) => `/products?min_price=${50 + k}&date=2026-10-10&until=2026-11-01`),
    kind('Product at two dates', PRODUCT_MS, (k) => `/products/${of(products, k)}?date=2026-10-10&until=2026-11-01`),
    { ...kind('My list', OTHER_MS, (k) => `/list?suggest_minus=${k}`), isPlain: false },
    { ...kind('Matrix', OTHER_MS, (k) => `/list/matrix?from=${k}`), isPlain: false },
    kind('Copy', OTHER_MS, () => '/copy'),
  ];
}

/** Lists products that at least three shops sell. */
export const listProducts = (lake: PlainLake, times: number): Promise<string[]> =>
  lake.list(
    `SELECT product_id FROM price_spread WHERE shops > 2 GROUP BY product_id ORDER BY hash(product_id) LIMIT ${times}`,
  );

/** Lists an analysis's page, with a different first row each time. */
export function listAnalysisPages(product: string, times: number): PageKind[] {
  const numbers = Array.from({ length: times }, (_, k) => k);
  return listAnalyses()
    .filter((name) => !NEEDS_RATES.has(name))
    .map((name) => ({
      name: `\`${name}\``,
      target: OTHER_MS,
      paths: numbers.map((k) => `/analyses/${name}?from=${k}${NEEDED[name]?.replace('$product', product) ?? ''}`),
    }));
}

/** Analyses that need exchange rates, which pages don't have. */
const NEEDS_RATES = new Set(['law_of_one_price', 'converted_days']);

/** Values for variables without a default. */
const NEEDED: Record<string, string> = {
  offers: '&product=$product',
  daily_spreads: '&product=$product',
  offer_prices: '&first_day=2026-11-01&last_day=2026-11-19',
};

/** Builds the lines of a price list from products that several shops sell, at their median prices. */
export async function listOwnPrices(lake: PlainLake, lines: number): Promise<string> {
  const rows =
    await lake.list(`SELECT product_id || ',' || trusted_median || ',' || currency || ',' || trusted_min || ','
    FROM price_spread WHERE shops > 2 AND trusted_median IS NOT NULL ORDER BY hash(product_id) DESC, currency LIMIT ${lines}`);
  return ['product,price,currency,lowest,highest', ...rows, ''].join('\n');
}
