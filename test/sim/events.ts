/** What can happen to one listing, and the change that tells of it. */
import type { Category, Change, Item, Kind, World } from './world.js';

const WORDS = ['Kaffeemühle', 'Lampe "Nord"', 'Fahrrad\n26 Zoll', 'Žehlička', '😀 Ball', 'Bohrer, 8 mm', 'Sac à dos'];

const CATEGORIES = [
  { name: 'Küche', path: 'Haus > Küche', slug: 'kueche' },
  { name: 'Haus', path: 'Haus', slug: 'haus' },
] as const;

function drawGtin({ habits, random }: World, product: number): string | null {
  const digits = `400638133${1000 + product}`;
  const gtin = random.pick([digits, `0${digits}`, null]);
  const other = random.pick([gtin, `${digits.slice(1)}`, `40063${800 + product}`]);
  return habits.gtins === '13 and padded' ? gtin : other;
}

export function addItem(world: World, siteId?: bigint): Item {
  const { random, now } = world;
  world.tick(2);
  const id = world.takeItemId();
  const product = random.integer(12);
  const site = siteId ?? random.pick([...world.sites.keys()]);
  const category: Category = { ...CATEGORIES[0], source: random.pick(['AI', 'MANUAL']) };
  const [garden, tools] = world.datasets;
  const item: Item = {
    id,
    title: random.fraction() < 0.1 ? null : `${random.pick(WORDS)} ${random.integer(100)}`,
    brand: random.pick(['ACME', 'Bosch', null]),
    mpn: random.pick([`X-${product}`, null]),
    gtin: drawGtin(world, product),
    price: random.fraction() < 0.1 ? null : 100 + random.integer(90_000),
    previousPrice: null,
    priceChangedAt: null,
    currency: random.pick(['EUR', 'EUR', 'CZK']),
    url: random.pick([`https://shop.example/${id}?a=1&b="x"`, null]),
    image: random.pick([`https://shop.example/${id}.jpg`, null]),
    attributes: {
      ...{ stock: random.integer(9), note: random.pick(WORDS), tags: ['a', 'b'], rating: 1.5, none: null },
      ...(world.habits.namesake === 'none' ? {} : { [world.habits.namesake]: 'on request' }),
    },
    category: random.pick([category, category, null]),
    datasets: random.pick([[garden], [garden, tools], []]),
    siteId: site,
    modelId: site * 10n + 1n,
    sourceName: `list ${site}`,
    firstSeenAt: now,
    lastSeenAt: now,
    lastChangedAt: now,
    removedAt: null,
    sight: 'visible',
    touchedAt: now,
    hasLeft: false,
  };
  world.items.set(id, item);
  record(world, item, 'NEW', {}, undefined);
  return item;
}

/** Adds the change to the feed; `before` is the price before it, when it changed. */
export function record(
  world: World,
  item: Item,
  kind: Kind,
  changes: Change['changes'],
  before: number | null | undefined,
): void {
  const skew = BigInt(world.habits.skewMs) * 1_000_000n;
  const unit = 10n ** BigInt(9 - world.habits.fraction);
  const at = world.stamp();
  const isOfState = kind === 'REMOVED' || kind === 'RELISTED';
  // "Last time a value changed": a price that comes with a relisting is one.
  if (!isOfState || before !== undefined || world.habits.stateTimes === 'moved') item.lastChangedAt = at;
  if (kind !== 'REMOVED') item.lastSeenAt = at;
  if (kind === 'NEW') item.firstSeenAt = at;
  item.touchedAt = at;
  if (before !== undefined) {
    item.previousPrice = before;
    item.priceChangedAt = at;
    changes.price = [before, item.price];
  }
  world.changes.push({
    id: world.takeChangeId(),
    kind,
    observedAt: ((at + skew) / unit) * unit,
    price: isPriceTold(world, kind, before) ? item.price : null,
    previousPrice: before ?? null,
    changes,
    itemId: item.id,
    titleThen: item.title,
  });
  world.keep(item);
}

function isPriceTold({ habits }: World, kind: Kind, before: number | null | undefined): boolean {
  if (kind === 'REMOVED') return habits.removedPrice === 'last';
  return kind !== 'CHANGED' || before !== undefined || habits.priceInFeed === 'then';
}

type Event = (world: World, item: Item) => void;

export function setPrice(item: Item, price: number | null): number | null {
  const before = item.price;
  item.price = price;
  return before;
}

const changePrice: Event = (world, item) => {
  const before = setPrice(item, 100 + world.random.integer(90_000));
  if (before !== item.price) record(world, item, 'CHANGED', {}, before);
};

/** To null, or from null. */
const dropOrRaisePrice: Event = (world, item) => {
  record(world, item, 'CHANGED', {}, setPrice(item, item.price === null ? 4_200 : null));
};

