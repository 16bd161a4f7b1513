import { beforeAll, describe, expect, test } from 'vitest';
import type { Mapping } from '../../src/tables/item-names.js';
import { detectShape, type ObservedFields, observeRow, type Shape } from '../../src/typing/shape.js';
import { openTyping } from './typing.js';

const ITEM = {
  id: 9007199254740993n,
  title: 'A',
  brand: 'B',
  mpn: 'M-1',
  gtin: '4006381333931',
  price: '12.5',
  previousPrice: '13',
  priceChangedAt: '2026-11-19T06:00:00Z',
  currency: 'EUR',
  url: 'https://shop.example/1',
  image: 'https://shop.example/1.jpg',
  attributes: { stock: 3 },
  category: { name: 'Drills', path: 'Tools > Drills', slug: 'drills', source: 'AI' },
  datasets: ['one', 'two'],
  site: { id: 12, name: 'Shop', host: 'shop.example', attribution: 'CC BY' },
  source: { modelId: 77, name: 'Shop: tools' },
  firstSeenAt: '2026-01-01T00:00:00Z',
  lastSeenAt: '2026-11-20T00:00:00Z',
  lastChangedAt: '2026-11-19T06:00:00Z',
  removedAt: '2026-11-20T01:00:00Z',
};
const SQL = 'SELECT * EXCLUDE (part, line_number, raw, run_id, read_at, reject_reason) FROM typed';

type Row = Record<string, unknown>;
type Spell = (parent: string | undefined, name: string) => string;

const capitalize = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (char) => `_${char.toLowerCase()}`);
const join = (parent: string | undefined, name: string, by: string) =>
  parent === undefined ? name : `${parent}${by}${name}`;

const SPELLINGS: Record<string, Spell> = {
  'flat, camel case': (parent, name) => (parent === undefined ? name : `${parent}${capitalize(name)}`),
  'flat, snake case': (parent, name) => snake(join(parent, name, '_')),
  'flat, dotted': (parent, name) => join(parent, name, '.'),
  'flat, kebab case': (parent, name) => snake(join(parent, name, '-')).replaceAll('_', '-'),
  'flat, Pascal case': (parent, name) => `${capitalize(parent ?? '')}${capitalize(name)}`,
  'flat, upper case': (parent, name) => snake(join(parent, name, '_')).toUpperCase(),
  'flat, words': (parent, name) => snake(join(parent, name, ' ')).replaceAll('_', ' '),
};

function flatten(spell: Spell, row: Row = ITEM): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
      if (!['category', 'site', 'source'].includes(name)) return [[spell(undefined, name), value]];
      return Object.entries(value as Row).map(([member, inner]) => [spell(name, member), inner]);
    }),
  );
}

function nest(spell: (name: string) => string): Row {
  return Object.fromEntries(
    Object.entries(ITEM).map(([name, value]) => [
      spell(name),
      ['category', 'site', 'source'].includes(name)
        ? Object.fromEntries(Object.entries(value).map(([member, inner]) => [spell(member), inner]))
        : value,
    ]),
  );
}

/** JSON with int64 and decimals written as numbers. */
function write(row: Row): string {
  return JSON.stringify(row, (name, value) =>
    typeof value === 'bigint' ? `#${value}` : /price$/i.test(name) ? `#${value}` : value,
  ).replaceAll(/"#([\d.]+)"/g, '$1');
}

function shapeOf(rows: Row[], mapping: Mapping = {}): Shape {
  const observed: ObservedFields = new Map();
  for (const row of rows) observeRow(observed, row, mapping);
  return detectShape(observed, 'json', mapping);
}

const typing = await openTyping();
let expected: (string | null)[][];
beforeAll(async () => {
  expected = await (await typing.items(`${write(ITEM)}\n`)).select(SQL);
});

describe('an export row', () => {
  test('is typed with every value if it is written like ITEM above, which has all fields', () => {
    expect(expected).toHaveLength(1);
    expect(expected[0]).toContain('9007199254740993');
    // Only extra, gone_at and change_id are null.
    expect(expected[0]?.filter((value) => value === null)).toHaveLength(3);
  });

  test.each(Object.keys(SPELLINGS))('yields the same values if written %s', async (name) => {
    const rows = await typing.items(`${write(flatten(SPELLINGS[name] as Spell))}\n`);
    expect(await rows.rejects()).toEqual([]);
    expect(await rows.select(SQL)).toEqual(expected);
  });

  test.each([
    ['snake case', snake],
    ['Pascal case', capitalize],
  ])('yields the same values if nested and written in %s', async (_name, spell) => {
    const rows = await typing.items(`${write(nest(spell))}\n`);
    expect(await rows.select(SQL)).toEqual(expected);
  });

  test.each([
    ['item_id', 'model_id'],
    ['itemId', 'sourceId'],
    ['ItemID', 'source_id'],
  ])('may name its ids %s and %s', async (id, source) => {
    const { id: _id, sourceModelId: _source, ...others } = flatten(SPELLINGS['flat, camel case'] as Spell);
    const rows = await typing.items(`${write({ [id]: ITEM.id, [source]: 77, ...others })}\n`);
    expect(await rows.select(SQL)).toEqual(expected);
  });
});

