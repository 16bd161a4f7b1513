import { expect, test } from 'vitest';
import { commitTable } from '../../src/lake/commit.js';
import { readTable } from '../../src/lake/read.js';
import { stageTable } from '../../src/lake/stage.js';
import { replaceRows } from '../../src/lake/table-change.js';
import { TableRows } from '../../src/lake/table-rows.js';
import type { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { code, columnsOf, sql } from '../../src/sql/sql.js';
import { type Lake, tablePath } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import type { DataFile } from '../../src/tables/table.js';
import { addValues, type ColumnFacts, compareStats, parseStats } from '../../src/verify/compare-stats.js';
import { openExactFile } from '../../src/verify/exact-parquet.js';
import { createSeeded } from '../seeded.js';
import { expectFieldIds, glob, ITEM, makeLake, openDatabase, select, write } from './fixture.js';

/** Texts that don't compress, so that files are as large as those of real shops. */
const LONG = Array.from({ length: 8 }, (_, n) => `md5(CAST(i * 8 + ${n} AS VARCHAR))`).join(' || ');
const LARGE = { ...ITEM, attributes: LONG, brand: "CASE WHEN i % 11 <> 0 THEN 'Brand ' || (i % 40) END" };
const schema = loadTableSchema('items');
const FIRST_ID = 9007199254740993n;

interface World {
  db: Database;
  lake: Lake;
  graph: RelationGraph;
}

async function openWorld(rows: number, partitionBy = ['site_id']): Promise<World> {
  const [db, lake] = [await openDatabase(), await makeLake("it's [a] lake")];
  await write(db, lake, { select: select('items', LARGE, `range(${rows}) AS r(i)`), partitionBy });
  await db.run(`CREATE TABLE expected AS FROM ${glob(lake, 'items/*.parquet').replace('[a]', '[[]a]')}`);
  return { db, lake, graph: new RelationGraph(db) };
}

/** Replaces rows as a run does: those of `gone` by those of `added`. */
async function replace({ db, lake, graph }: World, gone: string, added: string): Promise<void> {
  const state = await readTable(lake, 'items');
  const before = await TableRows.open(graph, lake, state, 0n);
  const change = await replaceRows(graph, before, {
    key: 'item_id',
    gone: graph.table('gone', code(gone)),
    added: sql`SELECT ${columnsOf('items')} FROM (${code(added)})`,
    fillsSmall: true,
  });
  const stage = { table: 'items', runId: 'r2', metadata: { note: 'ü' } } as const;
  const { rows, remove } = change;
  if (rows !== undefined) await graph.ready(rows);
  const partitionBy = Object.keys(state.files[0]?.partitionValues ?? {});
  const add = rows === undefined ? [] : await stageTable(db, lake, { ...stage, select: rows.text, partitionBy });
  await commitTable(lake, { table: 'items', add, remove: [...remove], applied: {} }, info());
}

const info = () => ({ runId: 'r2', operation: 'TEST', at: new Date() });

async function expectSame({ db, lake }: World): Promise<DataFile[]> {
  const { files } = await readTable(lake, 'items');
  const paths = files.map(
    ({ path }) => `'${tablePath(lake, 'items', path).replaceAll("'", "''").replaceAll('[', '[[]')}'`,
  );
  const found = `read_parquet([${paths.join(', ')}], hive_partitioning = false)`;
  const sums = (rows: string) => db.rows(`SELECT count(*) AS n, sum(hash(one)) AS hashes FROM (FROM ${rows}) AS one`);
  expect(await sums(found)).toEqual(await sums('expected'));
  return files;
}

/** Expects that the log's statistics equal those of the values, read by code independent of the writer. */
async function expectStatistics(lake: Lake, files: readonly DataFile[]): Promise<void> {
  for (const file of files) {
    const exact = await openExactFile(tablePath(lake, 'items', file.path));
    for (const column of schema.columns) {
      if (column.name in file.partitionValues) continue;
      let facts: ColumnFacts | undefined;
      for (const group of exact.groups.keys()) {
        facts = addValues(column, facts, await exact.readColumn(group, column.name));
      }
      expect(compareStats(column, parseStats(file.stats), facts as ColumnFacts, true)).toEqual([]);
    }
  }
}

const COLUMNS = schema.columns.map(({ name }) => `"${name}"`).join(', ');

test.each([
  { seed: 1, partitionBy: ['site_id'] },
  { seed: 2, partitionBy: [] },
  { seed: 3, partitionBy: ['currency', 'is_listed'] },
])('replaced rows and all others are present after many rounds ($seed)', async ({ seed, partitionBy }) => {
  const random = createSeeded(seed);
  const world = await openWorld(40_000, partitionBy);
  const { db } = world;
  let next = 40_000;
  for (let round = 0; round < 5; round++) {
    const picks = Array.from({ length: 1 + random.integer(12) }, () => random.integer(next));
    const ids = picks.map((pick) => FIRST_ID + 2n * BigInt(pick)).join(', ');
    const fresh = random.integer(3);
    const values = select('items', LARGE, `range(${next}, ${next + fresh}) AS r(i)`);
    next += fresh;
    // Some prices change, some rows go, and some come to another website or currency.
    const changed = `SELECT ${COLUMNS.replace('"price"', `price - ${round + 1} AS price`)
      .replace('"title"', random.fraction() < 0.5 ? 'title' : `title || ' ü${round}' AS title`)
      .replace('"site_id"', 'CASE WHEN item_id % 13 = 0 THEN 7 ELSE site_id END AS site_id')
      .replace('"currency"', "CASE WHEN item_id % 17 = 0 THEN 'CHF' ELSE currency END AS currency")}
      FROM expected WHERE item_id IN (${ids}) AND item_id % 5 <> 0`;
    await db.run(`CREATE OR REPLACE TABLE added AS ${changed} UNION ALL ${values}`);
    const gone = `SELECT DISTINCT item_id FROM expected WHERE item_id IN (${ids})`;
    await replace(world, gone, 'FROM added');
    await db.run(`DELETE FROM expected WHERE item_id IN (${ids})`);
    await db.run('INSERT INTO expected FROM added');
    await expectSame(world);
  }
  const files = await expectSame(world);
  await expectStatistics(world.lake, files);
  for (const { path } of files) await expectFieldIds(db, 'items', tablePath(world.lake, 'items', path));
});

test('a file may lose all of its rows', async () => {
  const world = await openWorld(60, ['site_id']);
  const { db } = world;
  await replace(world, 'SELECT item_id FROM expected WHERE site_id = 1', 'FROM expected WHERE false');
  await db.run('DELETE FROM expected WHERE site_id = 1');
  const files = await expectSame(world);
  expect(files.map(({ partitionValues }) => partitionValues.site_id).sort()).toEqual(['0', '2']);
});
