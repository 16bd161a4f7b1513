import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { isLosslessNumber, parse } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { inventBaseProducts, readBaseProducts } from './base-products.js';
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

describe('offers of scraped shops', () => {
  const base = inventBaseProducts(1200, 3);
  const { items, truth } = generateScrapedShops(base, 5);
  const honest = listHonestOffers(base, 5);

  test('the same products and seed give the same bytes, and another seed gives others', () => {
    const few = base.slice(0, 60);
    const render = (seed: number) => {
      const trial = generateScrapedShops(few, seed);
      return renderItems(trial.items) + JSON.stringify(trial.truth);
    };
    expect(render(8)).toBe(render(8));
    expect(render(8)).not.toBe(render(9));
  });

  test('every item has exactly one truth, and every fault is in the table', () => {
    expect(truth.map(({ itemId }) => itemId)).toEqual(items.map(({ id }) => String(id)));
    const names = new Set<string | null>([null, ...SCRAPED_FAULTS.map(({ name }) => name)]);
    expect(names.size).toBe(SCRAPED_FAULTS.length + 1);
    expect(truth.filter(({ fault, why }) => !names.has(fault) || why === '')).toEqual([]);
  });

  test('ids are unique and exceed 2^53', () => {
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    expect(items.filter(({ id }) => id <= 2n ** 53n)).toEqual([]);
  });

  test.each(SCRAPED_FAULTS)(
    '$name happens to $share % of the offers that it can happen to',
    ({ name, share, canHappen }) => {
      const possible = honest.filter((offer) => canHappen(offer)).length;
      const expected = (possible * share) / 100;
      const happened = countFaults(
        truth.map(({ fault }) => fault),
        name,
      );
      expect(happened).toBeGreaterThan(0);
      expect(Math.abs(happened - expected)).toBeLessThanOrEqual(Math.max(0.5, expected * 0.05));
    },
  );

  test('the header of the generator states each kind with its share', () => {
    const text = readFileSync(new URL('./generators/scraped-shops.ts', import.meta.url), 'utf8');
    const stated = [...text.matchAll(/^ \* - ([\w-]+): ([\d.]+) %/gm)].map(([, name, share]) => `${name} ${share}`);
    expect(stated).toEqual(SCRAPED_FAULTS.map(({ name, share }) => `${name} ${share}`));
  });

  test('the lines are JSON with all fields of an item, and neither ids nor money lose digits', () => {
    const lines = renderItems(items).trimEnd().split('\n');
    expect(lines.length).toBe(items.length);
    for (const [place, line] of lines.entries()) {
      const item = items[place] as TrialItem;
      const read = parse(line) as Record<string, unknown>;
      expect(Object.keys(read)).toEqual(ITEM_FIELDS);
      expect(isLosslessNumber(read.id) && isLosslessNumber(read.price)).toBe(true);
      expect([String(read.id), String(read.price)]).toEqual([String(item.id), item.price]);
    }
  });

  test('an honest offer has the price that its shop asks, and is listed', () => {
    for (const [place, { fault }] of truth.entries()) {
      if (fault !== null) continue;
      const item = items[place] as TrialItem;
      expect(Number(item.price)).toBe(honest[place]?.amount);
      expect(item.currency).toBe(honest[place]?.shop.country.currency);
      expect(item.removedAt).toBeNull();
    }
  });

  test('times are in order', () => {
    const wrong = items.filter(
      ({ firstSeenAt, lastSeenAt, lastChangedAt, priceChangedAt, previousPrice }) =>
        firstSeenAt > lastSeenAt ||
        firstSeenAt > lastChangedAt ||
        (priceChangedAt ?? firstSeenAt) < firstSeenAt ||
        (priceChangedAt === null) !== (previousPrice === null),
    );
    expect(wrong).toEqual([]);
  });

  test('products have 2 to 30 shops', () => {
    const shops = new Map<unknown, Set<number>>();
    for (const { product, shop } of honest) {
      shops.set(product, (shops.get(product) ?? new Set()).add(shop.id));
    }
    const sizes = [...shops.values()].map(({ size }) => size);
    expect([shops.size, Math.min(...sizes), Math.max(...sizes)]).toEqual([base.length, 2, 30]);
  });
});

test('titles are translated name by name, and the longest name wins', () => {
  expect(translateTitle('Bravo coffee machine BC435 white', 'de')).toBe('Bravo Kaffeemaschine BC435 weiß');
  expect(translateTitle('SOK NARANČA', 'pl')).toBe('SOK POMARAŃCZA');
});

test('base products of a catalogue are grouped by barcode at their median price in EUR', async () => {
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

test('invented products have valid barcodes that differ', () => {
  const base = inventBaseProducts(300, 1);
  const codes = base.flatMap(({ gtin }) => (gtin === null ? [] : [gtin]));
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes.length).toBeGreaterThan(250);
  const weigh = (code: string) =>
    [...code].reduce((sum, digit, place) => sum + Number(digit) * (place % 2 === 0 ? 1 : 3), 0);
  expect(codes.filter((code) => code.length !== 13 || weigh(code) % 10 !== 0)).toEqual([]);
});
