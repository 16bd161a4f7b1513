import { afterAll, beforeAll, expect, test } from 'vitest';
import { proposeAttributes, writeAttributes } from '../../src/analyze/attribute-proposals.js';
import type { Database } from '../../src/sql/connection.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { fillDerived, insertRows, openEmptyTables } from '../check/lake-world.js';
import { createSeeded } from '../seeded.js';
import { ask } from './moving-world.js';

const NAMES = ['stock', 'in "stock"', 'shipping', 'a.b', 'état'];
const VALUES = [
  true,
  0,
  2.5,
  'InStock',
  'SoldOut',
  null,
  [],
  ['x', 1],
  { price: '1,50', to: { city: 'Zagreb' } },
  {},
  'x'.repeat(50),
];

interface Offer {
  id: number;
  site: number;
  isListed: boolean;
  attributes: Record<string, unknown>;
}

function makeOffers(): Offer[] {
  const random = createSeeded(11);
  return Array.from({ length: 200 }, (_, id) => ({
    id,
    site: 1 + random.integer(3),
    isListed: random.fraction() < 0.9,
    attributes: Object.fromEntries(
      NAMES.flatMap((name) => (random.fraction() < 0.6 ? [[name, random.pick(VALUES)] as const] : [])),
    ),
  }));
}

const offers = makeOffers();
let db: Database;
beforeAll(async () => {
  db = await openEmptyTables();
  const rows = offers.map(
    ({ id, site, isListed, attributes }) =>
      `(${id}, 'p${id % 40}', 'EUR', 10, ${site}, ${isListed}, ${quoteLiteral(JSON.stringify(attributes))})`,
  );
  await db.run(
    `INSERT INTO items (item_id, product_id, currency, price, site_id, is_listed, attributes) VALUES ${rows.join(', ')}`,
  );
  await insertRows(db, 'sites', [
    { site_id: '1', name: "'One'" },
    { site_id: '2', name: "'Two'" },
  ]);
  await db.run(`INSERT INTO offer_rules (rule, site_id, meaning, text) VALUES ('attribute', NULL, 'availability', 'stock'),
    ('attribute', NULL, 'shipping cost', 'shipping'), ('attribute', 2, 'availability', 'a.b')`);
  await fillDerived(db);
});
afterAll(() => db.close());

