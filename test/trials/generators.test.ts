import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { isLosslessNumber, parse } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { inventBaseProducts, readBaseProducts } from './base-products.js';
import { MARKETPLACE_FAULTS } from './generators/marketplaces/faults.js';
import { listMarketplaceOffers } from './generators/marketplaces/offers.js';
import { generateMarketplaces } from './generators/marketplaces.js';
import { generateMerchantCatalogs, listCatalogOffers, MERCHANT_FAULTS } from './generators/merchant-catalogs.js';
import { generateScrapedShops, listHonestOffers, SCRAPED_FAULTS } from './generators/scraped-shops.js';
import { translateTitle } from './lexicon.js';
import { renderItems, type TrialItem } from './trial.js';

const ITEM_FIELDS = [
  ...['id', 'title', 'brand', 'mpn', 'gtin', 'price', 'previousPrice', 'priceChangedAt', 'currency', 'url', 'image'],
  ...[
    'attributes',
    'category',
    'datasets',
    'site',
    'source',
    'firstSeenAt',
    'lastSeenAt',
    'lastChangedAt',
    'removedAt',
  ],
];

const countFaults = (names: readonly (string | null)[], name: string) => names.filter((other) => other === name).length;

const base = inventBaseProducts(1200, 3);
const scraped = listHonestOffers(base, 5);
const catalog = listCatalogOffers(base, 5);
const marketplace = listMarketplaceOffers(base, 5);
const scrapedTrial = generateScrapedShops(base, 5);
const catalogTrial = generateMerchantCatalogs(base, 5);
const marketplaceTrial = generateMarketplaces(base, 5);

/** `possible` counts the offers to which a fault can happen. */
const GENERATORS = [
  {
    generator: 'scraped shops',
    generate: generateScrapedShops,
    trial: scrapedTrial,
    faults: SCRAPED_FAULTS.map(({ name, share, canHappen }) => {
      return { name, share, possible: scraped.filter((offer) => canHappen(offer)).length };
    }),
  },
  {
    generator: "merchants' catalogs",
    generate: generateMerchantCatalogs,
    trial: catalogTrial,
    faults: MERCHANT_FAULTS.map(({ name, share, canHappen }) => {
      return { name, share, possible: catalog.filter((offer) => canHappen(offer)).length };
    }),
  },
  {
    generator: 'marketplaces',
    generate: generateMarketplaces,
    trial: marketplaceTrial,
    faults: MARKETPLACE_FAULTS.map(({ name, share, canHappen }) => {
      return { name, share, possible: marketplace.filter((offer) => canHappen(offer)).length };
    }),
  },
];

describe.each(GENERATORS)('generated offers of $generator', ({ generate, faults, trial: { items, truth } }) => {
  test('depend only on the products and the seed', () => {
    const few = base.slice(0, 60);
    const render = (seed: number) => {
      const trial = generate(few, seed);
      return renderItems(trial.items) + JSON.stringify(trial.truth);
    };
    expect(render(8)).toBe(render(8));
    expect(render(8)).not.toBe(render(9));
  });

  test('have exactly one truth per item, and only faults in the table', () => {
    expect(truth.map(({ itemId }) => itemId)).toEqual(items.map(({ id }) => String(id)));
    const names = new Set<string | null>([null, ...faults.map(({ name }) => name)]);
    expect(names.size).toBe(faults.length + 1);
    expect(truth.filter(({ fault, why }) => !names.has(fault) || why === '')).toEqual([]);
  });

  test('have unique ids above 2^53', () => {
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    expect(items.filter(({ id }) => id <= 2n ** 53n)).toEqual([]);
  });

  test.each(faults)('have the fault $name in $share % of the offers that can have it', ({ name, share, possible }) => {
    const expected = (possible * share) / 100;
    const happened = countFaults(
      truth.map(({ fault }) => fault),
      name,
    );
    expect(happened).toBeGreaterThan(0);
    expect(Math.abs(happened - expected)).toBeLessThanOrEqual(Math.max(0.5, expected * 0.05));
  });

  test('are JSON lines with all fields of an item, and ids and prices lose no digits', () => {
    const lines = renderItems(items).trimEnd().split('\n');
    expect(lines.length).toBe(items.length);
    const wrong = lines.filter((line, place) => {
      const item = items[place] as TrialItem;
      const read = parse(line) as Record<string, unknown>;
      if (Object.keys(read).join() !== ITEM_FIELDS.join()) return true;
      if (!isLosslessNumber(read.id) || !isLosslessNumber(read.price)) return true;
      return String(read.id) !== String(item.id) || String(read.price) !== item.price;
    });
    expect(wrong).toEqual([]);
  });

  test('have times in order', () => {
    const wrong = items.filter(
      ({ firstSeenAt, lastSeenAt, lastChangedAt, priceChangedAt, previousPrice }) =>
        firstSeenAt > lastSeenAt ||
        firstSeenAt > lastChangedAt ||
        (priceChangedAt ?? firstSeenAt) < firstSeenAt ||
        (priceChangedAt === null) !== (previousPrice === null),
    );
    expect(wrong).toEqual([]);
  });
});

