import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { readModel } from '../../src/sql/model.js';
import { loadRows } from '../load-rows.js';

let db: Database;
beforeAll(async () => {
  db = await Database.open();
  await db.run("SET VARIABLE run_id = 'this run'");
});
afterAll(() => db.close());

test('a product has a range of prices a currency, over its listed and priced offers', async () => {
  const offer = { product_id: 'p', is_listed: true, currency: 'EUR', price: 10 };
  const offers = [
    offer,
    { ...offer, price: '12345678901234.5678' },
    { ...offer, price: 12 },
    { ...offer, currency: 'CHF', price: 7 },
    { ...offer, product_id: 'q', price: 8 },
    { ...offer, is_listed: false, price: 1 },
    { ...offer, product_id: null, price: 1 },
    { ...offer, currency: null, price: 1 },
    { ...offer, price: null },
    { ...offer, product_id: 'r', price: null },
    { ...offer, product_id: 'r', is_listed: false, price: null, currency: null },
  ];
  await loadRows(
    db,
    'items',
    'items',
    offers.map((row, item_id) => ({ item_id, ...row })),
  );
  const rows = await db.rows(
    `SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (${readModel('product_prices')}) ORDER BY product_id, currency`,
  );
  expect(rows).toEqual([
    { product_id: 'p', currency: 'CHF', min: '7.0000', max: '7.0000', offers: '1', run_id: 'this run' },
    { product_id: 'p', currency: 'EUR', min: '10.0000', max: '12345678901234.5678', offers: '3', run_id: 'this run' },
    { product_id: 'q', currency: 'EUR', min: '8.0000', max: '8.0000', offers: '1', run_id: 'this run' },
  ]);
});
