import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SLICE_ROWS } from '../../src/lake/slices.js';
import { type Stage, stageTable } from '../../src/lake/stage.js';
import { Database } from '../../src/sql/connection.js';
import { privatePath } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { ITEM, makeLake, openDatabase, select } from './fixture.js';

/** The statements that a session runs from now on. */
function listen(db: Database): string[] {
  const statements: string[] = [];
  const rows = db.rows.bind(db);
  vi.spyOn(db, 'rows').mockImplementation((sql, values) => {
    statements.push(sql);
    return rows(sql, values);
  });
  return statements;
}

test('more rows than a slice has are written slice by slice, in lanes where that is allowed', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const statements = listen(db);
  const sites = (rows: number) => select('sites', { site_id: 'i // 100000' }, `range(${rows}) AS r(i)`);
  const stage = async (rows: number, more: Partial<Stage> = {}) => {
    statements.length = 0;
    const options: Stage = { table: 'sites', runId: 'r', select: sites(rows), sliceBy: 'site_id', partitionBy: [] };
    const staged = await stageTable(db, lake, { ...options, ...more });
    expect(staged.reduce((sum, file) => sum + Number(file.rows), 0)).toBe(rows);
    const copies = statements.filter((sql) => sql.startsWith('COPY'));
    return {
      copies: copies.length,
      sliced: copies.filter((sql) => sql.includes('"site_id" BETWEEN')).length,
      counted: statements.some((sql) => sql.includes('GROUP BY')),
    };
  };
  const many = SLICE_ROWS + 1;
  expect(await stage(many)).toEqual({ copies: 2, sliced: 2, counted: true });
  expect(await stage(many, { maxRows: BigInt(many) })).toEqual({ copies: 2, sliced: 2, counted: true });
  expect(await stage(many, { inLanes: true })).toEqual({ copies: 2, sliced: 2, counted: true });
  expect(await stage(9)).toEqual({ copies: 1, sliced: 0, counted: true });
  expect(await stage(9, { inLanes: true })).toEqual({ copies: 1, sliced: 0, counted: true });
  expect(await stage(9, { maxRows: BigInt(SLICE_ROWS) })).toEqual({ copies: 1, sliced: 0, counted: false });
});

test('what is refused is refused before anything is written; a stage that fails is removed', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const stage = (more: Partial<Stage>) =>
    stageTable(db, lake, { table: 'items', runId: 'r', select: select('items', ITEM), ...more });
  const columns = loadTableSchema('items').columns.filter(({ type }) => type !== 'VARCHAR[]');
  for (const column of ['day', 'datasets']) {
    await expect(stage({ partitionBy: ['site_id', column] })).rejects.toMatchObject({
      code: 'config',
      message: `partitionBy "${column}" is not a column of items that files can be partitioned by (${columns.map(({ name }) => name).join(', ')})`,
    });
  }
  await expect(stage({ select: 'SELECT 1 AS item_id' })).rejects.toMatchObject({
    code: 'lake_invalid',
    message: 'items: column 1 of the select is item_id INTEGER; schemas/items.yaml says item_id BIGINT',
  });
  expect(existsSync(privatePath(lake, 'staging'))).toBe(false);
  await expect(stage({ select: select('items', { ...ITEM, title: "error('no')" }) })).rejects.toThrow('no');
  expect(await readdir(privatePath(lake, 'staging', 'r', 'items'))).toEqual([]);
});

test('any number of partitions is written in the same memory, by numbers, texts and several columns', async () => {
  const db = await Database.open({ memoryLimit: '250MB', threads: 2 });
  onTestFinished(() => db.close());
  const lake = await makeLake();
  const values = { ...ITEM, site_id: 'NULLIF(i, 5)', category_slug: "NULLIF('slug ' || i, 'slug 7')" };
  const stage = async (partitionBy: string[], more: Partial<Stage> = {}) =>
    stageTable(db, lake, {
      ...{ table: 'items', runId: 'r', partitionBy, sliceBy: 'site_id', inLanes: true },
      select: select('items', values, 'range(300) AS r(i)'),
      ...more,
    });
  for (const partitionBy of [['site_id'], ['category_slug'], ['is_listed', 'category_slug', 'site_id']]) {
    const files = await stage(partitionBy);
    expect(new Set(files.map((file) => JSON.stringify(file.partitionValues))).size).toBe(300);
    expect(files.every(({ rows }) => rows === 1n)).toBe(true);
  }
  const mostPartitions = (rows: bigint) => Number(rows) - 1;
  const shared = await stage(['site_id'], { mostPartitions });
  expect(shared.map(({ partitionValues, rows }) => [partitionValues, rows])).toEqual([[{}, 300n]]);
  expect(await stage(['site_id'], { mostPartitions: Number })).toHaveLength(300);
});
