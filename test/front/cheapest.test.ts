/** The cheapest offers in stock and including delivery, in each command that shows prices. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readJsonLine, runHere } from '../cli/pricelake.js';
import type { Item } from '../sim/world.js';
import { openStory, type Story } from './story.js';

const GTIN = '4006381333931';
const RADIO = { gtin: GTIN, title: 'Radio' };
let story: Story;
let folder: string;
beforeAll(async () => {
  story = await openStory();
  folder = path.dirname(story.lakePath);
  story.at('17 08:00');
  const sell = (siteId: bigint, price: number, stock: Item['attributes'], currency = 'EUR') =>
    story.add({ ...RADIO, siteId, price, currency, attributes: stock });
  sell(11n, 9000, { stock: 'SoldOut', shipping: 0 });
  sell(22n, 10_000, { stock: 'on request', shipping: '1.00' });
  sell(33n, 10_100, { stock: 'InStock', shipping: 9.5 });
  sell(44n, 10_200, { stock: 'InStock', shipping: 'free' });
  sell(44n, 43_000, { stock: 'InStock', shipping: 1 }, 'PLN');
  story.pipeline.analysis.attributes.availability = ['stock'];
  await story.run();
  await writeFile(path.join(folder, 'list.csv'), `product,price,currency\n${GTIN},110,EUR\n`);
  await writeFile(path.join(folder, 'rates.csv'), 'date,currency,rate\n2026-11-01,PLN,4.3\n');
});
afterAll(() => story.close());

const ask = async (...args: string[]) => {
  const outcome = await runHere([...args, '--lake', story.lakePath], { cwd: folder });
  expect(outcome.stderr).toBe('');
  return outcome;
};
const askRows = async (...args: string[]) =>
  readJsonLine(await ask(...args, '--json')).rows as Record<string, unknown>[];

test('spread shows the cheapest shop with stock', async () => {
  expect(await askRows('spread')).toMatchObject([
    {
      trusted_min: 100,
      in_stock_min: 101,
      in_stock_shop: 'Market',
      delivered_min: null,
      delivered_shop: null,
    },
  ]);
  const { stdout } = await ask('spread');
  expect(stdout).toContain('in stock at');
  expect(stdout).not.toContain('delivered');
});

test('spread shows the cheapest shop including delivery once the pipeline file maps the delivery cost', async () => {
  story.pipeline.analysis.attributes.shippingCost = ['shipping'];
  await story.run();
  expect(await askRows('spread')).toMatchObject([
    { in_stock_min: 101, in_stock_shop: 'Market', delivered_min: 101, delivered_shop: 'Museum' },
  ]);
  expect((await ask('spread')).stdout).toContain('delivered by');
});

test('with exchange rates, a delivery cost without a currency is unknown', async () => {
  expect(await askRows('spread', '--fx', 'rates.csv')).toMatchObject([
    { trusted_shops: 3, in_stock_min: 100, in_stock_shop: 'Depot', delivered_min: null },
  ]);
});

test('spread of one product shows availability and delivered price of each offer', async () => {
  const rows = await askRows('spread', '--product', GTIN, '--currency', 'EUR');
  const told = rows.map(({ shop, availability, delivered_price }) => [shop, availability, delivered_price]);
  expect(told).toEqual([
    ['Kiosk', 'out of stock', 90],
    ['Museum', 'on order', 101],
    ['Market', 'in stock', 110.5],
    ['Depot', 'in stock', 102],
  ]);
});

test('watch compares with the cheapest in stock and including delivery', async () => {
  expect(await askRows('watch', '--list', 'list.csv')).toMatchObject([
    {
      ...{ cheapest: 100, in_stock_cheapest: 101, in_stock_shop: 'Market' },
      ...{ delivered_cheapest: 101, delivered_shop: 'Museum', left_out: ['90.0000 Kiosk: out of stock'] },
    },
  ]);
  expect((await ask('watch', '--list', 'list.csv')).stdout).toContain('in stock at');
});

test('the report shows both with the offers', async () => {
  await ask('report', '--output', path.join(folder, 'report.html'), '--product', GTIN);
  const page = (await readFile(path.join(folder, 'report.html'), 'utf8')).replace(/<[^>]*>/g, '');
  expect(page).toMatch(/Lowest in stock now101\.00 EUR Market,/u);
  expect(page).toMatch(/Lowest, on order100\.00 EUR Museum,/u);
  expect(page).toMatch(/Lowest delivered101\.00 EUR Museum,/u);
  expect(page).toContain('on order');
});
