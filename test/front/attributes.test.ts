/** The values that offers get from the attributes that the pipeline file maps. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { Database } from '../../src/sql/connection.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { testIo } from '../run/world.js';
import type { Item } from '../sim/world.js';
import { openStory, type Story } from './story.js';

let story: Story;
beforeAll(async () => {
  story = await openStory();
  story.at('17 08:00');
});
afterAll(() => story.close());

type Told = Story['pipeline']['analysis']['attributes'];
type Given = Partial<Omit<Told, 'values'>> & { values?: Partial<Told['values']> };
const fill = ({ values, ...names }: Given): Told => ({
  ...names,
  values: { 'in stock': [], 'out of stock': [], 'on order': [], ...values },
});
const map = (attributes: Given, shops: Record<string, Given> = {}) => {
  const own = Object.entries(shops).map(([id, given]) => [id, { attributes: fill(given) }] as const);
  story.pipeline.analysis = {
    ...story.pipeline.analysis,
    ...{ attributes: fill(attributes), shops: Object.fromEntries(own) },
  };
};
let listings = 0;
const add = (attributes: Record<string, unknown>, values: Partial<Item> = {}): Item => {
  listings++;
  // The service sends values of any type.
  const given = attributes as Item['attributes'];
  const product = { brand: 'Bead', mpn: `B-${listings}`, ...values };
  // Table offers has products with two offers or more.
  story.add({ ...product, siteId: 33n, attributes: {} });
  return story.add({ siteId: 44n, ...product, attributes: given });
};
/** Reads a column of each of these items, one line each. */
const tell = async (items: readonly Item[], column: string) => {
  const rows = await story.read(
    `SELECT ${column} FROM offers WHERE item_id IN (${items.map(({ id }) => id).join(', ')}) ORDER BY item_id`,
  );
  expect(rows).toHaveLength(items.length);
  return rows;
};

