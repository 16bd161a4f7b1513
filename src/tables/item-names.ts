/** Values of an item, by the document's name and by ours (view landed_items). */
export const ITEM_VALUES = {
  id: 'id',
  title: 'title',
  brand: 'brand',
  mpn: 'mpn',
  gtin: 'gtin',
  price: 'price',
  previousPrice: 'previous_price',
  priceChangedAt: 'price_changed_at',
  currency: 'currency',
  url: 'url',
  image: 'image',
  attributes: 'attributes',
  'category.name': 'category_name',
  'category.path': 'category_path',
  'category.slug': 'category_slug',
  'category.source': 'category_source',
  datasets: 'datasets',
  'site.id': 'site_id',
  'site.name': 'site_name',
  'site.host': 'site_host',
  'site.attribution': 'site_attribution',
  'source.modelId': 'source_id',
  'source.name': 'source_name',
  firstSeenAt: 'first_seen_at',
  lastSeenAt: 'last_seen_at',
  lastChangedAt: 'last_changed_at',
  removedAt: 'removed_at',
} as const;

export type ItemPath = keyof typeof ITEM_VALUES;
export type ItemValue = (typeof ITEM_VALUES)[ItemPath];
export const ITEM_VALUE_NAMES = Object.values(ITEM_VALUES);

/** Column of export rows with a name of its own → the field of Item that it holds (`source.mapping`). */
export type Mapping = Readonly<Record<string, string>>;

export const PATHS = Object.keys(ITEM_VALUES) as ItemPath[];
export const PARENTS = ['category', 'site', 'source'];
/** Fields that a column may be mapped to. */
export const MAPPABLE_FIELDS: readonly string[] = [...PATHS, ...PARENTS];
/** Shorter flat names → path. */
const ALIASES: Record<string, ItemPath> = { itemid: 'id', modelid: 'source.modelId', sourceid: 'source.modelId' };

/** Folds case and separators, so that `site_id`, `siteId` and `site.id` are equal. */
export function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[_.\-\s]/g, '');
}

/** The name of a field after mapping. */
export function translate(name: string, mapping: Mapping): string {
  return Object.hasOwn(mapping, name) ? (mapping[name] as string) : name;
}

/** True for a field that holds an object of an item, or its name. */
export function isParent(name: string, mapping: Mapping = {}): boolean {
  return PARENTS.includes(fold(translate(name, mapping)));
}

export const BY_FOLDED_NAME = new Map<string, ItemPath>([
  ...PATHS.map((p): [string, ItemPath] => [fold(p), p]),
  ...Object.entries(ALIASES),
]);

/**
 * The path in Item of a field of an export row, or of the object `parent` in it, in any spelling; undefined for a field
 * that the document does not name.
 */
export function findItemPath(parent: string, name: string, mapping: Mapping): string | undefined {
  if (parent !== '') return BY_FOLDED_NAME.get(fold(parent + name));
  const known = fold(translate(name, mapping));
  return PARENTS.includes(known) ? known : BY_FOLDED_NAME.get(known);
}

/** True for the field of export rows that holds the item's id: the field mapped to it, else any spelling of `id`. */
export function isItemId(name: string, mapping: Mapping): boolean {
  if (Object.values(mapping).includes('id')) return mapping[name] === 'id';
  return findItemPath('', name, {}) === 'id';
}