/** Name → value of the attributes of an item, and of objects within them. */
function listValues({ attributes }: Offer): [string, unknown][] {
  return Object.entries(attributes).flatMap(([name, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const inner = isObject ? Object.entries(value).map(([key, one]): [string, unknown] => [`${name}.${key}`, one]) : [];
    return [[name, value] as [string, unknown], ...inner].filter(([, one]) => one !== null);
  });
}

function nameType(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return { string: 'text', object: 'object' }[typeof value as string] ?? (typeof value as string);
}

const write = (value: unknown) =>
  [...(typeof value === 'string' ? value : JSON.stringify(value))].slice(0, 40).join('');

test.each([undefined, 2])(
  'attribute_names counts items, shops, types and values by name (website %s)',
  async (site) => {
    const listed = offers.filter((one) => one.isListed && (site === undefined || one.site === site));
    const found = new Map<string, { offer: Offer; value: unknown }[]>();
    for (const offer of listed) {
      for (const [name, value] of listValues(offer)) found.set(name, [...(found.get(name) ?? []), { offer, value }]);
    }
    const expected = [...found].map(([name, all]) => {
      const texts = new Map<string, number>();
      for (const { value } of all) {
        if (nameType(value) === 'object') continue;
        // Texts of one type and another are counted apart, and all of this world differ.
        texts.set(write(value), (texts.get(write(value)) ?? 0) + 1);
      }
      const examples = [...texts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, 3);
      return {
        name,
        items: BigInt(all.length),
        share_pct: (100 * all.length) / listed.length,
        shops: BigInt(new Set(all.map(({ offer }) => offer.site)).size),
        types: [...new Set(all.map(({ value }) => nameType(value)))].sort(),
        distinct_values: BigInt(texts.size),
        examples: examples.map(([text, count]) => `${text} (${count})`),
      };
    });
    expected.sort((a, b) => Number(b.items - a.items) || (a.name < b.name ? -1 : 1));
    const variables = { examples: '3', ...(site === undefined ? {} : { site_id: String(site) }) };
    expect(await ask(db, 'attribute_names', variables)).toEqual(expected);
  },
);

test('attribute_coverage counts the offers of each shop that have each attribute', async () => {
  const told = new Map<unknown, string>([
    ...[true, 2.5, 'InStock'].map((value): [unknown, string] => [value, 'in']),
    ...[0, 'SoldOut'].map((value): [unknown, string] => [value, 'out']),
  ]);
  const costs = (value: unknown) =>
    value === 0 || value === 2.5 || (typeof value === 'object' && value !== null && 'price' in value);
  const expected = [1, 2, 3].map((site) => {
    const own = offers.filter((one) => one.isListed && one.site === site);
    const states = own.map(({ attributes }) => {
      const value = site === 2 ? attributes['a.b'] : attributes.stock;
      return (
        told.get(Array.isArray(value) && value.length > 0 ? 1 : value) ??
        (Array.isArray(value) && value.length > 0 ? 'in' : undefined)
      );
    });
    const count = (state: string) => BigInt(states.filter((one) => one === state).length);
    const known = states.filter((one) => one !== undefined).length;
    const shipping = own.filter(({ attributes }) => costs(attributes.shipping)).length;
    return {
      ...{ site_id: BigInt(site), shop: ['One', 'Two', '3'][site - 1], offers: BigInt(own.length) },
      ...{ availability_known: BigInt(known), in_stock: count('in'), out_of_stock: count('out'), on_order: 0n },
      ...{ shipping_known: BigInt(shipping), condition_known: 0n, regular_price_known: 0n },
      availability_pct: (100 * known) / own.length,
      shipping_pct: (100 * shipping) / own.length,
    };
  });
  expected.sort((a, b) => Number(b.offers - a.offers) || Number(a.site_id - b.site_id));
  expect(await ask(db, 'attribute_coverage')).toEqual(expected);
});

/** Attributes with their values, one per item, and the meaning that is proposed for them. */
const PROPOSED: [name: string, values: unknown[], meaning: string | undefined][] = [
  ['inStock', [true, false, true], 'availability'],
  ['stock_level', [3, 0, '10+'], 'availability'],
  ['dostupnost', ['na zalihi', 'nema na zalihi', 'po narudžbi', 'InStock', 'pitajte'], 'availability'],
  ['x17', ['InStock', 'SoldOut', 'BackOrder'], 'availability'],
  ['x18', [true, false, 3], undefined],
  ['rating', [4, 5, 0], undefined],
  ['soldOut', [true, false, true], undefined],
  ['stockDate', [3, 4, 5], undefined],
  ['stockText', ['ask', 'call', 'InStock'], undefined],
  ['shippingPrice', ['4,99 €', 'free', 3], 'shipping cost'],
  ['shippingDays', [1, 2, 3], undefined],
  ['deliveryCost', ['4.99 USD', '5 USD', 1], undefined],
  [
    'dostava',
    [
      { price: 3, zone: 1 },
      { price: 4, zone: 1 },
      { price: 5, zone: 2 },
    ],
    'shipping cost',
  ],
  ['listPrice', [10, 12.5, '13,00'], 'regular price'],
  ['stara cijena', ['1.299,00', 3, 4], 'regular price'],
  ['price', [1, 2, 3], undefined],
  ['itemState', ['NewCondition', 'used', 'refurbished'], 'condition'],
  ['condition', ['new', 'new', 'used'], undefined],
  ['netWeight', ['500 g', '0,5 kg', '1kg'], 'quantity'],
  ['Füllmenge', ['0,75 l', '33cl', '500 ml'], 'quantity'],
  ['quantity', [12, 3, 7], undefined],
  ['stock quantity', ['12 l', '3 l', '7 l'], undefined],
  ['contents', ['12', 'a charger', 'a cable'], undefined],
  ['unit', ['kg', 'L', 'kom'], 'unit'],
  ['unit', [1, 2, 3], undefined],
  ['unit price', ['kg', 'L', 'kom'], undefined],
  ['mapped_stock', [1, 2, 3], undefined],
];

test.each(PROPOSED)(
  'attribute_proposals proposes a meaning for %s from its name and values %j',
  async (name, values, meaning) => {
    await db.run('DELETE FROM items; DELETE FROM offer_rules');
    await db.run(
      `INSERT INTO offer_rules (rule, site_id, meaning, text) VALUES ('attribute', NULL, 'availability', 'mapped_stock')`,
    );
    const rows = values.map(
      (value, id) =>
        `(${id}, 'EUR', ${id % 2}, true, ${quoteLiteral(JSON.stringify({ [name]: value, color: `${id}` }))})`,
    );
    await db.run(
      `INSERT INTO items (item_id, currency, site_id, is_listed, attributes) VALUES ${rows.join(', ')}, (99, 'EUR', 3, true, '{}')`,
    );
    const found = (await ask(db, 'attribute_proposals')).map((row) => [row.meaning, row.name, row.items, row.shops]);
    expect(found).toEqual(meaning === undefined ? [] : [[meaning, name, BigInt(values.length), 2n]]);
  },
);

test('attribute_proposals proposes a quantity without a unit if the shop has a separate attribute for the unit', async () => {
  await db.run('DELETE FROM items');
  await db.run(`INSERT INTO items (item_id, currency, site_id, is_listed, attributes)
    SELECT i, 'EUR', 1, true, '{"quantity":2.0,"unit":"L"}' FROM range(4) AS one(i) UNION ALL
    SELECT 9, 'EUR', 2, true, '{"quantity":3}'`);
  const found = (await ask(db, 'attribute_proposals')).map((row) => [row.meaning, row.name, row.known_pct]);
  expect(found).toEqual([
    ['quantity', 'quantity', 80],
    ['unit', 'unit', 100],
  ]);
  const proposals = await proposeAttributes(db);
  expect(writeAttributes(proposals)).toBe('quantity: [quantity], unit: [unit]');
});

test('attribute_proposals counts the readable values and lists the unreadable ones', async () => {
  await db.run('DELETE FROM items');
  const values = ['InStock', 'InStock', 'InStock', 'SoldOut', 'pitajte'];
  const rows = values.map((value, id) => `(${id}, 'EUR', 1, true, '{"dostupnost":"${value}"}')`);
  await db.run(`INSERT INTO items (item_id, currency, site_id, is_listed, attributes) VALUES ${rows.join(', ')}, (8, 'EUR', 3, true, NULL),
    (9, 'EUR', 3, true, '{"dostupnost":null}'), (10, 'EUR', 3, true, '{}')`);
  expect(await ask(db, 'attribute_proposals')).toEqual([
    {
      ...{ meaning: 'availability', name: 'dostupnost', items: 5n, shops: 1n, known_pct: 80, coverage_pct: 50 },
      unknown_values: ['pitajte (1)'],
    },
  ]);
});
