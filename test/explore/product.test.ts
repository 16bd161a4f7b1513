/** Compares a product's page with its history and with separate SQL. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStory, type Story } from '../front/story.js';
import { type Explored, explore } from './explored.js';

const COFFEE = { gtin: '4006381333931', title: 'Coffee 500 g', currency: 'EUR' };
const PATH = '/products/4006381333931';
let story: Story;
let explored: Explored;
beforeAll(async () => {
  story = await openStory();
  Object.assign(story.pipeline.analysis.attributes, {
    ...{ availability: ['stock'], shippingCost: ['shipping'], regularPrice: ['regular'] },
    ...{ quantity: ['pack'] },
  });
  story.at('01 00:00');
  const kiosk = story.add({
    ...COFFEE,
    siteId: 11n,
    price: 900,
    attributes: { pack: '500 g', stock: 'InStock', shipping: 5, regular: 11 },
  });
  const museum = story.add({
    ...COFFEE,
    siteId: 22n,
    price: 1000,
    attributes: { pack: '500 g', stock: 'InStock', shipping: 0 },
  });
  const market = story.add({ ...COFFEE, siteId: 33n, price: 800, attributes: { pack: '500 g' } });
  const depot = story.add({ ...COFFEE, siteId: 44n, price: 700, attributes: { pack: '500 g', stock: 'InStock' } });
  const tea = { gtin: '4006381333948', currency: 'EUR', siteId: 11n };
  story.add({ ...tea, title: 'Tea, 2 boxes', price: 700 });
  story.add({ ...tea, title: 'Tea', price: 400 });
  story.add({ ...tea, siteId: 22n, title: 'Tea', price: 500 });
  const cocoa = { gtin: '4006381333955', title: 'Cocoa' };
  for (let n = 0; n < 3; n++) story.add({ ...cocoa, currency: 'EUR', siteId: 11n, price: 300 + n });
  for (const siteId of [22n, 33n]) story.add({ ...cocoa, currency: 'PLN', siteId, price: 1_400 });
  await story.run();
  story.at('03 00:00');
  story.change(museum, { attributes: { stock: 'SoldOut', shipping: 0 } });
  story.at('05 00:00');
  story.remove(market);
  story.at('06 00:00');
  story.change(museum, { attributes: { pack: '500 g', stock: 'InStock', shipping: 0 } });
  story.at('09 00:00');
  story.relist(market);
  story.at('15 00:00');
  story.change(market, { previousPrice: 800, price: 1200, title: 'Coffee, 500 g' });
  story.at('17 00:00');
  story.change(kiosk, { previousPrice: 900, price: 1200 });
  story.at('18 00:00');
  story.change(depot, { attributes: { pack: '500 g', stock: 'SoldOut' } });
  story.at('19 00:00');
  story.change(kiosk, { previousPrice: 1200, price: 850 });
  story.at('21 00:00');
  story.add({ brand: 'Other', mpn: '1', siteId: 44n, price: 100 });
  await story.run();
  explored = await explore(story);
});
afterAll(async () => {
  await explored.close();
  await story.close();
});

const toText = (html: string) => html.replaceAll(/<[^>]*>/gu, '').replaceAll(/\s+/gu, ' ');

test('offers show stock, delivered, regular and unit prices as the table offers has them', async () => {
  const page = await explored.page(PATH);
  const [, table = ''] = /data-analysis="offers">([\s\S]*?)<\/table>/u.exec(page) ?? [];
  const shown = [...table.matchAll(/<tr role="row"><th scope="row"[\s\S]*?<\/tr>/gu)].map(([row]) => {
    const read = (label: string) =>
      toText(new RegExp(`data-label="${label}"[^>]*>([\\s\\S]*?)</td>`, 'u').exec(row)?.[1] ?? '');
    return ['Price', 'Stock', 'Delivered', 'Announced as', 'Per unit', 'Unit'].map(read).join(' ');
  });
  const byHand = await story.read(`
    SELECT concat_ws(' ', price::DECIMAL(9, 2), coalesce(availability, '–'), coalesce(delivered_price::DECIMAL(9, 2)::VARCHAR, '–'),
      coalesce('was ' || regular_price::DECIMAL(9, 2) || ' not honest', '–'), unit_price::DECIMAL(9, 2), unit) AS line
    FROM offers WHERE product_id = '4006381333931' ORDER BY price`);
  expect(shown).toEqual(byHand);
  expect(shown).toEqual([
    '7.00 out of stock – – 14.00 kg',
    '8.50 in stock 13.50 was 11.00 not honest 17.00 kg',
    '10.00 in stock 10.00 – 20.00 kg',
    '12.00 – – – 24.00 kg',
  ]);
});

test('the top of the page shows the lowest price in stock, with its shop, its start and when it was seen', async () => {
  const text = toText(await explored.page(PATH));
  expect(text).toMatch(/Lowest in stock now8\.50 EUR Kiosk, since 19 Nov 2026, seen \d+ Nov 2026/u);
  expect(text).toMatch(/Lowest delivered10\.00 EUR Museum, /u);
});

test("the best price has its lowest, average and highest value, and offers that don't count are not quoted", async () => {
  // Market asked 8.00 until the 5th, and from the 9th to the 15th; Kiosk 9.00 between and until the 17th, and 8.50 since
  // the 19th; Museum 10.00 between.
  // Depot always asked 7.00, but is now out of stock.
  const mean = ((8 * 10 + 9 * 6 + 10 * 2 + 8.5 * 2) / 20).toFixed(2);
  const page = await explored.page(PATH);
  const rows = [
    ...(/<table class="ranges">([\s\S]*?)<\/table>/u.exec(page)?.[1] ?? '').matchAll(/<tr>([\s\S]*?)<\/tr>/gu),
  ];
  const cells = rows.map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/gu)].map(([, cell = '']) => toText(cell)),
  );
  expect(cells.slice(1)).toEqual(
    ['30 days 20 days known', '90 days 20 days known', 'all time 20 days known'].map((span) => [
      ...[span, '8.00', mean, '10.00', '+6.3 %'],
    ]),
  );
  expect(toText(page)).toContain(
    'Now 8.50 EUR is 0.50 EUR (6.3 %) above the 90-day low of 8.00 EUR at Market, until 15 Nov 2026.',
  );
});

test("the page compares an announced reduction with the shop's earlier price", async () => {
  expect(toText(await explored.page(PATH))).toContain(
    'Kiosk says “was 11.00, now 8.50 EUR”. Not honest: it asked 9.00 within the 30 days before the reduction.',
  );
});

test('the currency with most shops comes first', async () => {
  const text = toText(await explored.page('/products/4006381333955'));
  expect(text).toContain('2 offers in PLN');
  expect(text).toContain('also in EUR');
});

/** The days of November at which a path of the chart begins and ends. */
function readDays(path: string): [number, number][] {
  const [first, last, width] = [1, 21, 1000];
  const toDay = (x: string) => Math.round((first + (Number(x) / width) * (last - first)) * 10) / 10;
  return path
    .split('M')
    .filter((part) => part !== '')
    .map((part) => {
      const ends = [/^([\d.]+)/u, /H([\d.]+)$/u].map((place) => toDay(place.exec(part)?.[1] ?? ''));
      return ends as [number, number];
    });
}

