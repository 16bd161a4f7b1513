import { describe, expect, test } from 'vitest';
import { findItemPath } from '../../src/tables/item-names.js';
import type { AnswerName } from '../../src/tables/table.js';
import { DriftWatch } from '../../src/wings/drift/drift-watch.js';
import { type Drift, listDrift } from '../../src/wings/drift/list-drift.js';

const SITE = { id: 12, name: 'Shop', host: 'shop.example', attribution: null };
const ITEM = {
  id: 7,
  title: 'A',
  brand: null,
  mpn: null,
  gtin: null,
  price: 12.5,
  previousPrice: null,
  priceChangedAt: null,
  currency: 'EUR',
  url: null,
  image: null,
  attributes: { stock: 3, any: [{ thing: 1 }] },
  category: { name: 'Drills', path: 'Tools > Drills', slug: 'drills', source: 'AI' },
  datasets: ['one'],
  site: SITE,
  source: { modelId: 77, name: 'Shop: tools' },
  firstSeenAt: '2026-01-01T00:00:00Z',
  lastSeenAt: '2026-11-20T00:00:00Z',
  lastChangedAt: '2026-11-19T06:00:00Z',
  removedAt: null,
};
const ENTRY = {
  id: 1,
  kind: 'CHANGED',
  observedAt: '2026-11-19T06:00:00Z',
  price: 12,
  previousPrice: null,
  changes: { stock: [1, 2] },
};
const CHANGE = { ...ENTRY, item: { id: 7, title: 'A', url: null, currency: 'EUR', site: SITE } };
const UNNAMED = { title: null, brand: null, mpn: null, gtin: null, category: null };
const PRICES = [{ currency: 'EUR', min: 1, max: 2.5, offers: 2 }];
const PRODUCT = { id: '4006381333931', ...UNNAMED, offers: 2, shops: 2, prices: PRICES };
const FACETS = {
  categories: [{ id: 1, name: 'A', slug: 'a', path: 'A', parentId: null, items: 3 }],
  currencies: [{ code: 'EUR', items: 3 }],
  sites: [{ id: 1, name: 'Shop', host: 'shop.example', items: 3 }],
};
const COUNTS = { items: 3, sites: 1, models: 1, healthyModels: 1 };
const DATASET = { id: 1, name: 'one', description: null, ...COUNTS, newestScrapeAt: null, oldestScrapeAt: null };

type Look = Parameters<DriftWatch['look']>;

function find(answer: AnswerName, rows: unknown[], format?: Look[2], mapping = {}): Drift[] {
  const watch = new DriftWatch({ '/export': (parent, name) => findItemPath(parent, name, mapping) });
  for (const row of rows) watch.look(answer, row, format);
  return listDrift(watch.seen);
}

/** The finding and field, the found and described types, and the number of rows with it. */
function tell(answer: AnswerName, rows: unknown[], format?: Look[2]): string[] {
  return find(answer, rows, format).map(({ finding, field, found, described, rows, looked_at, sample }) =>
    [finding, field, `${found ?? ''}/${described ?? ''}`, `${rows}/${looked_at}`, sample].join(' '),
  );
}

const flat = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      ['site', 'category', 'source'].includes(name)
        ? Object.entries(value).map(([inner, of]) => [`${name}_${inner}`, of])
        : [[name.replaceAll(/[A-Z]/g, (char) => `_${char.toLowerCase()}`), value]],
    ),
  );

describe('rows that match the API document', () => {
  test.each<[AnswerName, object]>([
    ['/export', ITEM],
    ['/items', ITEM],
    ['/changes', CHANGE],
    ['/changes', { ...CHANGE, item: null }],
    ['webhook', CHANGE],
    ['/items/{id}/history', { item: { id: 7 }, ...ENTRY }],
    ['/datasets', DATASET],
    ['/facets', FACETS],
    ['/products', PRODUCT],
  ])('from %s show no drift', (answer, row) => {
    expect(tell(answer, Array(30).fill(row))).toEqual([]);
  });

  test("from an export may be flat, in CSV, or contain objects as text, because the document doesn't name the columns", () => {
    expect(tell('/export', Array(30).fill(flat(ITEM)))).toEqual([]);
    const none = { name: null, path: null, slug: null, source: null };
    const bare = flat({ ...ITEM, category: none });
    expect(tell('/export', [flat(ITEM), bare])).toEqual([]);
    expect(tell('/export', [bare, { ...bare, title: null, last_seen_at: null }], 'csv')).toEqual([]);
    const csv = { ...flat(ITEM), id: '7', price: '12.5', attributes: '{}', datasets: 'one;two' };
    expect(tell('/export', Array(30).fill(csv), 'csv')).toEqual([]);
    expect(tell('/export', [{ ...ITEM, attributes: '{}', datasets: 'one' }])).toEqual([]);
    const { id, ...rest } = ITEM;
    expect(find('/export', [{ sku: id, ...rest }], undefined, { sku: 'id' })).toEqual([]);
  });
});

