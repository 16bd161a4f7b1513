import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/duckdb/connection.js';
import { Lanes } from '../../src/duckdb/lanes.js';
import { createMacros } from '../../src/duckdb/model-sql.js';

let db: Database;
beforeAll(async () => {
  db = await Database.open({ threads: 2 });
});
afterAll(() => db.close());

const readThreads = async () => (await db.row("SELECT current_setting('threads') AS threads"))?.threads;
const openLanes = async () => (await Lanes.open(db)) as Lanes;

test('lanes see the views, tables, variables and macros of the session, of which they take a thread', async () => {
  await createMacros(db);
  await db.run("CREATE TABLE changed AS SELECT 2 AS id; SET VARIABLE seen = TIMESTAMPTZ '2026-11-20 06:00:00+00'");
  await db.define('view', 'typed', "SELECT i AS id, getvariable('seen') AS seen_at FROM range(4) AS r(i)");
  await db.define('view', 'kept', 'SELECT * FROM typed ANTI JOIN changed USING (id)');
  const select = "SELECT exact_bigint(CAST(id AS VARCHAR)) AS id, strftime(seen_at, '%H') AS hour FROM kept WHERE id";
  const lanes = await openLanes();
  expect(await readThreads()).toBe(1n);
  const rows = await Promise.all(['< 2', '>= 2'].map((part) => lanes.run((lane) => lane.rows(`${select} ${part}`))));
  expect(rows.flat()).toEqual([0n, 1n, 3n].map((id) => ({ id, hour: '06' })));
  await lanes.close();
  expect(await readThreads()).toBe(2n);
});

test('variables without a value have none in a lane either, and a text that says NULL stays a text', async () => {
  await db.run(
    "SET VARIABLE watermark = CAST(NULL AS BIGINT); SET VARIABLE said = 'NULL'; SET VARIABLE nothing = NULL; SET VARIABLE names = ['a, b', '''c''']",
  );
  const lanes = await openLanes();
  const select =
    "SELECT getvariable('watermark') AS watermark, getvariable('said') AS said, getvariable('nothing') AS nothing, getvariable('names')[1] AS name";
  expect(await lanes.run((lane) => lane.row(select))).toEqual({
    watermark: null,
    said: 'NULL',
    nothing: null,
    name: 'a, b',
  });
  await lanes.close();
});

test('work waits for a free lane, also after work that failed', async () => {
  const lanes = await openLanes();
  let running = 0;
  let most = 0;
  const work = lanes.run.bind(lanes, async (lane) => {
    most = Math.max(most, ++running);
    await lane.run('SELECT 1').finally(() => running--);
    throw new Error('refused');
  });
  const done = await Promise.allSettled([work(), work(), work(), work()]);
  expect(done.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
  expect(most).toBe(2);
  await lanes.close();
});

test('there are none on one thread', async () => {
  await db.run('SET threads = 1');
  expect(await Lanes.open(db)).toBeUndefined();
  await db.run('SET threads = 2');
});

test('each session writes a partition by the row group, so that a large website does not fill the memory', async () => {
  const lanes = await openLanes();
  const read = (session: Database) =>
    session.row(
      "SELECT current_setting('partitioned_write_flush_threshold') AS rows, current_setting('TimeZone') AS zone",
    );
  for (const one of [await read(db), await lanes.run(read)]) expect(one).toEqual({ rows: 61_440n, zone: 'UTC' });
  await lanes.close();
});