describe('availability', () => {
  const TOLD: [value: unknown, availability: string | null][] = [
    ...['InStock', 'https://schema.org/InStock', 'in_stock', 'Na zalihi', 'AUF LAGER', 'skladem', 'В наличии'].map(
      (value): [string, string] => [value, 'in stock'],
    ),
    ...[true, 'true', 7, '12', '5 kom', '10+', 'da', 'LimitedAvailability', 0.5].map((value): [unknown, string] => [
      value,
      'in stock',
    ]),
    ...['http://schema.org/OutOfStock', 'out_of_stock', 'Discontinued', 'Rasprodano', 'Ausverkauft', 'Épuisé'].map(
      (value): [string, string] => [value, 'out of stock'],
    ),
    ...[false, 0, '0', '0 kom', 'ne', 'SoldOut', 'není skladem'].map((value): [unknown, string] => [
      value,
      'out of stock',
    ]),
    ...['BackOrder', 'preorder', 'PreSale', 'MadeToOrder', 'po narudžbi', 'Vorbestellbar'].map(
      (value): [string, string] => [value, 'on order'],
    ),
    ...['ask in the shop', '', null, -3, '<5', '2-3', '2026-12-01', '3/12', 'Reserved', {}, [], [[]]].map(
      (value): [unknown, null] => [value, null],
    ),
    [['OnlineOnly', 'InStock'], 'in stock'],
    [['InStock', 'OutOfStock'], null],
    [['InStock', 'Zagreb'], 'in stock'],
    [{ quantity: 0 }, 'out of stock'],
    [{ availability: 'InStock', quantity: 3 }, 'in stock'],
    [{ availability: 'InStock', quantity: 0 }, null],
    [[{ status: 'in_stock' }, { status: 'in_stock' }], 'in stock'],
    ['["SoldOut"]', 'out of stock'],
    ['[x', null],
  ];
  let items: Item[];

  test('is null if the pipeline file maps no attribute', async () => {
    items = TOLD.map(([value]) => add({ availability: value, stock: value }));
    await story.run();
    expect(new Set(await tell(items, 'availability'))).toEqual(new Set(['∅']));
  });

  test('is derived from the usual values of a mapped attribute, and is null for other values', async () => {
    map({ availability: ['availability'] });
    expect((await story.run()).published).toBe(true);
    const said = await tell(items, 'availability');
    expect(said.map((one, n) => [TOLD[n]?.[0], one])).toEqual(TOLD.map(([value, told]) => [value, told ?? '∅']));
    expect((await story.run()).published).toBe(false);
  });

  test('follows a change of the attribute', async () => {
    const item = add({ availability: 'InStock' });
    await story.run();
    expect(await tell([item], 'availability')).toEqual(['in stock']);
    story.change(item, { attributes: { availability: 'SoldOut' } });
    await story.run();
    expect(await tell([item], 'availability')).toEqual(['out of stock']);
  });

  test("is null if the attribute's name inverts the meaning of true, false and numbers", async () => {
    const turned = ['soldOut', 'out_of_stock', 'backorder'].map((name) => add({ [name]: true }));
    turned.push(add({ soldOut: 'yes' }), add({ soldOut: 0 }), add({ soldOut: 'SoldOut' }));
    map({ availability: ['soldOut', 'out_of_stock', 'backorder'] });
    await story.run();
    expect(await tell(turned, 'availability')).toEqual(['∅', '∅', '∅', '∅', '∅', 'out of stock']);
    const values = { 'out of stock': ['true'], 'in stock': ['false'] };
    map({ availability: ['soldOut', 'out_of_stock', 'backorder'], values });
    await story.run();
    expect(await tell(turned, 'availability')).toEqual([...Array(3).fill('out of stock'), '∅', '∅', 'out of stock']);
  });

  test('uses values in the pipeline file first: those of the website, then those for all websites', async () => {
    const given = ['1', '2', 'Pozovite!', '✓', 'pozovite'];
    const own = given.flatMap((value) => [11n, 22n].map((siteId) => add({ stanje: value }, { siteId })));
    const all = { 'on order': ['pozovite'], 'out of stock': ['1'], 'in stock': ['✓'] };
    map({ availability: ['stanje'], values: all }, { 22: { values: { 'in stock': ['POZOVITE'] } } });
    await story.run();
    expect(await tell(own, 'availability')).toEqual([
      ...['out of stock', 'out of stock'],
      ...['in stock', 'in stock'],
      ...['on order', 'in stock'],
      ...['in stock', 'in stock'],
      ...['on order', 'in stock'],
    ]);
  });

  test('may be mapped differently for a website, or not at all', async () => {
    const own = [11n, 22n, 33n].map((siteId) => add({ stock: 3, lager: 0 }, { siteId }));
    map({ availability: ['stock'] }, { 22: { availability: ['lager'] }, 33: { availability: [] } });
    await story.run();
    expect(await tell(own, 'availability')).toEqual(['in stock', 'out of stock', '∅']);
  });

  test('may be inside another attribute, given by a dotted path, but a dotted attribute name takes precedence', async () => {
    const inner = [add({ offers: { in: { stock: 'OutOfStock' } } }), add({ 'offers.in.stock': 4, offers: 'none' })];
    map({ availability: ['offers.in.stock'] });
    await story.run();
    expect(await tell(inner, 'availability')).toEqual(['out of stock', 'in stock']);
  });

  test('is null if two mapped attributes contradict each other', async () => {
    const both = [add({ a: 'InStock', b: 'SoldOut' }), add({ a: 'InStock', b: 'who knows' }), add({ b: 0 })];
    map({ availability: ['a', 'b'] });
    await story.run();
    expect(await tell(both, 'availability')).toEqual(['∅', 'in stock', 'out of stock']);
  });
});