describe('drift from the API document', () => {
  test("includes times finer than a microsecond, because columns can't keep them", () => {
    const fine = { ...ITEM, lastSeenAt: '2026-11-20T00:00:00.1234567Z', removedAt: '2026-11-20T00:00:00.123456789' };
    const plain = { ...ITEM, lastSeenAt: '2026-11-20T00:00:00.123456000Z', title: '0.12345678' };
    expect(tell('/items', [fine, plain, fine])).toEqual([
      'precision lastSeenAt string/string 2/3 "2026-11-20T00:00:00.1234567Z"',
      'precision removedAt string/string|null 2/3 "2026-11-20T00:00:00.123456789"',
    ]);
    expect(tell('/changes', [{ ...CHANGE, observedAt: '2026-11-20T00:00:00.0000001Z' }])).toHaveLength(1);
    const text = { ...flat(ITEM), last_seen_at: '2026-11-20T00:00:00.1234567Z' };
    expect(find('/export', [text], 'csv').map(({ finding }) => finding)).toEqual(['precision']);
  });

  test("includes a text that isn't among the documented values", () => {
    const other = { ...ITEM, category: { ...ITEM.category, source: 'RULE' } };
    expect(tell('/items', [ITEM, other, { ...ITEM, category: null }])).toEqual([
      'value category.source string/AI|MANUAL 1/2 "RULE"',
    ]);
    const row = { ...flat(ITEM), category_source: 'RULE' };
    expect(find('/export', [flat(ITEM), row], 'csv')).toMatchObject([{ finding: 'value', rows: 1 }]);
    expect(tell('/plan', [{ status: 'ACTIVE' }, { status: null }, { status: 'PAUSED' }])).toEqual([
      'value status string/TRIALING|ACTIVE|PAST_DUE|CANCELED 1/3 "PAUSED"',
    ]);
  });

  test('includes an unknown field, even inside objects and lists, with the number of rows that have it and a value', () => {
    expect(tell('/items', [ITEM, { ...ITEM, energy: 'A++', site: { ...SITE, vat: [1] } }])).toEqual([
      'unknown site.vat array/ 1/2 [1]',
      'unknown energy string/ 1/2 "A++"',
    ]);
    expect(tell('/changes', [{ ...CHANGE, item: { ...CHANGE.item, brand: 'B' } }])).toEqual([
      'unknown item.brand string/ 1/1 "B"',
    ]);
    expect(tell('/products', [{ ...PRODUCT, prices: [{ ...PRODUCT.prices[0], avg: 1.5 }] }])).toEqual([
      'unknown prices[].avg number/ 1/1 1.5',
    ]);
    const scored = [null, '1'].map((score) => ({ ...flat(ITEM), score }));
    expect(tell('/export', scored, 'csv')).toEqual(['unknown score text/ 2/2 "1"']);
  });

  test('includes another name of a field, except in an export', () => {
    const { site, ...rest } = ITEM;
    expect(tell('/items', [{ ...rest, siteId: site.id }])).toEqual([
      'unknown siteId integer/ 1/1 12',
      'missing site /object 1/1 ',
    ]);
  });

  test.each<[string, object, string]>([
    ['a price as text', { price: '12.5' }, 'type price string/number|null 1/1 "12.5"'],
    ['an id with a fraction', { id: 7.5 }, 'type id number/integer 1/1 7.5'],
    ['attributes as a list', { attributes: [1] }, 'type attributes array/object 1/1 [1]'],
    ['datasets of numbers', { datasets: ['a', 3] }, 'type datasets[] integer/string 1/2 3'],
    ['a website id as text', { site: { ...SITE, id: '12' } }, 'type site.id string/integer 1/1 "12"'],
    ['a category as a name', { category: 'Drills' }, 'type category string/object|null 1/1 "Drills"'],
    ["null if it isn't allowed", { lastSeenAt: null }, 'type lastSeenAt null/string 1/1 null'],
  ])('includes %s', (_name, change, told) => {
    expect(tell('/items', [{ ...ITEM, ...change }])).toEqual([told]);
  });

  test('includes the type of a value with a flat name', () => {
    expect(tell('/export', [{ ...flat(ITEM), site_id: true }])).toEqual(['type site_id boolean/integer 1/1 true']);
  });
});

describe('a field that no row contains', () => {
  const without = (row: object, name: string) =>
    Object.fromEntries(Object.entries(row).filter(([key]) => key !== name));

  test("is missing at once if it can't be null, otherwise after 20 rows", () => {
    expect(tell('/items', [without(ITEM, 'lastSeenAt')])).toEqual(['missing lastSeenAt /string 1/1 ']);
    expect(tell('/items', Array(19).fill(without(ITEM, 'image')))).toEqual([]);
    expect(tell('/items', Array(20).fill(without(ITEM, 'image')))).toEqual(['missing image /string|null 20/20 ']);
    expect(tell('/items', [...Array(20).fill(without(ITEM, 'image')), ITEM])).toEqual([]);
  });

  test('is only expected inside its object, or under its name in flat rows', () => {
    expect(tell('/items', [{ ...ITEM, site: without(SITE, 'host') }])).toEqual(['missing site.host /string 1/1 ']);
    expect(tell('/items', Array(30).fill({ ...ITEM, category: null }))).toEqual([]);
    expect(tell('/export', [without(flat(ITEM), 'site_host')])).toEqual(['missing site.host /string 1/1 ']);
  });
});

test('field names and values from the service are shortened, cleaned, and limited in number', () => {
  const names = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`n${n}`, n]));
  expect(find('/items', [{ ...ITEM, ...names }])).toHaveLength(100);
  const [drift] = find('/items', [{ ...ITEM, [`\u0000${'😀'.repeat(150)}`]: '\u001b[31m'.repeat(99) }]);
  expect(drift?.field).toMatch(/^ (😀)+\ufffd?$/u);
  expect(drift?.sample).toMatch(/^[\x20-\x7e]{200}$/);
});

test('a second field for a documented value is unknown, in any order of the fields', () => {
  for (const row of [
    { Price: 9, ...ITEM },
    { ...ITEM, Price: 9 },
  ])
    expect(tell('/export', [row])).toEqual(['unknown Price integer/ 1/1 9']);
  expect(tell('/export', [{ ...ITEM, site: { Name: 'x', ...SITE } }])).toEqual(['unknown site.Name string/ 1/1 "x"']);
});
