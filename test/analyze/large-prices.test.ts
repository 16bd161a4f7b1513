import { afterAll, expect, it } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { readAnalysis, readModel } from '../../src/sql/model.js';
import { loadHistoryWorld } from './history-world.js';

const PRICES = ['9999999999.9999', '10000000000.0000', '10000000000.0001', '99999999999999.9999'];

const db = await Database.open();
await loadHistoryWorld(db, []);
await db.run(
  `INSERT INTO items BY NAME
   SELECT n AS item_id, 'p' AS product_id, n AS site_id, 'EUR' AS currency, true AS is_listed,
     CAST(($1::VARCHAR[])[n] AS DECIMAL(18, 4)) AS price, (price - 1)::DECIMAL(18, 4) AS previous_price
   FROM range(1, 5) t(n)`,
  [`[${PRICES.join(', ')}]`],
);
await db.run(`CREATE TABLE product_prices AS ${readModel('product_prices')}`);
await db.run(`CREATE TABLE offers AS ${readAnalysis('judged_offers')}`);
afterAll(() => db.close());

it('prices near 10^10, whose integer products would overflow, are exact in price_spread', async () => {
  expect(await readEnds('price_spread')).toEqual(ENDS);
});

it('prices near 10^10, whose integer products would overflow, are exact in price_spread_daily', async () => {
  for (const variable of ['first_day', 'last_day']) await db.run(`SET VARIABLE ${variable} = DATE '2026-01-01'`);
  await db.run(`CREATE TABLE offer_prices AS ${readAnalysis('offer_prices')}`);
  expect(await readEnds('price_spread_daily')).toEqual(ENDS);
});

const ENDS = { offers: '4', min: PRICES[0], median: '10000000000.0001', max: PRICES[3] };

async function readEnds(name: string): Promise<Record<string, string>> {
  const row = await db.row(`SELECT offers, "min", median, "max" FROM (${readAnalysis(name)})`);
  return Object.fromEntries(Object.entries(row ?? {}).map(([key, value]) => [key, String(value)]));
}