/** Additional fields whose names differ from those of ITEM, or from each other, only in case. */
const TWINS = { Price: '999', ID: '4', novel: 1, Novel: '2', Site: { id: 9, Name: 'x' }, TITLE: null };
const EXTRA = '{"ID":"4","Novel":"2","Price":999,"Site":{"id":9,"Name":"x"},"novel":1}';
const sortedExtra = (text: string | null | undefined) =>
  JSON.stringify(
    Object.fromEntries(Object.entries(JSON.parse(text ?? '{}') as object).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
const WITHOUT_EXTRA = SQL.replace('EXCLUDE (', 'EXCLUDE (extra, ');

describe('names that differ only in case', () => {
  const camel = SPELLINGS['flat, camel case'] as Spell;
  const flat = flatten(camel);
  const { Site: _site, ...flatTwins } = TWINS;
  let values: (string | null)[][];
  beforeAll(async () => {
    values = await (await typing.items(`${write(ITEM)}\n`)).select(WITHOUT_EXTRA);
  });

  test.each([
    ['before', [{ ...TWINS, ...ITEM }]],
    ['behind', [{ ...ITEM, ...TWINS }]],
  ])('are different fields if they come %s the documented ones', async (_name, rows) => {
    const typed = await typing.items(`${rows.map(write).join('\n')}\n`);
    expect(await typed.rejects()).toEqual([]);
    expect(await typed.select(WITHOUT_EXTRA)).toEqual(values);
    const [[extra] = []] = await typed.select('SELECT extra FROM typed');
    expect(sortedExtra(extra)).toBe(EXTRA);
  });

  test('are different fields in rows that are typed one by one, and in rows that lack some fields', async () => {
    const { price: _price, ...priceless } = ITEM;
    const lines = [write({ ...TWINS, ...ITEM }), 'damaged', write({ Price: '8', novel: 3, ...priceless, id: 2 })];
    const typed = await typing.items(`${lines.join('\n')}\n`);
    expect(await typed.rejects()).toMatchObject([{ line: '2' }]);
    expect(await typed.select(`${WITHOUT_EXTRA} WHERE item_id > 2`)).toEqual(values);
    expect(
      await typed.select(
        "SELECT item_id, price, json_extract_string(extra, '$.Novel'), extra->>'$.Price' FROM typed ORDER BY item_id",
      ),
    ).toEqual([
      ['2', null, null, '8'],
      ['9007199254740993', '12.5000', '2', '999'],
    ]);
  });

  test('are different members of an object', async () => {
    const site = { Name: 'wrong', ...ITEM.site, NAME: 'wrong', rank: 1, Rank: 2 };
    const typed = await typing.items(`${write({ ...ITEM, site })}\n`);
    expect(await typed.select(WITHOUT_EXTRA)).toEqual(values);
    const [[extra] = []] = await typed.select('SELECT extra FROM typed');
    expect(sortedExtra(extra)).toBe('{"site.NAME":"wrong","site.Name":"wrong","site.Rank":2,"site.rank":1}');
  });

  test("don't prevent the rejection of a row whose site is not an object", async () => {
    const typed = await typing.items(`${write({ ...TWINS, ...ITEM })}\n${write({ ...ITEM, site: 'x' })}\n`);
    expect(await typed.rejects()).toMatchObject([{ line: '2', reason: 'site is not an object' }]);
  });

  test.each([
    ['in bulk', ''],
    ['row by row', 'too,few\n'],
  ])('are different CSV columns, typed %s', async (_name, bad) => {
    const cells = Object.entries({ ...flatTwins, ...flat });
    const text = (value: unknown) =>
      value === null
        ? ''
        : `"${(typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('"', '""')}"`;
    const csv = `${cells.map(([name]) => name).join(',')}\n${cells.map(([, value]) => text(value)).join(',')}\n${bad}`;
    const typed = await typing.csv(csv, bad === '' ? 1 : 2);
    expect(await typed.select(WITHOUT_EXTRA)).toEqual(values);
    const [[extra] = []] = await typed.select('SELECT extra FROM typed');
    expect(sortedExtra(extra)).toBe('{"ID":"4","Novel":"2","Price":"999","novel":"1"}');
  });

  test('map only the exact name to a field', () => {
    const shape = shapeOf([{ id: 1, price: 2, Price: 3 }], { Price: 'price' });
    expect([...shape.unknown.keys()]).toEqual(['price']);
  });
});

describe('the shape of rows', () => {
  test.each([
    ['nested', { id: 1, site: { id: 2 } }, 'category_slug', '"category"."slug"'],
    ['flat snake', { id: 1, site_id: 2 }, 'category_slug', '"category_slug"'],
    ['flat camel', { id: 1, siteId: 2 }, 'category_slug', '"categorySlug"'],
    ['flat dotted', { id: 1, 'site.id': 2 }, 'category_slug', '"category.slug"'],
    ['flat snake', { id: 1, site_id: 2 }, 'removed_at', '"removed_at"'],
    ['flat camel', { id: 1, siteId: 2 }, 'removed_at', '"removedAt"'],
  ])(
    'that are %s also determines the names of values that are absent because they are null',
    (_name, row, value, sql) => {
      expect(shapeOf([row]).values.get(value as 'removed_at')).toBe(sql);
    },
  );

  test.each<[string, Row[], Record<string, string>, string[], Mapping?]>([
    [
      'uses mapped columns as the fields that they are mapped to',
      [{ sku: 1, shop_no: 2, amount: 3 }],
      { id: '"sku"', site_id: '"shop_no"', price: '"amount"' },
      [],
      { sku: 'id', shop_no: 'site.id', amount: 'price' },
    ],
    [
      'uses the members of a mapped column that is an object',
      [{ id: 1, shop: { id: 2, name: 'S' } }],
      { site_id: '"shop"."id"' },
      [],
      { shop: 'site' },
    ],
    [
      'has a mapped column in place of a name that would be recognized, which is kept in extra',
      [{ id: 1, offer: 2, siteId: 3 }],
      { id: '"offer"' },
      ['id'],
      { offer: 'id' },
    ],
    [
      'grows with each row: what one leaves out another shows',
      [
        { id: 1, site: { id: 2 }, category: null },
        { id: 2, category: { name: 'x', slug: 'y' } },
      ],
      { category_name: '"category"."name"' },
      [],
    ],
    [
      'puts unknown fields into extra, including those inside site and category',
      [{ id: 1, energyLabel: 'A', site: { id: 2, country: 'DE' } }],
      {},
      ['energyLabel', 'site.country'],
    ],
    [
      'uses the first of two names for one value, and keeps the other in extra',
      [{ id: 1, itemId: 2, site_id: 3, siteId: 4 }],
      { id: '"id"', site_id: '"site_id"' },
      ['itemId', 'siteId'],
    ],
    [
      'keeps both of two names that differ only in case, and uses the documented spelling for the value',
      [{ id: 1, Title: 'b', title: 'a', SITE: { id: 1 }, site: { id: 2 } }],
      { title: "row['title']->>'$'", site_id: "CAST(row['site'] AS MAP(VARCHAR, JSON))['id']->>'$'" },
      ['SITE', 'Title'],
    ],
    [
      'accepts a text in place of an object, as the name of a site, a category or a source',
      [{ id: 1, site: 'Shop', siteId: 2, category: 'Drills' }],
      { site_name: '"site"', site_id: '"siteId"', category_name: '"category"' },
      [],
    ],
    ['without any rows is that of the API document', [], { site_id: '"site"."id"' }, []],
    ['ignores lines that are not objects', [null, 1, 'x', [{ sku: 1 }], undefined] as unknown as Row[], {}, []],
  ])('%s', (_name, rows, values, unknown, mapping = {}) => {
    const shape = shapeOf(rows, mapping);
    const found = Object.keys(values).map((name) => [name, shape.values.get(name as 'id')]);
    expect(Object.fromEntries(found)).toEqual(values);
    expect([...shape.unknown.keys()].sort()).toEqual(unknown);
  });

  test('without an id is refused with a list of the fields', () => {
    expect(() => shapeOf([{ sku: 1, name: 'x' }])).toThrow(/no field contains the item's id. The fields are sku, name/);
  });
});
