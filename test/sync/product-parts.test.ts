import path from 'node:path';
import { expect, test } from 'vitest';
import { Database } from '../../src/duckdb/connection.js';
import { ProductParts } from '../../src/sync/product-parts.js';
import { makeLevel } from '../../src/sync/stage-derived.js';
import { makeFolder } from '../journal/folder.js';

/** Products and their items in each part that `makeLevel` makes of the items of a SELECT. */
async function makeInParts(items: string, { byProduct = true, partItems = 30n } = {}): Promise<string[][]> {
  const db = await Database.open();
  try {
    const folder = path.join(await makeFolder(), 'parts');
    await db.run(`CREATE VIEW items AS ${items}`);
    const read = async () => {
      const rows = await db.rows('SELECT product_id, count(*) AS n FROM items GROUP BY ALL ORDER BY ALL');
      return rows.map((row) => `${row.product_id} ${row.n}`);
    };
    const before = await read();
    const parts: string[][] = [];
    const plan = { folder, queries: ['SELECT product_id FROM items'], wholeItems: 50n, partItems };
    const level = [{ byProduct, reads: ['items'] as const }];
    await makeLevel(new ProductParts(db, plan), level, async () => void parts.push(await read()));
    expect(await read()).toEqual(before);
    return parts;
  } finally {
    await db.close();
  }
}

test('items are grouped in parts that hold each product whole, and all of them', async () => {
  const parts = await makeInParts('SELECT i AS item_id, CAST(i % 40 AS VARCHAR) AS product_id FROM range(100) AS t(i)');
  expect(parts).toHaveLength(4);
  const whole = Array.from({ length: 40 }, (_, product) => `${product} ${product < 20 ? 3 : 2}`);
  expect(parts.flat().sort()).toEqual(whole.sort());
});

test('items without a product are in no part, and a part may be empty', async () => {
  const parts = await makeInParts(
    "SELECT i AS item_id, CASE WHEN i < 5 THEN 'a' END AS product_id FROM range(100) AS t(i)",
  );
  expect(parts).toHaveLength(4);
  expect(parts.flat()).toEqual(['a 5']);
});

test('there are no more parts than a table may have small files, unless they would be too large', async () => {
  const items = (count: number) => `SELECT i AS item_id, CAST(i AS VARCHAR) AS product_id FROM range(${count}) AS t(i)`;
  expect(await makeInParts(items(100), { partItems: 3n })).toHaveLength(16);
  expect(await makeInParts(items(1000), { partItems: 30n })).toHaveLength(20);
});

test('few items are grouped at once', async () => {
  expect(await makeInParts("SELECT 1 AS item_id, 'a' AS product_id")).toEqual([['a 1']]);
});

test('a table that is not made by product sees all items at once', async () => {
  const parts = await makeInParts("SELECT i AS item_id, 'a' AS product_id FROM range(100) AS t(i)", {
    byProduct: false,
  });
  expect(parts).toEqual([['a 100']]);
});