describe('offers of scraped shops', () => {
  const { items, truth } = scrapedTrial;

  test('have shares that equal those in the header of the generator', () => {
    const text = readFileSync(new URL('./generators/scraped-shops.ts', import.meta.url), 'utf8');
    const stated = [...text.matchAll(/^ \* - ([\w-]+): ([\d.]+) %/gm)].map(([, name, share]) => `${name} ${share}`);
    expect(stated).toEqual(SCRAPED_FAULTS.map(({ name, share }) => `${name} ${share}`));
  });

  test("have the shop's price and are listed if they are honest", () => {
    const wrong = items.filter(({ price, currency, removedAt }, place) => {
      if (truth[place]?.fault !== null) return false;
      const { amount, shop } = scraped[place] as (typeof scraped)[number];
      return Number(price) !== amount || currency !== shop.country.currency || removedAt !== null;
    });
    expect(wrong).toEqual([]);
  });

  test('belong to products with 2 to 30 shops', () => {
    const shops = new Map<unknown, Set<number>>();
    for (const { product, shop } of scraped) {
      shops.set(product, (shops.get(product) ?? new Set()).add(shop.id));
    }
    const sizes = [...shops.values()].map(({ size }) => size);
    expect([shops.size, Math.min(...sizes), Math.max(...sizes)]).toEqual([base.length, 2, 30]);
  });
});

describe("offers of merchants' catalogs", () => {
  const { items, truth } = catalogTrial;
  // A forgotten listing comes right after the honest one of the same offer, so skipping it leaves one item per offer.
  const own = truth.flatMap(({ fault }, place) => (fault === 'forgotten-listing' ? [] : [place]));

  test('keep their codes and prices if they are honest, and at least four in five are honest', () => {
    expect(own.length).toBe(catalog.length);
    const honest = own.flatMap((place, offer) => (truth[place]?.fault === null ? [{ place, offer }] : []));
    const wrong = honest.filter(({ place, offer }) => {
      const { product, amount, currency } = catalog[offer] as (typeof catalog)[number];
      const { price, gtin, ...item } = items[place] as TrialItem;
      if (Number(price) !== amount || item.currency !== currency || item.removedAt !== null) return true;
      return gtin !== null && gtin.replace(/^0+/, '') !== product.gtin;
    });
    expect(wrong).toEqual([]);
    expect(honest.length / items.length).toBeGreaterThan(0.8);
  });

  test('have another price, currency or code if they have a fault', () => {
    const unchanged = own.flatMap((place, offer) => {
      const { amount, currency, gtin, mpn, brand } = catalog[offer] as (typeof catalog)[number];
      const item = items[place] as TrialItem;
      const before = [amount.toFixed(2), currency, gtin, mpn, brand].join();
      const after = [item.price, item.currency, item.gtin, item.mpn, item.brand].join();
      return truth[place]?.fault !== null && before === after ? [truth[place]] : [];
    });
    expect(unchanged).toEqual([]);
  });

  test('share faults of a merchant or a data pool in groups', () => {
    const spread = (name: string, key: (offer: (typeof catalog)[number]) => unknown) => {
      const hit = own.flatMap((place, offer) => (truth[place]?.fault === name ? [catalog[offer]] : []));
      return new Set(hit.map((offer) => key(offer as (typeof catalog)[number]))).size / hit.length;
    };
    expect(spread('coupon-price', ({ merchant }) => merchant)).toBeLessThan(0.3);
    expect(spread('sibling-gtin', ({ product }) => product)).toBeLessThan(0.6);
    expect(spread('sold-out', ({ product }) => product)).toBeGreaterThan(0.6);
  });

  test('have carton codes with 14 digits and a valid check digit', () => {
    const codes = items.flatMap(({ gtin }, place) => (truth[place]?.fault === 'carton-gtin' ? [gtin as string] : []));
    const weigh = (code: string) =>
      [...code].reduce((sum, digit, place) => sum + Number(digit) * (place % 2 === 0 ? 3 : 1), 0);
    expect(codes.filter((code) => !/^[1-8]\d{13}$/.test(code) || weigh(code) % 10 !== 0)).toEqual([]);
  });
});

