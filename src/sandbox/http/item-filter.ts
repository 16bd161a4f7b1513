import { PATH_SEPARATOR } from '../catalog/categories.js';
import type { World } from '../world/world.js';
import type { SqlValues } from '../world/world-database.js';
import { type Asked, chooseDatasets, type Service } from './caller.js';

/** An SQL condition on the `items` relation, and its parameters. */
export interface ItemFilter {
  where: string;
  values: SqlValues;
}

/** Builds the filter that `/items` and `/export` have in common (API §4). */
export function readItemFilter({ world, readings }: Service, asked: Asked): ItemFilter {
  const { parameters } = asked;
  const filter = new FilterBuilder();
  filter.add('mask & $mask::INTEGER <> 0', { mask: chooseDatasets(asked, readings.get('unknownDataset')) });
  filter.addGiven('site_id = $site::BIGINT', 'site', parameters.int64('site'));
  const status = parameters.choice('status', ['active', 'removed', 'all']) ?? 'active';
  if (status !== 'all') filter.add(status === 'active' ? 'removed_at IS NULL' : 'removed_at IS NOT NULL');
  filter.addGiven('price >= $minPrice::DECIMAL(38,18)', 'minPrice', parameters.price('minPrice'));
  filter.addGiven('price <= $maxPrice::DECIMAL(38,18)', 'maxPrice', parameters.price('maxPrice'));
  filter.addGiven('currency = $currency', 'currency', parameters.currency('currency'));
  filter.addGiven("ltrim(gtin, '0') = $gtin", 'gtin', parameters.gtin('gtin'));
  const changedSince = parameters.dateTime('changedSince');
  const changed = readings.get('changedSince') === 'event' ? 'last_event_at' : 'last_changed_at';
  filter.addGiven(`shown_time(${changed}) > $changedSince::TIMESTAMPTZ::TIMESTAMP`, 'changedSince', changedSince);
  addCategory(filter, world, parameters.text('category'));
  addWords(filter, parameters.text('q'));
  return filter.build();
}

export class FilterBuilder {
  readonly #conditions: string[] = [];
  readonly #values: SqlValues = {};

  add(condition: string, values: SqlValues = {}): void {
    this.#conditions.push(condition);
    Object.assign(this.#values, values);
  }

  addGiven(condition: string, name: string, value: string | bigint | null): void {
    if (value !== null) this.add(condition, { [name]: value });
  }

  build(): ItemFilter {
    return { where: this.#conditions.join(' AND '), values: this.#values };
  }
}

/** Adds a filter for a category and its subcategories. An unknown slug matches nothing. */
export function addCategory(filter: FilterBuilder, world: World, slug: string | null): void {
  if (slug === null) return;
  const { categories } = world.facts;
  const top = categories.find((category) => category.slug === slug);
  const below = categories.filter(({ id, path }) => id === top?.id || path.startsWith(`${top?.path}${PATH_SEPARATOR}`));
  const ids = top === undefined ? [] : below.map(({ id }) => id);
  filter.add(`category_id IN (SELECT unnest(from_json($category, '["INTEGER"]')))`, { category: JSON.stringify(ids) });
}

/**
 * Adds a filter for words. All of them must occur in an item's texts, in any order, and may be parts of longer words.
 */
export function addWords(filter: FilterBuilder, q: string | null): void {
  const words = q?.split(/\s+/).filter(Boolean) ?? [];
  for (const [k, word] of words.entries()) {
    filter.add(`contains(searched_text(title, brand, mpn, gtin, attributes), fold_case($word${k}))`, {
      [`word${k}`]: word,
    });
  }
}
