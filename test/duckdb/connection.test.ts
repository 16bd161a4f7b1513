import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Database, itself } from '../../src/duckdb/connection.js';
import { quoteList, quoteLiteral } from '../../src/duckdb/quote.js';
import { makeFolder } from '../lake/fixture.js';

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

test('of files whose rows are kept, only new ones are read, and rows of files that are left out go', async () => {
  const folder = await makeFolder();
  const write = async (id: number) => {
    const file = path.join(folder, `${id}'s.parquet`);
    await db.run(`COPY (SELECT ${id} AS id) TO ${quoteLiteral(file)}`);
    return file;
  };
  const [first, second, third] = [await write(1), await write(2), await write(3)];
  const keep = (session: Database, files: string[]) =>
    session.keep('items', files, (some) => `read_parquet(${quoteList(some)}, filename = true)`);
  const ids = async () => (await db.rows('FROM items ORDER BY id')).map((row) => row.id);
  await keep(db, [first, second]);
  expect(await ids()).toEqual([1, 2]);
  await rm(second);
  await keep(await db.fork(), [second, third]);
  expect(await ids()).toEqual([2, 3]);
  expect(db.keptRows('items')).toBe('SELECT * EXCLUDE (filename) FROM kept_items');
  // What can't be read is not there the next time.
  await expect(keep(db, [second, path.join(folder, 'none.parquet')])).rejects.toThrow('none.parquet');
  await keep(db, [third]);
  expect(await ids()).toEqual([3]);
  await db.define('view', 'items', 'SELECT 4 AS id');
  expect([db.keptRows('items'), await ids()]).toEqual([undefined, [4]]);
});

test('sessions that begin at once have the variables of the ones they come from', async () => {
  const other = await db.fork();
  await db.run('SET VARIABLE id = 1');
  await other.run("SET VARIABLE id = 2; SET VARIABLE name = 'other'");
  const sources = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? db : other));
  const forks = await Promise.all(sources.map((source) => source.fork()));
  const ids = await Promise.all(forks.map((fork) => read(fork, "(SELECT getvariable('id') AS id)")));
  expect(ids).toEqual(sources.map((source) => (source === db ? 1 : 2)));
  const tables = await db.rows('SELECT table_name FROM duckdb_tables()');
  expect(tables).toEqual([]);
});

test('closing ends the statements that run, those of other sessions as well, and no more begin', async () => {
  const fork = await db.fork();
  const endless = 'SELECT count(*) FROM range(1000000000000) WHERE hash(range) = 1';
  const statements = [db.run(endless), fork.rows(endless), db.run(`${endless}; ${endless}`)];
  const failed = Promise.allSettled(statements);
  await db.close();
  const reasons = (await failed).map((result) => (result.status === 'rejected' ? String(result.reason) : 'ended'));
  expect(reasons).toEqual(statements.map(() => expect.stringContaining('Interrupted')));
  await expect(fork.run('SELECT 1')).rejects.toThrow('the session is closed');
  await db.close();
});

test('footers that are not kept any more are kept by no session, also by one that begins later', async () => {
  const keeps = async (session: Database) =>
    (await session.row("SELECT current_setting('parquet_metadata_cache') AS kept"))?.kept;
  const before = await db.fork();
  expect([await keeps(db), await keeps(before)]).toEqual([true, true]);
  await before.forgetFooters();
  expect([await keeps(db), await keeps(before), await keeps(await db.fork())]).toEqual([false, false, false]);
});
