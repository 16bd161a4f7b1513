import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/duckdb/connection.js';
import { Lanes } from '../../src/duckdb/lanes.js';

let db: Database;
beforeAll(async () => {
  db = await Database.open({ threads: 2 });
});
afterAll(() => db.close());

const readThreads = async () => (await db.row("SELECT current_setting('threads') AS threads"))?.threads;
const openLanes = async (select?: string) => (await Lanes.open(db, select)) as Lanes;

test('lanes see the views, tables, variables and macros that a select reads, and leave nothing behind', async () => {
  await db.run("CREATE TEMP TABLE changed AS SELECT 2 AS id; SET VARIABLE seen = TIMESTAMPTZ '2026-11-20 06:00:00+00'");
  await db.define('view', 'typed', "SELECT i AS id, getvariable('seen') AS seen_at FROM range(4) AS r(i)");
  await db.define('view', 'kept', 'SELECT * FROM typed ANTI JOIN changed USING (id)');
  const select = "SELECT exact_bigint(CAST(id AS VARCHAR)) AS id, strftime(seen_at, '%H') AS hour FROM kept WHERE id";
  const lanes = await openLanes(select);
  expect(await readThreads()).toBe(1n);
  const rows = await Promise.all(['< 2', '>= 2'].map((part) => lanes.run((lane) => lane.rows(`${select} ${part}`))));
  expect(rows.flat()).toEqual([0n, 1n, 3n].map((id) => ({ id, hour: '06' })));
  await lanes.close();
  expect(await readThreads()).toBe(2n);
  expect(await db.rows('SELECT table_name FROM duckdb_tables() WHERE NOT temporary')).toEqual([]);
});

test('a view whose text has its own name, as a path or an alias does, is read once', async () => {
  await db.run('CREATE TEMP TABLE elsewhere AS FROM range(300000)');
  await db.define('view', 'files', "SELECT files.i, 'lake/elsewhere/files.parquet' AS path FROM range(3) AS files(i)");
  const lanes = await openLanes('FROM files');
  expect(await lanes.run((lane) => lane.rows('SELECT i FROM files'))).toEqual([{ i: 0n }, { i: 1n }, { i: 2n }]);
  await lanes.close();
  await db.run('DROP TABLE elsewhere');
});

test('variables without a value have none in a lane either, and a text that says NULL stays a text', async () => {
  await db.run(
    "SET VARIABLE watermark = CAST(NULL AS BIGINT); SET VARIABLE said = 'NULL'; SET VARIABLE nothing = NULL",
  );
  const lanes = await openLanes();
  const select =
    "SELECT getvariable('watermark') AS watermark, getvariable('said') AS said, getvariable('nothing') AS nothing";
  expect(await lanes.run((lane) => lane.row(select))).toEqual({ watermark: null, said: 'NULL', nothing: null });
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

test('there are none on one thread, nor where a table would have to be copied that fills the memory', async () => {
  await db.run('CREATE TEMP TABLE large AS FROM range(300000)');
  expect(await Lanes.open(db, 'FROM large')).toBeUndefined();
  await db.run('SET threads = 1');
  expect(await Lanes.open(db)).toBeUndefined();
  await db.run('SET threads = 2');
});

test('a large table that is not temporary is read without a copy', async () => {
  await db.run('CREATE TABLE memory.main.shared AS FROM range(300000)');
  const lanes = await openLanes('FROM shared');
  expect(await lanes.run((lane) => lane.row('SELECT count(*) AS n FROM shared'))).toEqual({ n: 300_000n });
  await lanes.close();
  expect(await db.row('SELECT count(*) AS n FROM shared')).toEqual({ n: 300_000n });
  await db.run('DROP TABLE memory.main.shared');
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
