import { type LandedFile, rowPrefix, rowsSql, stripMark } from './landed.js';

export const PRODUCT_FIELDS = new Map([
  ...['id', 'title', 'brand', 'mpn', 'gtin', 'offers', 'shops'].map((name): [string, string] => [name, 'VARCHAR']),
  ['category', 'STRUCT(slug VARCHAR)'],
  ['prices', 'STRUCT(currency VARCHAR, "min" VARCHAR, "max" VARCHAR, offers VARCHAR)[]'],
]);

/** Builds SQL that reads the products in a downloaded file (API §2, Product and PriceRange). */
export function landedProductsSql(file: LandedFile): string {
  const prefix = rowPrefix(file);
  const texts = ['title', 'brand', 'mpn', 'gtin'].map((name) => `${prefix}${name} AS ${name}`).join(', ');
  const counts = ['id', 'offers', 'shops'].map((name) => `${stripMark(prefix + name, file)} AS ${name}`).join(', ');
  const amounts = ['min', 'max', 'offers'].map((name) => `'${name}': ${stripMark(`p."${name}"`, file)}`).join(', ');
  return `SELECT ${texts}, ${counts}, ${prefix}category.slug AS category_slug,
  list_transform(${prefix}prices, lambda p: {'currency': p.currency, ${amounts}}) AS prices
FROM ${rowsSql([file], PRODUCT_FIELDS)}`;
}
