/** Products of the API document: offers of one GTIN, otherwise of one brand and part number (section 1). */
import { isAsked } from './select-items.js';
import { Money, type Wire } from './wire-json.js';
import type { Item, View, World } from './world.js';

export function viewProductPage(world: World, view: View, query: URLSearchParams): Wire {
  const products = groupOffers(world, view, query).map(([id, offers]) => viewProduct(id, offers));
  products.sort((a, b) => b.offers - a.offers || (a.id < b.id ? -1 : 1));
  const size = Number(query.get('size') ?? 50);
  const page = Number(query.get('page') ?? 0);
  return {
    content: products.slice(page * size, (page + 1) * size),
    page,
    size,
    totalElements: products.length,
    totalPages: Math.ceil(products.length / size),
  };
}

const partKey = ({ brand, mpn }: Item) => (brand === null || mpn === null ? undefined : `${brand}-${mpn}`);
const digits = (gtin: string) => String(BigInt(gtin));

function groupOffers(world: World, view: View, query: URLSearchParams): [string, Item[]][] {
  const { removedOffers, grouping } = world.habits;
  const isOfIt = isAsked(world, query);
  const offers = view.items.filter((item) => isOfIt(item) && (removedOffers || item.removedAt === null));
  // "Otherwise by brand and part number": whether an offer without a GTIN joins those that have one is left open.
  const gtins = new Map<string, string>();
  for (const item of offers) {
    const part = partKey(item);
    if (part !== undefined && item.gtin !== null) gtins.set(part, digits(item.gtin));
  }
  const groups = new Map<string, Item[]>();
  for (const item of offers) {
    const part = partKey(item);
    const joined = grouping === 'together' && part !== undefined ? gtins.get(part) : undefined;
    const id = item.gtin === null ? (joined ?? part) : digits(item.gtin);
    if (id !== undefined) groups.set(id, [...(groups.get(id) ?? []), item]);
  }
  return [...groups];
}

function viewProduct(id: string, offers: Item[]) {
  const oldest = offers.reduce((a, b) => (b.firstSeenAt < a.firstSeenAt ? b : a));
  const { title, brand, mpn, gtin, category } = oldest;
  return {
    id,
    ...{ title, brand, mpn, gtin },
    category: category === null ? null : { ...category },
    offers: offers.length,
    shops: new Set(offers.map((item) => item.siteId)).size,
    prices: listPrices(offers),
  };
}

function listPrices(offers: Item[]): Wire[] {
  const priced = offers.filter(({ price, currency }) => price !== null && currency !== null);
  const currencies = [...new Set(priced.map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const prices = priced.filter((item) => item.currency === currency).map(({ price }) => price as number);
    const [min, max] = [new Money(Math.min(...prices)), new Money(Math.max(...prices))];
    return { currency, min, max, offers: prices.length };
  });
}