const changeStock: Event = (world, item) => {
  const before = item.attributes.stock ?? null;
  item.attributes = { ...item.attributes, stock: Number(before) + 1 };
  record(world, item, 'CHANGED', { 'attributes.stock': [before, Number(before) + 1] }, undefined);
};

/** Gives an item another text, and tells of it where it is another. */
function setText(world: World, item: Item, name: 'title' | 'image' | 'brand' | 'gtin', text: string | null): void {
  const before = item[name];
  item[name] = text;
  if (before !== text) record(world, item, 'CHANGED', { [name]: [before, text] }, undefined);
}

const changeTitle: Event = (world, item) =>
  setText(world, item, 'title', item.title === null ? 'named at last' : world.random.pick([`${item.title}!`, null]));

/** Price from or to null, title and brand in one change. */
const changeAtOnce: Event = (world, item) => {
  const title = item.title;
  item.title = `${title ?? ''} +`;
  const changes: Change['changes'] = { title: [title, item.title] };
  if (world.random.fraction() < 0.5) {
    changes.brand = [item.brand, 'Neu'];
    item.brand = 'Neu';
  }
  record(world, item, 'CHANGED', changes, setPrice(item, item.price === null ? 777 : null));
};

/** Changes of one item at one moment. */
const severalAtOnce: Event = (world, item) => {
  changePrice(world, item);
  changeStock(world, item);
  changePrice(world, item);
  if (world.random.fraction() < 0.3) remove(world, item);
};

const remove: Event = (world, item) => {
  item.removedAt = world.stamp();
  record(world, item, 'REMOVED', {}, undefined);
};

export const relist: Event = (world, item) => {
  item.removedAt = null;
  const before = world.random.fraction() < 0.5 ? undefined : setPrice(item, 100 + world.random.integer(90_000));
  record(world, item, 'RELISTED', {}, before);
};

const move: Event = (world, item) => {
  const before = item.siteId;
  item.siteId = world.random.pick([...world.sites.keys()]);
  item.modelId = item.siteId * 10n + 1n;
  item.sourceName = `list ${item.siteId}`;
  if (before !== item.siteId)
    record(world, item, 'CHANGED', { site: [String(before), String(item.siteId)] }, undefined);
};

const changeImage: Event = (world, item) =>
  setText(world, item, 'image', `https://shop.example/${item.id}-${world.random.integer(1000)}.jpg`);

const changeBrand: Event = (world, item) =>
  setText(world, item, 'brand', world.random.pick(['ACME', 'Bosch', 'Neu', null]));

/** A GTIN becomes known, or is corrected. */
const changeGtin: Event = (world, item) => setText(world, item, 'gtin', drawGtin(world, world.random.integer(12)));

const changeCategory: Event = (world, item) => {
  const before = item.category;
  item.category = world.random.pick([{ ...CATEGORIES[0], source: 'MANUAL' }, { ...CATEGORIES[1], source: 'AI' }, null]);
  if (before?.slug !== item.category?.slug) {
    record(world, item, 'CHANGED', { category: [before, item.category] }, undefined);
  } else item.category = before;
};

/** The attribute that has the name of a field takes a value that the field would never have, or another number. */
const changeNamesake: Event = (world, item) => {
  const { namesake } = world.habits;
  const value = world.random.pick([true, 'on request', 12.5, null]);
  if (namesake === 'none') return;
  const before = item.attributes[namesake] ?? null;
  if (before === value) return;
  item.attributes = { ...item.attributes, [namesake]: value };
  record(world, item, 'CHANGED', { [`attributes.${namesake}`]: [before, value] }, undefined);
};

/** The price, and the attribute that has its name: a service that names both alike tells of one of them. */
const changePriceAndNamesake: Event = (world, item) => {
  const before = item.attributes.price ?? null;
  if (world.habits.namesake !== 'price' || item.price === null) return;
  const value = world.random.integer(1000) / 4;
  item.attributes = { ...item.attributes, price: value };
  const changes = { 'attributes.price': [before, value] } as Change['changes'];
  record(world, item, 'CHANGED', changes, setPrice(item, item.price + 100));
};

/** The price and the stock in one change. */
const changePriceAndStock: Event = (world, item) => {
  const before = item.attributes.stock ?? null;
  item.attributes = { ...item.attributes, stock: Number(before) + 1 };
  const changes: Change['changes'] = { 'attributes.stock': [before, Number(before) + 1] };
  record(world, item, 'CHANGED', changes, setPrice(item, (item.price ?? 0) + 100));
};

/** What can happen to a listed item. */
export const events = {
  changePrice,
  dropOrRaisePrice,
  changeStock,
  changeTitle,
  changeAtOnce,
  severalAtOnce,
  remove,
  move,
  changeImage,
  changeBrand,
  changeGtin,
  changeCategory,
  changeNamesake,
  changePriceAndNamesake,
  changePriceAndStock,
};
export const EVENTS: Event[] = [changePrice, changePrice, changeStock, ...Object.values(events)];