describe('amounts', () => {
  const TOLD: [value: unknown, amount: string | null][] = [
    [4.99, '4.9900'],
    [0, '0.0000'],
    ['4,99', '4.9900'],
    ['4.99 EUR', '4.9900'],
    ['€ 4,5', '4.5000'],
    ['4,99\u00a0€', '4.9900'],
    ['1.299,50 €', '1299.5000'],
    ['1 299', '1299.0000'],
    ['12,345,678.90', '12345678.9000'],
    [0.125, '0.1250'],
    [2.7531, '2.7531'],
    [{ value: 3.5, currency: 'EUR' }, '3.5000'],
    [[{ country: 'HR', price: '2.50 EUR' }], '2.5000'],
    ['besplatno', '0.0000'],
    ['Free shipping', '0.0000'],
    ['1.299', null],
    ['4.99 USD', null],
    ['$ 4.99', null],
    [{ value: 3.5, currency: 'USD' }, null],
    [{ value: 3.5, price: 4 }, null],
    ['from 4.99', null],
    ['4.99-7.99', null],
    [-4.99, null],
    ['ping', null],
    [true, null],
    ['', null],
    [[2, 3], null],
    [[2, '3 USD'], null],
    [[2, '2,00'], '2.0000'],
    ['1e9', null],
    ['1,99 + 2', null],
  ];

  test('in a mapped attribute are exact, in the currency of the price, and null if they are ambiguous', async () => {
    const items = TOLD.map(([value]) => add({ shipping: value }, { price: 10_000 }));
    map({ shippingCost: ['shipping'] });
    await story.run();
    const said = await tell(items, "concat_ws(' ', coalesce(shipping_cost::VARCHAR, '∅'), delivered_price - price)");
    expect(said.map((one, n) => [TOLD[n]?.[0], one])).toEqual(
      TOLD.map(([value, told]) => [value, told === null ? '∅' : `${told} ${told}`]),
    );
  });

  test('of a regular price are null for a word such as free', async () => {
    const items = [add({ list: '24,99' }), add({ list: 'gratis' })];
    map({ regularPrice: ['list'] });
    await story.run();
    expect(await tell(items, 'regular_price')).toEqual(['24.9900', '∅']);
  });
});

describe('an offer', () => {
  const rows = () =>
    story.read(
      "SELECT site_id, condition, is_counted, findings, reason FROM offers WHERE product_id = 'acme-1' ORDER BY 1",
    );
  const spread = () =>
    story.read("SELECT trusted_shops, trusted_min, grade, left_out FROM price_spread WHERE product_id = 'acme-1'");

  test("isn't counted if it is out of stock, and isn't a reference for other offers", async () => {
    const product = { brand: 'Acme', mpn: '1', title: 'Radio' };
    const prices = [9000, 10_000, 10_100, 10_200].entries();
    const stock = ['SoldOut', 'InStock', 'BackOrder', 'ask'] as const;
    for (const [n, price] of prices) {
      story.add({
        ...product,
        siteId: BigInt(11 * (n + 1)),
        price,
        attributes: { stock: stock[n] ?? null, state: 'as usual' },
      });
    }
    map({});
    await story.run();
    expect(await spread()).toEqual(['4 | 90.0000 | A | 0']);
    map({ availability: ['stock'] });
    await story.run();
    expect(await rows()).toEqual([
      "11 | ∅ | false | ['out_of_stock'] | out of stock",
      ...['22 | ∅ | true | [] | ∅', '33 | ∅ | true | [] | ∅', '44 | ∅ | true | [] | ∅'],
    ]);
    expect(await spread()).toEqual(['3 | 100.0000 | B | 1']);
  });

  test('has the condition from a mapped attribute', async () => {
    story.add({
      brand: 'Acme',
      mpn: '1',
      title: 'Radio',
      siteId: 11n,
      price: 5000,
      attributes: { state: 'UsedCondition' },
    });
    map({ condition: ['state'] });
    await story.run();
    expect((await rows())[1]).toBe("11 | used | false | ['condition'] | used");
  });
});

test('verify computes the same offers from the settings in the lake', async () => {
  map({ availability: ['stock'], shippingCost: ['shipping'] }, { 33: { availability: [] } });
  await story.run();
  expect(await story.read('SELECT count(availability), count(shipping_cost) FROM offers')).not.toContain('0');
  const db = await Database.open();
  const options = { signal: new AbortController().signal };
  const proofs = await verifyLake(await openLake(story.lakePath, { create: false }), db, options, testIo);
  expect(proofs.filter(({ found }) => found > 0)).toEqual([]);
  db.close();
});
