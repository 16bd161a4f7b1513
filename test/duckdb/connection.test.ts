import { afterEach, beforeEach, expect, test } from 'vitest';
import { Database, itself } from '../../src/duckdb/connection.js';

let db: Database;
beforeEach(async () => {
  db = await Database.open({ threads: 1 });
});
afterEach(() => db.close());

const read = async (session: Database, relation: string) => (await session.row(`FROM ${relation}`))?.id;

test('what one session makes all others see, and make again in its place', async () => {
  const fork = await db.fork();
  await db.define('view', 'items', 'SELECT 1 AS id');
  expect(await read(fork, 'items')).toBe(1);
  await fork.define('table', 'items', 'SELECT 2 AS id');
  await db.define('view', 'items', 'SELECT 1 AS id');
  expect([await read(db, 'items'), await read(fork, 'items')]).toEqual([1, 1]);
});

test('another select under the name of a table is shown to one session, also where a view reads it', async () => {
  const fork = await db.fork();
  await db.define('table', 'items', 'SELECT 1 AS id');
  await db.define('view', 'products', 'FROM items');
  await db.substitute('items', `SELECT id + 1 AS id FROM ${itself('items')}`, async () => {
    expect([await read(db, 'items'), await read(db, 'products')]).toEqual([2, 2]);
    expect([await read(fork, 'items'), await read(fork, 'products')]).toEqual([1, 1]);
    // What is made meanwhile stays.
    await db.define('table', 'made', 'FROM items');
  });
  expect([await read(db, 'items'), await read(db, 'products'), await read(db, 'made')]).toEqual([1, 1, 2]);
});

test('work that fails leaves the table as it was', async () => {
  await db.define('table', 'items', 'SELECT 1 AS id');
  const work = () => db.run('SELECT 1 / nothing');
  await expect(db.substitute('items', 'SELECT 2 AS id', work)).rejects.toThrow('nothing');
  expect(await read(db, 'items')).toBe(1);
});
