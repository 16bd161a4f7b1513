import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { detectShape, type ObservedFields, observeRow, type Shape } from '../../src/apply/shape.js';
import type { Mapping } from '../../src/tables/item-names.js';
import { openTyping, type Typing } from './typing.js';

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

function shapeOf(...rows: Row[]): Shape {
  const observed: ObservedFields = new Map();
  for (const row of rows) observeRow(observed, row);
  return detectShape(observed);
}

let typing: Typing;
let expected: (string | null)[][];
beforeAll(async () => {
  typing = await openTyping();
  const rows = await typing.items(`${write(ITEM)}\n`);
  expected = await rows.select(SQL);
});
afterAll(() => typing.close());

describe('an export row', () => {
  test('is typed with every value when it is written as ITEM above, which has all fields', () => {
    expect(expected).toHaveLength(1);
    expect(expected[0]).toContain('9007199254740993');
    // Only extra, gone_at, change_id and nothing else of an item is null.
    expect(expected[0]?.filter((value) => value === null)).toHaveLength(3);
  });

  test.each(Object.keys(SPELLINGS))('written %s gives the same values', async (name) => {
    const rows = await typing.items(`${write(flatten(SPELLINGS[name] as Spell))}\n`);
    expect(await rows.rejects()).toEqual([]);
    expect(await rows.select(SQL)).toEqual(expected);
  });

  test.each([
    ['snake case', snake],
    ['Pascal case', capitalize],
  ])('written nested in %s gives the same values', async (_name, spell) => {
    const rows = await typing.items(`${write(nest(spell))}\n`);
    expect(await rows.select(SQL)).toEqual(expected);
  });

  test.each([
    ['item_id', 'model_id'],
    ['itemId', 'sourceId'],
    ['ItemID', 'source_id'],
  ])('may call its ids %s and %s', async (id, source) => {
    const { id: _id, sourceModelId: _source, ...others } = flatten(SPELLINGS['flat, camel case'] as Spell);
    const rows = await typing.items(`${write({ [id]: ITEM.id, [source]: 77, ...others })}\n`);
    expect(await rows.select(SQL)).toEqual(expected);
  });
});

describe('columns that are mapped', () => {
  const mapped = (mapping: Mapping, ...rows: Row[]) => {
    const observed: ObservedFields = new Map();
    for (const row of rows) observeRow(observed, row, mapping);
    return detectShape(observed, 'json', mapping);
  };

  test('hold the field that they are mapped to', () => {
    const shape = mapped({ sku: 'id', shop_no: 'site.id', amount: 'price' }, { sku: 1, shop_no: 2, amount: 3 });
    const names = ['id', 'site_id', 'price'] as const;
    expect(names.map((name) => shape.values.get(name))).toEqual(['"sku"', '"shop_no"', '"amount"']);
    expect(shape.unknown.size).toBe(0);
  });

  test('may hold a whole object', () => {
    const shape = mapped({ shop: 'site' }, { id: 1, shop: { id: 2, name: 'S' } });
    expect(shape.values.get('site_id')).toBe('"shop"."id"');
  });

  test('take the place of a name that would be recognized, which is kept in extra', () => {
    const shape = mapped({ offer: 'id' }, { id: 1, offer: 2, siteId: 3 });
    expect(shape.values.get('id')).toBe('"offer"');
    expect([...shape.unknown.keys()]).toEqual(['id']);
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
  ])('that are %s is expected for values left out as nulls, too', (_name, row, value, sql) => {
    expect(shapeOf(row).values.get(value as 'removed_at')).toBe(sql);
  });

  test('grows with each row: what one leaves out another shows', () => {
    const shape = shapeOf({ id: 1, site: { id: 2 }, category: null }, { id: 2, category: { name: 'x', slug: 'y' } });
    expect(shape.values.get('category_name')).toBe('"category"."name"');
    expect(shape.unknown.size).toBe(0);
  });

  test('puts fields that the document does not name into extra, also those inside site and category', () => {
    const shape = shapeOf({ id: 1, energyLabel: 'A', site: { id: 2, country: 'DE' } });
    expect([...shape.unknown.keys()].sort()).toEqual(['energyLabel', 'site.country']);
  });

  test('takes the first of two names for one value, and keeps the other in extra', () => {
    const shape = shapeOf({ id: 1, itemId: 2, site_id: 3, siteId: 4 });
    expect(shape.values.get('id')).toBe('"id"');
    expect(shape.values.get('site_id')).toBe('"site_id"');
    expect([...shape.unknown.keys()]).toEqual(['itemId', 'siteId']);
  });

  test('keeps one of two names that differ only in case, as SQL can', () => {
    const shape = shapeOf({ id: 1, title: 'a', Title: 'b', SITE: { id: 1 }, site: { id: 2 } });
    expect([...shape.fields.keys()]).toContain('title');
    expect([...shape.fields.keys()]).not.toContain('Title');
    expect(shape.values.get('site_id')).toBe('"SITE"."id"');
  });

  test('takes a name alone where an object is due: the name of a site, a category or a source', () => {
    const shape = shapeOf({ id: 1, site: 'Shop', siteId: 2, category: 'Drills' });
    expect(shape.values.get('site_name')).toBe('"site"');
    expect(shape.values.get('site_id')).toBe('"siteId"');
    expect(shape.values.get('category_name')).toBe('"category"');
  });

  test('without an id is refused, and the fields that came are named', () => {
    expect(() => shapeOf({ sku: 1, name: 'x' })).toThrow(/no field is the item's id; the fields are sku, name/);
  });

  test('of no rows is that of the document', () => {
    expect(shapeOf().values.get('site_id')).toBe('"site"."id"');
  });

  test('is not moved by lines that are no objects', () => {
    const observed: ObservedFields = new Map();
    for (const row of [null, 1, 'x', [{ id: 1 }], undefined]) observeRow(observed, row);
    expect(observed.size).toBe(0);
  });
});
