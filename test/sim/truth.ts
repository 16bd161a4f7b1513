/** The world in the columns of the lake, by a way of its own: no SQL, no JSON of the service. */
import type { TextRow } from './lake-rows.js';
import { nameChanges, nameKind } from './views.js';
import { Money } from './wire-json.js';
import type { Change, Item, World } from './world.js';

const micros = (at: bigint | null): string | null => (at === null ? null : String(at / 1000n));
const money = (cents: number | null): string | null => (cents === null ? null : `${(cents / 100).toFixed(2)}00`);

/** Columns of `items` that the document defines for an item; last_seen_at moves without a change (see compare.ts). */
export function describeItem(world: World, item: Item): TextRow {
  const site = world.site(item.siteId);
  return {
    item_id: String(item.id),
    title: item.title,
    brand: item.brand,
    mpn: item.mpn,
    gtin: item.gtin,
    product_id: productKey(item),
    price: money(item.price),
    previous_price: money(item.previousPrice),
    price_changed_at: micros(item.priceChangedAt),
    currency: item.currency,
    url: item.url,
    image: item.image,
    attributes: sortedJson(item.attributes),
    category_name: item.category?.name ?? null,
    category_path: item.category?.path ?? null,
    category_slug: item.category?.slug ?? null,
    category_source: item.category?.source ?? null,
    datasets: JSON.stringify(item.datasets),
    site_id: String(site.id),
    site_name: site.name,
    site_host: site.host,
    source_id: String(item.modelId),
    source_name: item.sourceName,
    first_seen_at: micros(item.firstSeenAt),
    last_changed_at: micros(item.lastChangedAt),
    removed_at: micros(item.removedAt),
    is_listed: String(item.removedAt === null),
    extra: world.habits.unknownFields ? describeExtra(item) : null,
  };
}

/** Their names depend on the row's shape: the values are compared. */
function describeExtra(item: Item): string {
  return JSON.stringify(['CZ', 'new', ...(item.category === null ? [] : ['7'])].sort());
}

/** Object members in one order. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** By GTIN, otherwise by brand and part number (section 1); GTINs of this world are digits alone. */
function productKey({ gtin, brand, mpn }: Item): string | null {
  if (gtin !== null) return String(BigInt(gtin));
  return brand === null || mpn === null ? null : `${brand}-${mpn.replace('-', '')}`.toLowerCase();
}

/** Columns of `history` that a change defines. */
export function describeChange(world: World, change: Change): TextRow {
  return {
    change_id: String(change.id),
    kind: nameKind(change, world.habits),
    observed_at: micros(change.observedAt),
    price: money(change.price),
    previous_price: money(change.previousPrice),
    changes: sortedJson(
      JSON.parse(
        JSON.stringify(nameChanges(change, world.habits), (_key, value: unknown) =>
          value instanceof Money ? value.cents / 100 : value,
        ),
      ),
    ),
    currency: world.items.get(change.itemId)?.currency ?? null,
  };
}