test("the chart has one line per shop, with a gap while the shop didn't list the product or had none in stock", async () => {
  const page = await explored.page(`${PATH}?days=all`);
  const names = [...page.matchAll(/<li class="(line-\d)[^"]*"><bdi>([^<]*)/gu)].map(([, key, name]) => [key, name]);
  const lines = Object.fromEntries(
    names.map(([key, name]) => {
      const [, path = ''] = new RegExp(`class="price ${key}[^"]*" d="([^"]*)"`, 'u').exec(page) ?? [];
      return [name, readDays(path)];
    }),
  );
  const near = (days: [number, number][]) => days.map((pair) => pair.map((day) => expect.closeTo(day, 0)));
  expect(lines).toEqual({
    Kiosk: near([[1, 21]]),
    Museum: near([
      [1, 3],
      [6, 21],
    ]),
    Market: near([
      [1, 5],
      [9, 21],
    ]),
    Depot: near([[1, 18]]), // biome-ignore format: a line each
  });
  expect(page).toContain('A line breaks while a shop did not list the product or had none in stock');
  const outs = await explored.page('/analyses/stock_outs.csv?product=4006381333931');
  expect(outs).toMatch(/^\d+,22,Museum,2026-11-03T00:00:\d\S*Z,2026-11-06T00:00:\d\S*Z,true,/mu);
});

test('a shop with several listings has one line at its lowest price', async () => {
  const page = await explored.page('/products/4006381333948?days=all');
  const names = [...page.matchAll(/<li class="line-\d"><bdi>([^<]*)<\/bdi> <span class="money">([^<]*)/gu)];
  expect(names.map(([, name, price]) => `${name} ${price}`)).toEqual(['Kiosk 4.00', 'Museum 5.00']);
});

test('changes are described in words, and a pure price change shows no other values', async () => {
  const text = toText(await explored.page(PATH));
  expect(text).toContain('Title: Coffee 500 g → Coffee, 500 g');
  expect(text).not.toContain('{"');
});

test.each([
  ['2026-11-02', '2026-11-04', 1, 0],
  ['2026-11-05', '2026-11-07', 0, 1],
  ['2026-11-02', '2026-11-07', 0, 0],
])('Today shows what ran out of stock and came back from %s to %s', async (date, until, out, back) => {
  const page = await explored.page(`/?date=${date}&until=${until}`);
  const read = (name: string) => {
    const [, value = '0'] = new RegExp(`<dt>${name}</dt><dd>([\\s\\S]*?)</dd>`, 'u').exec(page) ?? [];
    return Number(value.replaceAll(/<[^>]*>/gu, ''));
  };
  expect([read('Out of stock'), read('Back in stock')]).toEqual([out, back]);
});
