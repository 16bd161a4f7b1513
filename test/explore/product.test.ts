/** A product's page beside what its history and SQL asked by hand tell. */
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
  story.add({
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
  const tea = { gtin: '4006381333948', currency: 'EUR', siteId: 11n };
  story.add({ ...tea, title: 'Tea, 2 boxes', price: 700 });
  story.add({ ...tea, title: 'Tea', price: 400 });
  story.add({ ...tea, siteId: 22n, title: 'Tea', price: 500 });
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

test('offers say stock, delivered, regular and per-unit prices as the table of offers has them', async () => {
  const page = await explored.page(PATH);
  const [, table = ''] = /data-analysis="offers">([\s\S]*?)<\/table>/u.exec(page) ?? [];
  const shown = [...table.matchAll(/<tr role="row"><th scope="row"[\s\S]*?<\/tr>/gu)].map(([row]) => {
    const read = (label: string) =>
      toText(new RegExp(`data-label="${label}"[^>]*>([\\s\\S]*?)</td>`, 'u').exec(row)?.[1] ?? '');
    return ['Price', 'Stock', 'Delivered', 'Regular', 'Per unit', 'Unit'].map(read).join(' ');
  });
  const byHand = await story.read(`
    SELECT concat_ws(' ', price::DECIMAL(9, 2), coalesce(availability, '–'), coalesce(delivered_price::DECIMAL(9, 2)::VARCHAR, '–'),
      coalesce(regular_price::DECIMAL(9, 2)::VARCHAR, '–'), unit_price::DECIMAL(9, 2), unit) AS line
    FROM offers WHERE product_id = '4006381333931' ORDER BY price`);
  expect(shown).toEqual(byHand);
  expect(shown).toEqual([
    '9.00 in stock 14.00 11.00 18.00 kg',
    '10.00 in stock 10.00 – 20.00 kg',
    '12.00 – – – 24.00 kg',
  ]);
  expect(toText(page)).toContain('Cheapest in stock: 9.00 EUR at Kiosk. Cheapest delivered: 10.00 EUR at Museum.');
});

test.each([
  // The price of 8.00 stood until the 15th.
  ['7', 'Today from 9.00 EUR at Kiosk: 25 % above the low on the way to the high of this period (8.00–12.00).'],
  [
    '30',
    'Today from 9.00 EUR at Kiosk: 25 % above the low on the way to the high of this period (8.00–12.00). In the last 30 days it was 8.00 EUR at Market.',
  ],
])("today's lowest price has its place in %s days", async (days, sentence) => {
  const [lowest, highest] = await story.read(`
    WITH told AS (
      SELECT observed_at AS from_at, lead(observed_at) OVER (PARTITION BY item_id ORDER BY observed_at) AS to_at, price, kind
      FROM history WHERE item_id IN (SELECT item_id FROM items WHERE product_id = '4006381333931')
    )
    SELECT unnest([min(price), max(price)])::DECIMAL(9, 2) AS line FROM told
    WHERE kind <> 'REMOVED' AND coalesce(to_at, 'infinity') > TIMESTAMPTZ '2026-11-21 00:00:00Z' - INTERVAL ${days} DAY`);
  expect([lowest, highest]).toEqual(['8.00', '12.00']);
  const text = toText(await explored.page(`${PATH}?days=${days}`));
  expect(text).toContain(sentence);
  expect(text.includes('In the last 30 days')).toBe(days === '30');
});

/** The days of November at which a path of the chart begins and ends. */
function readDays(path: string): [number, number][] {
  const [first, last, left, right] = [1, 21, 48, 328];
  const toDay = (x: string) => Math.round((first + ((Number(x) - left) / (right - left)) * (last - first)) * 10) / 10;
  return path
    .split('M')
    .filter((part) => part !== '')
    .map((part) => {
      const ends = [/^([\d.]+)/u, /H([\d.]+)$/u].map((place) => toDay(place.exec(part)?.[1] ?? ''));
      return ends as [number, number];
    });
}

test('the chart breaks where a shop did not list it, and is dashed while it had none', async () => {
  const page = await explored.page(`${PATH}?days=all`);
  const lines = [...page.matchAll(/<g class="line-\d+">([\s\S]*?)<\/g>/gu)].map(([, line = '']) => ({
    name: toText(/class="name"[^>]*>([^<]*)/u.exec(line)?.[1] ?? ''),
    price: readDays(/class="price" d="([^"]*)"/u.exec(line)?.[1] ?? ''),
    out: readDays(/class="out" d="([^"]*)"/u.exec(line)?.[1] ?? ''),
  }));
  const near = (days: [number, number][]) => days.map((pair) => pair.map((day) => expect.closeTo(day, 0)));
  expect(lines).toEqual([
    { name: 'Kiosk', price: near([[1, 21]]), out: [] },
    { name: 'Museum', price: near([[1, 21]]), out: near([[3, 6]]) },
    { name: 'Market', price: near([[1, 5], [9, 21]]), out: [] }, // biome-ignore format: a line each
  ]);
  expect(page).toContain('and is dashed while it had none in stock');
  const outs = await explored.page('/analyses/stock_outs.csv?product=4006381333931');
  expect(outs).toMatch(/^\d+,22,Museum,2026-11-03T00:00:\d\S*Z,2026-11-06T00:00:\d\S*Z,true,/mu);
  expect(outs.trimEnd().split('\r\n')).toHaveLength(2);
});

test('offers of one shop have numbers in the chart, the cheapest first', async () => {
  const page = await explored.page('/products/4006381333948?days=all');
  const names = [...page.matchAll(/class="name"[^>]*>([^<]*)/gu)].map(([, name]) => name);
  expect(names).toEqual(['Kiosk 1', 'Museum', 'Kiosk 2']);
});

test('changes are told in words, and a change that is only a price tells no other values', async () => {
  const text = toText(await explored.page(PATH));
  expect(text).toContain('Title: Coffee 500 g → Coffee, 500 g');
  expect(text).not.toContain('{"');
});
