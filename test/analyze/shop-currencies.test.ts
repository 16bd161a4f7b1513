import { afterAll, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { readModel } from '../../src/sql/model.js';

const db = await Database.open();
await db.run("SET VARIABLE run_id = 'run-1'");
afterAll(() => db.close());

/** Returns the usual currency of website 1 with these counts of items by currency, after the update `others`. */
async function find(counts: Record<string, number>, others = 'false'): Promise<unknown> {
  const rows = Object.entries(counts).map(([currency, n]) => `SELECT '${currency}' AS currency FROM range(${n})`);
  await db.run(`CREATE OR REPLACE TABLE items AS
    SELECT 1::BIGINT AS site_id, true AS is_listed, nullif(currency, '') AS currency, 2.5::DECIMAL(18, 4) AS price
    FROM (${rows.join(' UNION ALL ')})`);
  if (others !== 'false') await db.run(`UPDATE items SET ${others}`);
  const [row] = await db.rows(readModel('shop_currencies'));
  return row?.currency;
}

test('the usual currency of a website is that of at least 95 percent of its items', async () => {
  expect(await find({ EUR: 95, USD: 5 })).toBe('EUR');
  expect(await find({ USD: 5, EUR: 95 })).toBe('EUR');
  expect(await find({ EUR: 94, USD: 6 })).toBeUndefined();
});

test('a website with fewer than 20 items has no usual currency', async () => {
  expect(await find({ EUR: 20 })).toBe('EUR');
  expect(await find({ EUR: 19 })).toBeUndefined();
  expect(await find({ EUR: 19, USD: 1 })).toBe('EUR');
});

test('only listed items with a price and a currency are counted', async () => {
  expect(await find({ EUR: 20, '': 20 })).toBe('EUR');
  expect(await find({ EUR: 20 }, 'is_listed = false')).toBeUndefined();
  expect(await find({ EUR: 20 }, 'price = NULL')).toBeUndefined();
  expect(await find({ EUR: 19, '': 20 })).toBeUndefined();
});
