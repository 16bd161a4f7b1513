/** Resources of the API document, section 2, as the service shows them. */
import type { Habits } from './habits.js';
import { Money, type Wire } from './wire-json.js';
import type { Change, Item, Site, View, World } from './world.js';

type Fields = { [name: string]: Wire };

/** Nanoseconds since 1970 → ISO 8601 in UTC, in the service's habit. */
export function writeTime(at: bigint, { fraction, utc }: Pick<Habits, 'fraction' | 'utc'>): string {
  const seconds = new Date(Number(at / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  const digits = String(at % 1_000_000_000n)
    .padStart(9, '0')
    .slice(0, fraction);
  return `${seconds}${fraction === 0 ? '' : `.${digits}`}${utc}`;
}

const money = (cents: number | null): Wire => (cents === null ? null : new Money(cents));

function viewSite(site: Site, habits: Habits): Fields {
  const { id, name, host, attribution } = site;
  return { id, name, host, attribution, ...(habits.unknownFields ? { country: 'CZ' } : {}) };
}

/** Item: nested, as `/items` shows it. */
export function viewItem(habits: Habits, view: Pick<View, 'site'>, item: Item): Fields {
  const noTime = habits.noTime === 'null' ? null : '0001-01-01T00:00:00Z';
  const time = (at: bigint | null) => (at === null ? noTime : writeTime(at, habits));
  const category = item.category === null ? null : { ...item.category, ...(habits.unknownFields ? { id: 7 } : {}) };
  return {
    id: item.id,
    title: item.title,
    brand: item.brand,
    mpn: item.mpn,
    gtin: item.gtin,
    price: money(item.price),
    previousPrice: money(item.previousPrice),
    priceChangedAt: time(item.priceChangedAt),
    currency: item.currency,
    url: item.url,
    image: item.image,
    attributes: item.attributes,
    category,
    datasets: item.datasets,
    site: viewSite(view.site(item.siteId), habits),
    source: { modelId: item.modelId, name: item.sourceName },
    firstSeenAt: time(item.firstSeenAt),
    lastSeenAt: time(item.lastSeenAt),
    lastChangedAt: time(item.lastChangedAt),
    removedAt: time(item.removedAt),
    ...(habits.unknownFields ? { condition: 'new' } : {}),
  };
}

/** Export row: "column and field names of a row: not shown". */
export function viewExportRow(habits: Habits, view: Pick<View, 'site'>, item: Item): Fields {
  const row = flatten(viewItem(habits, view, item), habits.shape);
  if (habits.nullsLeftOut === 'nowhere') return row;
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

/** The columns of CSV, whatever the rows hold. */
export function listColumns(habits: Habits): string[] {
  const site = { id: 1n, name: '', host: '', attribution: '' };
  const category = { name: '', path: '', slug: '', source: 'AI' } as const;
  const full = { ...NO_ITEM, category };
  return Object.keys(viewExportRow({ ...habits, nullsLeftOut: 'nowhere' }, { site: () => site }, full));
}

const NO_ITEM: Item = {
  ...{ id: 1n, title: '', brand: '', mpn: '', gtin: '', price: 1, previousPrice: 1, priceChangedAt: 0n },
  ...{ currency: '', url: '', image: '', attributes: {}, category: null, datasets: [], siteId: 1n, modelId: 1n },
  ...{ sourceName: '', firstSeenAt: 0n, lastSeenAt: 0n, lastChangedAt: 0n, removedAt: 0n },
  ...{ sight: 'visible', touchedAt: 0n, hasLeft: false },
};

const PARENTS = ['category', 'site', 'source'];
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (char) => `_${char.toLowerCase()}`);
const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

function flatten(item: Fields, shape: Habits['shape']): Fields {
  if (shape === 'nested') return item;
  const row: Fields = {};
  for (const [name, value] of Object.entries(item)) {
    if (shape === 'text' && name === 'attributes') row[name] = JSON.stringify(value);
    else if (shape === 'text' && name === 'datasets') row[name] = (value as string[]).join('; ');
    else if (!PARENTS.includes(name)) row[shape === 'snake' ? snake(name) : name] = value;
    else {
      for (const [inner, innerValue] of Object.entries((value ?? {}) as Fields)) {
        if (shape === 'dotted') row[`${name}.${inner}`] = innerValue;
        else if (shape === 'snake') row[`${name}_${snake(inner)}`] = innerValue;
        else if (shape === 'named' && inner === 'name') row[name] = innerValue;
        else row[`${name}${capital(inner)}`] = innerValue;
      }
    }
  }
  return row;
}

export function viewChange(world: World, change: Change): Fields {
  const item = world.items.get(change.itemId) as Item;
  const changes = nameChanges(change, world.habits);
  return {
    id: change.id,
    kind: isBadChange(world.habits, change) ? null : nameKind(change, world.habits),
    observedAt: writeTime(change.observedAt, world.habits),
    price: money(change.price),
    previousPrice: money(change.previousPrice),
    changes,
    item: item.sight === 'gone' || isUnnamed(world.habits, change) ? null : viewChangeItem(world, item, change),
  };
}

/** A change that can't be typed. */
export function isBadChange({ badRows }: Habits, { id }: Change): boolean {
  return badRows === 'in the feed' && id % 6n === 0n;
}

/** A removal whose item is gone from the caller's data, as the service sees it, though it can be read by id. */
export function isUnnamed({ removedItem }: Habits, { kind }: Change): boolean {
  return removedItem === 'null' && kind === 'REMOVED';
}

/** Every fifth kind is none of the document's. */
export function nameKind({ id, kind }: Change, { kinds }: Habits): string {
  return kinds === 'some' && id % 5n === 0n ? `${kind}_V2` : kind;
}

function viewChangeItem(world: World, item: Item, change: Change): Fields {
  const title = world.habits.titleInFeed === 'now' ? item.title : change.titleThen;
  return {
    id: item.id,
    ...(title === null ? nameUntitled(world.habits, item) : { title }),
    url: item.url,
    currency: item.currency,
    site: viewSite(world.site(item.siteId), world.habits),
  };
}

/** ChangeItem.title is no nullable field: what it holds for an item without a title is the service's choice. */
function nameUntitled({ untitled }: Habits, item: Item): Fields {
  if (untitled === 'left out') return {};
  if (untitled === 'null') return { title: null };
  return { title: untitled === 'url' ? (item.url ?? '') : '' };
}

/** The map of changed values in the service's own words. */
export function nameChanges(change: Change, habits: Habits): { [name: string]: Wire[] } {
  const { changeNames } = habits;
  if (changeNames === 'empty') return {};
  const isPriceLeftOut = changeNames === 'no price' || changeNames === 'other words';
  const isPriceAlone = habits.namedValues === 'the price alone' && 'price' in change.changes;
  const entries = Object.entries(change.changes)
    .filter(([name]) => name !== 'price' || !isPriceLeftOut)
    .filter(([name]) => name === 'price' || !isPriceAlone);
  return Object.fromEntries(
    entries.map(([name, pair]) => [nameValue(name, changeNames), pair.map((value) => showValue(name, value, habits))]),
  );
}

const ATTRIBUTES = 'attributes.';

function nameValue(name: string, changeNames: Habits['changeNames']): string {
  const isAttribute = name.startsWith(ATTRIBUTES);
  if (changeNames === 'other words') return isAttribute ? name : capital(name);
  return isAttribute && changeNames !== 'prefixed' ? name.slice(ATTRIBUTES.length) : name;
}

function showValue(name: string, value: unknown, { categoryInFeed }: Habits): Wire {
  if (name === 'price') return money(value as number | null);
  if (name !== 'category' || value === null) return value as Wire;
  const category = value as { path: string; slug: string; name: string };
  return categoryInFeed === 'object' ? { ...category } : category[categoryInFeed];
}
