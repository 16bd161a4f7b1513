import { describe, expect, test } from 'vitest';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { at, fullItem, openModels, type Row } from './model-world.js';

const { bind, readTexts } = await openModels();

/** The items that differ, as texts: `1 new`, or `1 title,price`. */
async function compare(exported: Row[], lake: Row[]): Promise<string[]> {
  const compared = bind('compare', { exported_items: exported, items: lake }, { feed_skew: null });
  const text = "item_id || ' ' || if(is_new, 'new', array_to_string(differences, ',')) AS text";
  return (await readTexts(compared, text)).map((row) => String(row.text));
}

const whole = (row: Row) => [fullItem(row)];

test("equal rows don't differ", async () => {
  expect(await compare(whole({}), whole({}))).toEqual([]);
});

test("rows that the lake lacks are new, and rows that only the lake has aren't reported", async () => {
  expect(await compare([fullItem({ item_id: 2 }), fullItem({})], [fullItem({}), fullItem({ item_id: 3 })])).toEqual([
    '2 new',
  ]);
});

/** For each difference, its name in the API, and values that cause it. */
const DIFFERENCES: [string, Row][] = [
  ['title', { title: 'B' }],
  ['brand', { brand: 'B' }],
  ['mpn', { mpn: 'B' }],
  ['gtin', { gtin: '96385074' }],
  ['price', { price: 10.0001 }],
  ['previousPrice', { previous_price: 8 }],
  ['priceChangedAt', { price_changed_at: at(3) }],
  ['currency', { currency: 'CHF' }],
  ['url', { url: 'v' }],
  ['image', { image: 'j' }],
  ['attributes', { attributes: '{"stock":2,"color":"red"}' }],
  ['category', { category_name: 'Ink' }],
  ['category', { category_path: 'Ink' }],
  ['category', { category_slug: 'ink' }],
  ['category', { category_source: 'service' }],
  ['datasets', { datasets: '[a]' }],
  ['site', { site_id: 8 }],
  ['source', { source_id: 4 }],
  ['source', { source_name: 'Other' }],
  ['firstSeenAt', { first_seen_at: at(2) }],
  ['lastChangedAt', { last_changed_at: at(6) }],
  ['removedAt', { removed_at: at(6) }],
];

/** Values whose difference isn't reported, with a description of them. */
const NO_DIFFERENCES: [string, Row][] = [
  ['when the item was last seen', { last_seen_at: at(9) }],
  ['the order of attributes', { attributes: '{"color": "red", "stock": 1}' }],
  ['the order of datasets', { datasets: '[b, a]' }],
  ['the website’s name and host', { site_name: 'Store', site_host: 'store.example' }],
  ['the columns computed from the GTIN', { gtin14: null, product_id: null }],
  ['the columns that describe the read', { extra: null, read_at: at(9), run_id: 'this run', change_id: null }],
];

describe('a difference is reported under the name of the API’s field:', () => {
  test.each(DIFFERENCES)('%s %j', async (name, values) => {
    expect(await compare(whole(values), whole({}))).toEqual([`1 ${name}`]);
    // A value may be missing on either side.
    const none = Object.fromEntries(Object.keys(values).map((column) => [column, null]));
    if (name !== 'removedAt') expect(await compare(whole(none), whole(values))).toEqual([`1 ${name}`]);
    expect(await compare(whole({ ...values, last_seen_at: at(8) }), whole(none))).toEqual([`1 ${name}`]);
    expect(await compare(whole(none), whole(none))).toEqual([]);
  });

  test('all differences of a row are reported together', async () => {
    const row = { title: 'B', price: 11, attributes: null, datasets: '[c]', site_id: 8, last_changed_at: at(6) };
    expect(await compare(whole(row), whole({}))).toEqual(['1 title,price,attributes,datasets,site,lastChangedAt']);
  });
});

test.each(NO_DIFFERENCES)("a difference in %s isn't reported", async (_name, values) => {
  expect(await compare(whole(values), whole({}))).toEqual([]);
});

test('every column of items is in DIFFERENCES or NO_DIFFERENCES above', () => {
  const named = [...DIFFERENCES, ...NO_DIFFERENCES].flatMap(([, values]) => Object.keys(values));
  // The key, and the columns that are computed from compared times.
  const others = ['item_id', 'is_listed', 'gone_at'];
  const columns = loadTableSchema('items').columns.map(({ name }) => name);
  expect([...new Set([...named, ...others])].sort()).toEqual(columns.sort());
});

test('a row of an item that was gone always differs', async () => {
  expect(await compare(whole({}), whole({ gone_at: at(6) }))).toEqual(['1 gone']);
  expect(await compare(whole({ title: 'B' }), whole({ gone_at: at(6) }))).toEqual(['1 title,gone']);
});

describe("a row that is older than the lake’s isn't reported", () => {
  const almost = '2026-11-20T04:59:00Z';

  test.each<[string, Row, Row, string[]]>([
    ['it has an earlier lastChangedAt', { brand: 'B', last_changed_at: at(4) }, {}, []],
    ['it has a slightly earlier lastChangedAt and another title', { title: 'B', last_changed_at: almost }, {}, []],
    ['it has a slightly earlier lastChangedAt and another price', { price: 11, last_changed_at: almost }, {}, []],
    ['it has a slightly earlier lastChangedAt and no title', { title: null, last_changed_at: almost }, {}, []],
    ["the lake's row was removed since", { brand: 'B' }, { removed_at: at(6) }, []],
    ["the lake's row was seen again after the removal", { brand: 'B', removed_at: at(4) }, {}, []],
  ])('%s', async (_name, exported, lake, expected) => {
    expect(await compare(whole(exported), whole(lake))).toEqual(expected);
  });

  test('but a row with the same price and title is reported if its lastChangedAt is only slightly earlier', async () => {
    expect(await compare(whole({ brand: 'B', last_changed_at: almost }), whole({}))).toEqual(['1 brand,lastChangedAt']);
    const unpriced = { price: null, title: null };
    expect(await compare(whole({ ...unpriced, brand: 'B', last_changed_at: almost }), whole(unpriced))).toEqual([
      '1 brand,lastChangedAt',
    ]);
  });

  test("but a row that was seen after the lake's removal is reported", async () => {
    expect(await compare(whole({ last_seen_at: at(7) }), whole({ removed_at: at(6) }))).toEqual(['1 removedAt']);
    expect(await compare(whole({ removed_at: at(6) }), whole({ last_seen_at: at(5) }))).toEqual(['1 removedAt']);
  });
});
