/** Maps the paths of Item's fields (API §2) to the columns of the view landed_items. */
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

/** The setting `source.mapping`, which maps the names of fields in export rows to fields of Item. */
export type Mapping = Readonly<Record<string, string>>;

export const PATHS = Object.keys(ITEM_VALUES) as ItemPath[];
export const PARENTS = ['category', 'site', 'source'];
/** The fields of Item to which a column may be mapped. */
export const MAPPABLE_FIELDS: readonly string[] = [...PATHS, ...PARENTS];
/** Maps shorter names, which flat rows may use, to fields of Item. */
const ALIASES: Record<string, ItemPath> = { itemid: 'id', modelid: 'source.modelId', sourceid: 'source.modelId' };

/** Returns a name in lowercase without separators, so that `site_id`, `siteId` and `site.id` become equal. */
export function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[_.\-\s]/g, '');
}

export function translate(name: string, mapping: Mapping): string {
  return Object.hasOwn(mapping, name) ? (mapping[name] as string) : name;
}

/** True if the field, according to the mapping, is one of an item's nested objects (category, site, source). */
export function isParent(name: string, mapping: Mapping = {}): boolean {
  return PARENTS.includes(fold(translate(name, mapping)));
}

export const BY_FOLDED_NAME = new Map<string, ItemPath>([
  ...PATHS.map((p): [string, ItemPath] => [fold(p), p]),
  ...Object.entries(ALIASES),
]);

/**
 * Returns the field of Item that matches a field of an export row, or of the object `parent` in a row. The name may
 * have any spelling. Returns undefined for an unknown name, and if another field is mapped to the same field of Item.
 */
export function findItemPath(parent: string, name: string, mapping: Mapping): string | undefined {
  if (parent !== '') return BY_FOLDED_NAME.get(fold(parent + name));
  const known = fold(translate(name, mapping));
  const path = PARENTS.includes(known) ? known : BY_FOLDED_NAME.get(known);
  const isTaken = !Object.hasOwn(mapping, name) && Object.values(mapping).some((own) => own === path);
  return isTaken ? undefined : path;
}

const camel = (path: string) => path.replaceAll(/\.(\w)/g, (_match, char: string) => char.toUpperCase());
const snake = (path: string) => path.replaceAll('.', '_').replaceAll(/[A-Z]/g, (char) => `_${char.toLowerCase()}`);
const dotted = (path: string) => path;

/** Functions that convert a path to a spelling of flat rows: `siteId`, `site_id` or `site.id`. */
export const STYLES = { camel, snake, dotted };

const EXACT_NAMES = new Set(MAPPABLE_FIELDS.flatMap((path) => [camel(path), snake(path), path]));

/** True for a name in a standard spelling: `price`, but not `Price`. @param parent the object that has the field */
export function isExactName(name: string, parent = ''): boolean {
  if (parent === '') return EXACT_NAMES.has(name);
  return EXACT_NAMES.has(`${fold(parent)}.${name}`) || EXACT_NAMES.has(`${fold(parent)}_${name}`);
}

/**
 * The certainty that a field of a row matches a field of Item. Standard spellings are `sure`. A `maybe` counts only if
 * no other field of the row is `sure`: if a row has both `price` and `Price`, only `price` counts.
 */
export type Fit = 'sure' | 'maybe' | undefined;

/** Returns how well a field matches a path in Item. @param parent the object of the row that contains the field */
export function fitName(path: string, name: string, mapping: Mapping, parent = ''): Fit {
  if (findItemPath(parent, name, mapping) !== path) return undefined;
  const isMapped = parent === '' && Object.hasOwn(mapping, name);
  return isMapped || isExactName(name, parent) ? 'sure' : 'maybe';
}