describe('offers of marketplaces', () => {
  const { items, truth } = marketplaceTrial;
  const withTruth = marketplace.map((offer, place) => ({ offer, item: items[place] as TrialItem, ...truth[place] }));

  test("have the seller's price if they are honest, and more than four in five are honest", () => {
    const honest = withTruth.filter(({ fault }) => fault === null);
    const wrong = honest.filter(
      ({ offer, item }) => Number(item.price) !== offer.amount || item.currency !== offer.currency,
    );
    expect(wrong).toEqual([]);
    expect(honest.length / items.length).toBeGreaterThan(0.8);
  });

  test('repeat faults of an offer, a seller or a product at aggregators, with the same price', () => {
    const shared = new Set(['offer', 'seller', 'product']);
    const names = new Set(MARKETPLACE_FAULTS.flatMap(({ scope, name }) => (shared.has(scope) ? [name] : [])));
    const first = new Map([...withTruth].reverse().map((entry) => [entry.offer.key, entry]));
    const copies = withTruth.filter((entry) => names.has(entry.fault ?? '') && first.get(entry.offer.key) !== entry);
    expect(copies.length).toBeGreaterThan(100);
    for (const { offer, item, fault } of copies) {
      expect([first.get(offer.key)?.fault, first.get(offer.key)?.item.price]).toEqual([fault, item.price]);
    }
  });

  test("have a seller's typical fault at few sellers, and single faults at many", () => {
    const spread = (name: string) => {
      const sellers = withTruth.filter(({ fault }) => fault === name).map(({ offer }) => offer.seller);
      return new Set(sellers).size / sellers.length;
    };
    expect(spread('net-price')).toBeLessThan(0.2);
    expect(spread('ended')).toBeGreaterThan(0.4);
  });
});

test('names in titles are translated one by one, longest name first', () => {
  expect(translateTitle('Bravo coffee machine BC435 white', 'de')).toBe('Bravo Kaffeemaschine BC435 weiß');
  expect(translateTitle('SOK NARANČA', 'pl')).toBe('SOK POMARAŃCZA');
});

test('base products from a catalog file are grouped by barcode, with their median price in EUR', async () => {
  const item = (gtin: string | null, price: number, currency = 'EUR') =>
    JSON.stringify({
      title: `At ${price}`,
      brand: 'Bravo',
      gtin,
      price,
      currency,
      attributes: { quantity: 2, unit: 'L' },
    });
  const lines = [
    item('9008700124195', 1.35),
    item('09008700124195', 1.4),
    item('9008700124195', 9.99),
    item('9008700124195', 158, 'RSD'),
    item('9008700124194', 2),
    item('2000000000008', 2),
    item(null, 3),
  ];
  const path = join(mkdtempSync(join(tmpdir(), 'trials-')), 'items.ndjson.gz');
  writeFileSync(path, gzipSync(`${lines.join('\n')}\n`));
  expect(await readBaseProducts(path)).toEqual([
    { gtin: '9008700124195', brand: 'Bravo', title: 'At 1.4', price: '1.40', quantity: '2 L' },
  ]);
});

test('invented products have valid and distinct barcodes', () => {
  const base = inventBaseProducts(300, 1);
  const codes = base.flatMap(({ gtin }) => (gtin === null ? [] : [gtin]));
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes.length).toBeGreaterThan(250);
  const weigh = (code: string) =>
    [...code].reduce((sum, digit, place) => sum + Number(digit) * (place % 2 === 0 ? 1 : 3), 0);
  expect(codes.filter((code) => code.length !== 13 || weigh(code) % 10 !== 0)).toEqual([]);
});
