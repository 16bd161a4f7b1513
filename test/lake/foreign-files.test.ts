import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { refreshPointer } from '../../src/lake/publish.js';
import { createTableViews } from '../../src/lake/views.js';
import { Database } from '../../src/sql/connection.js';
import type { TableName } from '../../src/tables/table.js';
import { openWorld } from '../run/world.js';
import { optimize } from './foreign-writer.js';

const TABLES = ['history', 'items'] as const;

const world = await openWorld({ items: 30, sites: 2, pastDays: 2 });
await world.sync();
await world.sandbox.advance({ hours: 6, changes: 10 });
await world.sync();
const before = await withViews(readRows);
for (const table of TABLES) await optimize(world.lakePath, table);
afterAll(() => world.close());

async function withViews<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = await Database.open();
  try {
    await createTableViews(db, await openLake(world.lakePath, { create: false }));
    return await work(db);
  } finally {
    await db.close();
  }
}

async function readRows(db: Database): Promise<string[]> {
  const read = (table: TableName) => db.rows(`SELECT to_json(t)::VARCHAR AS line FROM ${table} AS t ORDER BY 1`);
  return (await Promise.all(TABLES.map(read))).flat().map(({ line }) => String(line));
}

test('files that another program wrote without partition columns get the partition values from the log', async () => {
  expect(await withViews(readRows)).toEqual(before);
});

test('catalog.sql reads files without partition columns too', async () => {
  const lake = await openLake(world.lakePath, { create: false });
  await refreshPointer(lake);
  const catalog = await readFile(path.join(world.lakePath, 'catalog.sql'), 'utf8');
  const db = await Database.open();
  try {
    await db.run(`SET file_search_path = '${world.lakePath}'`);
    await db.run(catalog);
    expect(await readRows(db)).toEqual(before);
  } finally {
    await db.close();
  }
});
