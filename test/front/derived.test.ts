/** Tables computed from items and history, with rows that a person can verify by counting. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Item } from '../sim/world.js';
import { openStory, type Story } from './story.js';

const GTIN = '4006381333931';
const CAMERA = { brand: 'Acme', mpn: 'C-1', title: 'Camera' };
let story: Story;
const pens: Item[] = [];
beforeAll(async () => {
  story = await openStory({ habits: { daily: 5 } });
  story.pipeline.source.products = 'all';
  story.at('17 08:00');
  // One pen in four shops, with three notations of its code. One shop's price is far off.
  const offers = [
    { siteId: 11n, price: 1000, gtin: GTIN },
    { siteId: 22n, price: 1200, gtin: `0${GTIN}` },
    { siteId: 33n, price: 1100, gtin: GTIN },
    { siteId: 44n, price: 90_000, gtin: GTIN },
  ];
  for (const offer of offers) pens.push(story.add({ title: 'Pen', brand: 'Acme', ...offer }));
  // One camera in two shops and two currencies, and one without a price.
  story.add({ ...CAMERA, siteId: 11n, price: 20_000 });
  story.add({ ...CAMERA, siteId: 22n, price: 25_000 });
  story.add({ ...CAMERA, siteId: 33n, price: 510_000, currency: 'CZK' });
  story.add({ ...CAMERA, siteId: 44n, price: null });
  // Forty more items of the last shop, which sells in one currency. Compared with these, one product is a small part.
  for (let n = 0; n < 40; n++) story.add({ brand: 'Bead', mpn: `B-${n}`, siteId: 44n, price: 10 + n });
  story.at('18 08:00');
  await story.run();
});
afterAll(() => story.close());

const read = (columns: string, table: string, order: string) =>
  story.read(`SELECT ${columns} FROM ${table} WHERE product_id IN ('${GTIN}', 'acme-c1') ORDER BY ${order}`);
const products = () => read('product_id, title, offers, shops', 'products', 'product_id');
const prices = () => read('product_id, currency, min, max, offers', 'product_prices', 'product_id, currency');
const spreads = () =>
  read(
    `product_id, currency, offers, shops, min, median, max, mean, spread, spread_pct, cheapest_site_id, dearest_site_id,
    left_out, trusted_median, grade, trusted_min, trusted_max, attribution`,
    'price_spread',
    'product_id, currency',
  );
const offers = () =>
  read('product_id, site_id, price, is_counted, findings, price_ratio', 'offers', 'product_id, currency, site_id');
const days = () =>
  read(
    'CAST(day AS VARCHAR), product_id, currency, offers, shops, min, median, max, cheapest_site_id',
    'price_spread_daily',
    'day, product_id, currency',
  );

test('products and their prices are counted by product and currency', async () => {
  expect(await products()).toEqual(['4006381333931 | Pen | 4 | 4', 'acme-c1 | Camera | 4 | 4']);
  expect(await prices()).toEqual([
    '4006381333931 | EUR | 10.0000 | 900.0000 | 4',
    'acme-c1 | CZK | 5100.0000 | 5100.0000 | 1',
    'acme-c1 | EUR | 200.0000 | 250.0000 | 2',
  ]);
});

test('spreads leave out prices that are far off, and offers show the findings about them', async () => {
  expect(await spreads()).toEqual([
    "4006381333931 | EUR | 4 | 4 | 10.0000 | 11.5000 | 900.0000 | 233.2500 | 890.0000 | 8900 | 11 | 44 | 1 | 11.0000 | B | 10.0000 | 12.0000 | ['CC BY 4.0']",
    "acme-c1 | EUR | 2 | 2 | 200.0000 | 225.0000 | 250.0000 | 225.0000 | 50.0000 | 25 | 11 | 22 | 0 | 225.0000 | B | 200.0000 | 250.0000 | ['CC BY 4.0']",
  ]);
  expect(await offers()).toEqual([
    '4006381333931 | 11 | 10.0000 | true | [] | 0.8695652173913043',
    '4006381333931 | 22 | 12.0000 | true | [] | 1.0434782608695652',
    '4006381333931 | 33 | 11.0000 | true | [] | 0.9565217391304348',
    "4006381333931 | 44 | 900.0000 | false | ['scale'] | 78.26086956521739",
    'acme-c1 | 11 | 200.0000 | true | [] | 0.8888888888888888',
    'acme-c1 | 22 | 250.0000 | true | [] | 1.1111111111111112',
  ]);
});

test('the usual currency is that of a shop with twenty prices in one currency', async () => {
  expect(await story.read('SELECT site_id, currency FROM shop_currencies')).toEqual(['44 | EUR']);
});

test("service_products contains the service's products as the service counts them", async () => {
  expect(await read('service_id, product_id, offers, shops, prices', 'service_products', 'service_id')).toEqual([
    '4006381333931 | 4006381333931 | 4 | 4 | [{"currency":"EUR","min":"10","max":"900","offers":"4"}]',
    'Acme-C-1 | acme-c1 | 4 | 4 | [{"currency":"CZK","min":"5100","max":"5100","offers":"1"},{"currency":"EUR","min":"200","max":"250","offers":"2"}]',
  ]);
});

test('a change of one product rewrites its rows, and other rows keep their run', async () => {
  story.at('19 08:00');
  story.change(pens[3] as Item, { price: 1300 });
  story.remove(pens[0] as Item);
  story.at('20 08:00');
  const { row } = await story.run();
  expect(row.mode).toBe('feed');
  expect(await products()).toEqual(['4006381333931 | Pen | 3 | 3', 'acme-c1 | Camera | 4 | 4']);
  expect(await prices()).toEqual([
    '4006381333931 | EUR | 11.0000 | 13.0000 | 3',
    'acme-c1 | CZK | 5100.0000 | 5100.0000 | 1',
    'acme-c1 | EUR | 200.0000 | 250.0000 | 2',
  ]);
  expect(await spreads()).toEqual([
    "4006381333931 | EUR | 3 | 3 | 11.0000 | 12.0000 | 13.0000 | 12.0000 | 2.0000 | 18.181818181818183 | 33 | 44 | 0 | 12.0000 | B | 11.0000 | 13.0000 | ['CC BY 4.0']",
    "acme-c1 | EUR | 2 | 2 | 200.0000 | 225.0000 | 250.0000 | 225.0000 | 50.0000 | 25 | 11 | 22 | 0 | 225.0000 | B | 200.0000 | 250.0000 | ['CC BY 4.0']",
  ]);
  expect(await offers()).toEqual([
    '4006381333931 | 22 | 12.0000 | true | [] | 1',
    '4006381333931 | 33 | 11.0000 | true | [] | 0.9166666666666666',
    '4006381333931 | 44 | 13.0000 | true | [] | 1.0833333333333333',
    'acme-c1 | 11 | 200.0000 | true | [] | 0.8888888888888888',
    'acme-c1 | 22 | 250.0000 | true | [] | 1.1111111111111112',
  ]);
  const runs = `SELECT product_id, run_id = '${row.run_id}' FROM price_spread ORDER BY product_id`;
  expect(await story.read(runs)).toEqual(['4006381333931 | true', 'acme-c1 | false']);
});

test('closed days have the spreads of the prices at their end', async () => {
  expect(await days()).toEqual([
    '2026-11-17 | 4006381333931 | EUR | 4 | 4 | 10.0000 | 11.5000 | 900.0000 | 11',
    '2026-11-17 | acme-c1 | EUR | 2 | 2 | 200.0000 | 225.0000 | 250.0000 | 11',
    '2026-11-18 | 4006381333931 | EUR | 4 | 4 | 10.0000 | 11.5000 | 900.0000 | 11',
    '2026-11-18 | acme-c1 | EUR | 2 | 2 | 200.0000 | 225.0000 | 250.0000 | 11',
  ]);
});

test('a late change recomputes the days from its own day onward', async () => {
  story.at('18 12:00');
  story.change(pens[1] as Item, { price: 1150 });
  story.at('21 08:00');
  story.change(pens[2] as Item, { price: 1160 });
  await story.run();
  expect(await days()).toEqual([
    '2026-11-17 | 4006381333931 | EUR | 4 | 4 | 10.0000 | 11.5000 | 900.0000 | 11',
    '2026-11-17 | acme-c1 | EUR | 2 | 2 | 200.0000 | 225.0000 | 250.0000 | 11',
    '2026-11-18 | 4006381333931 | EUR | 4 | 4 | 10.0000 | 11.2500 | 900.0000 | 11',
    '2026-11-18 | acme-c1 | EUR | 2 | 2 | 200.0000 | 225.0000 | 250.0000 | 11',
    '2026-11-19 | 4006381333931 | EUR | 3 | 3 | 11.0000 | 11.5000 | 13.0000 | 33',
    '2026-11-19 | acme-c1 | EUR | 2 | 2 | 200.0000 | 225.0000 | 250.0000 | 11',
    '2026-11-20 | 4006381333931 | EUR | 3 | 3 | 11.0000 | 11.5000 | 13.0000 | 33',
    '2026-11-20 | acme-c1 | EUR | 2 | 2 | 200.0000 | 225.0000 | 250.0000 | 11',
  ]);
});

test('an offer that moves to another product is counted only there', async () => {
  story.at('22 08:00');
  const moved = story.world.visibleItems().find(({ currency }) => currency === 'CZK') as Item;
  story.change(moved, { gtin: GTIN });
  await story.run();
  expect(await products()).toEqual(['4006381333931 | Pen | 4 | 3', 'acme-c1 | Camera | 3 | 3']);
  expect(await prices()).toEqual([
    '4006381333931 | CZK | 5100.0000 | 5100.0000 | 1',
    '4006381333931 | EUR | 11.5000 | 13.0000 | 3',
    'acme-c1 | EUR | 200.0000 | 250.0000 | 2',
  ]);
});

test('a shop that changes its currency has no usual currency in between, and then the new one', async () => {
  const currencies = async () => {
    await story.run();
    return story.read('SELECT site_id, currency FROM shop_currencies');
  };
  const beads = story.world.visibleItems().filter(({ brand }) => brand === 'Bead');
  story.at('23 08:00');
  for (const bead of beads.slice(0, 3)) story.change(bead, { currency: 'CZK' });
  expect(await currencies()).toEqual([]);
  story.at('24 08:00');
  for (const bead of beads.slice(3)) story.change(bead, { currency: 'CZK' });
  expect(await currencies()).toEqual(['44 | CZK']);
  // Eighteen prices are too few to determine a usual currency.
  story.at('25 08:00');
  for (const bead of beads.slice(18)) story.remove(bead);
  expect(await currencies()).toEqual([]);
});
