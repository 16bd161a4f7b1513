import path from 'node:path';
import { expect, test } from 'vitest';
import { RowsInParts } from '../../src/run/apply/rows-in-parts.js';
import { Database, type DuckDbOptions } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { code, type Sql, sql } from '../../src/sql/sql.js';
import { countParts, divideTables } from '../../src/wings/derived/product-parts.js';
import { makeFolder } from '../journal/folder.js';

type Limits = { partItems?: bigint } & Pick<DuckDbOptions, 'memoryLimit' | 'mostMemory'>;

/** The products and their numbers of items, in each part of the items that a SELECT returns. */
async function divide(items: string, { partItems = 30n, ...memory }: Limits = {}): Promise<string[][]> {
  const db = await Database.open(memory);
  const graph = new RelationGraph(db);
  try {
    const folder = path.join(await makeFolder(), 'parts');
    const rows = graph.view('items', code(items));
    const count = countParts(await graph.count(rows), { wholeItems: 50n, partItems });
    const parts = new RowsInParts(graph, { folder, count, key: 'product_id' });
    const tables = await divideTables(parts, { items: rows }, ['SELECT product_id FROM items']);
    return await Promise.all(tables.map((part) => readProducts(graph, part.items as Sql)));
  } finally {
    await db.close();
  }
}

async function readProducts(graph: RelationGraph, items: Sql): Promise<string[]> {
  const rows = await graph.rows(sql`SELECT product_id, count(*) AS n FROM (${items}) GROUP BY ALL ORDER BY ALL`);
  return rows.map((row) => `${row.product_id} ${row.n}`);
}

test('items are divided into parts that contain each product completely', async () => {
  const parts = await divide('SELECT i AS item_id, CAST(i % 40 AS VARCHAR) AS product_id FROM range(100) AS t(i)');
  expect(parts).toHaveLength(4);
  const whole = Array.from({ length: 40 }, (_, product) => `${product} ${product < 20 ? 3 : 2}`);
  expect(parts.flat().sort()).toEqual(whole.sort());
});

test('items without a product are in no part, and a part may be empty', async () => {
  const parts = await divide("SELECT i AS item_id, CASE WHEN i < 5 THEN 'a' END AS product_id FROM range(100) AS t(i)");
  expect(parts).toHaveLength(4);
  expect(parts.flat()).toEqual(['a 5']);
});

test('there are at most as many parts as a table may have small files, unless the parts would be too large', async () => {
  const items = (count: number) => `SELECT i AS item_id, CAST(i AS VARCHAR) AS product_id FROM range(${count}) AS t(i)`;
  expect(await divide(items(100), { partItems: 3n })).toHaveLength(16);
  expect(await divide(items(1000), { partItems: 30n })).toHaveLength(20);
});

test('a division that runs out of memory is made again, and each item is in it once', async () => {
  const items = 'SELECT i AS item_id, CAST(i % 5000 AS VARCHAR) AS product_id FROM range(15000) AS t(i)';
  await expect(divide(items, { memoryLimit: '16MB' })).rejects.toThrow('Out of Memory');
  const parts = await divide(items, { memoryLimit: '16MB', mostMemory: '2GB' });
  expect(parts.flat().sort()).toEqual(Array.from({ length: 5000 }, (_, product) => `${product} 3`).sort());
});

test('a table without rows has no rows in any part', async () => {
  const none = 'SELECT i AS item_id, CAST(NULL AS VARCHAR) AS product_id FROM range(60) AS t(i)';
  expect(await divide(none)).toEqual([[], []]);
});

test('few items are one part', async () => {
  expect(await divide("SELECT 1 AS item_id, 'a' AS product_id")).toEqual([['a 1']]);
});
