import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readTable } from '../../src/lake/read.js';
import { SLICE_ROWS } from '../../src/lake/slices.js';
import { type Stage, stageTable } from '../../src/lake/stage.js';
import { Database } from '../../src/sql/connection.js';
import { tableRelation } from '../../src/sql/table-relation.js';
import { privatePath, tablePath } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { expectFieldIds, glob, ITEM, makeLake, openDatabase, readRows, select, write } from './fixture.js';

test('staged files use zstd and have the schema’s columns with field ids, metadata and a checksum', async () => {
  const [db, lake] = [await openDatabase(), await makeLake("it's [a] lake")];
  const staged = await stageTable(db, lake, {
    table: 'items',
    runId: 'r1',
    select: select('items', ITEM, 'range(10) AS r(i)'),
    metadata: { 'pricelake.attribution': "Crown © 'x'" },
  });
  expect(staged.map((file) => file.partitionValues)).toEqual([{ site_id: '0' }, { site_id: '1' }, { site_id: '2' }]);
  for (const file of staged) {
    expect(file.stagedAt.startsWith(privatePath(lake, 'staging', 'r1', 'items'))).toBe(true);
    const bytes = await readFile(file.stagedAt);
    expect(file.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(file.bytes).toBe(bytes.length);
    const path = file.stagedAt.replaceAll(/[[*?]/g, '[$&]');
    const metadata = await db.rows('SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(?)', [
      path,
    ]);
    expect(metadata).toContainEqual({ key: 'pricelake.attribution', value: "Crown © 'x'" });
    expect(metadata).toContainEqual({ key: 'pricelake.table', value: 'items' });
    await expectFieldIds(db, 'items', file.stagedAt);
  }
});

test('a select that differs from the schema is refused with the column’s name, and nothing is cast', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const right = select('items', ITEM);
  const stage = (wrong: string) => stageTable(db, lake, { table: 'items', runId: 'r', select: wrong });
  await expect(stage(`SELECT * REPLACE (price::DOUBLE AS price) FROM (${right})`)).rejects.toThrow(
    'column 8 of the select is price DOUBLE; schemas/items.yaml says price DECIMAL(18,4)',
  );
  await expect(stage(`SELECT * EXCLUDE (run_id) FROM (${right})`)).rejects.toThrow(
    'is nothing; schemas/items.yaml says run_id',
  );
  await expect(stage(`SELECT *, 1 AS more FROM (${right})`)).rejects.toThrow(
    'is more INTEGER; schemas/items.yaml says nothing',
  );
});

test('slices are written concurrently, and a refused file in one slice fails the whole stage', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const stage = (first: string) => {
    const currency = `CASE WHEN i < ${SLICE_ROWS} THEN '${first}' ELSE 'EUR' END`;
    const source = select('items', { item_id: 'i', currency }, `range(${2 * SLICE_ROWS}) AS r(i)`);
    const partitionBy = ['currency'];
    return stageTable(db, lake, { table: 'items', runId: 'r', select: source, partitionBy, inLanes: true });
  };
  const staged = await stage('CZK');
  const found = staged.map(({ partitionValues, rows }) => `${partitionValues.currency} ${rows}`);
  expect(found.sort()).toEqual([`CZK ${SLICE_ROWS}`, `EUR ${SLICE_ROWS}`]);
  // The text of the first slice is one that some readers take for null.
  await expect(stage('')).rejects.toMatchObject({ code: 'config' });
  expect(await db.row("SELECT current_setting('threads') AS threads")).toEqual({ threads: 2n });
});

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

test('more rows than fit a slice are written slice by slice, in lanes if allowed', async () => {
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
      counted: statements.some((sql) => sql.includes('GROUP BY "site_id"')),
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

test('invalid stages are refused before anything is written, and a failed stage is removed', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const stage = (more: Partial<Stage>) =>
    stageTable(db, lake, { table: 'items', runId: 'r', select: select('items', ITEM), ...more });
  const columns = loadTableSchema('items').columns.filter(({ type }) => type !== 'VARCHAR[]');
  for (const column of ['day', 'datasets']) {
    await expect(stage({ partitionBy: ['site_id', column] })).rejects.toMatchObject({
      code: 'config',
      message: `can't partition items by "${column}" (partitionBy); choose from ${columns.map(({ name }) => name).join(', ')}`,
    });
  }
  expect(existsSync(privatePath(lake, 'staging'))).toBe(false);
  await expect(stage({ select: select('items', { ...ITEM, title: "error('no')" }) })).rejects.toThrow('no');
  expect(await readdir(privatePath(lake, 'staging', 'r', 'items'))).toEqual([]);
});

test('any number of partitions is written with the same memory, by numbers, texts and several columns', async () => {
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
  const cases: [string[], Partial<Stage>?][] = [
    [['site_id'], { mostPartitions: Number }],
    [['category_slug']],
    [['is_listed', 'category_slug', 'site_id']],
  ];
  for (const [partitionBy, more] of cases) {
    const files = await stage(partitionBy, more);
    expect(new Set(files.map((file) => JSON.stringify(file.partitionValues))).size).toBe(300);
    expect(files.every(({ rows }) => rows === 1n)).toBe(true);
  }
  const mostPartitions = (rows: bigint) => Number(rows) - 1;
  const shared = await stage(['site_id'], { mostPartitions });
  expect(shared.map(({ partitionValues, rows }) => [partitionValues, rows])).toEqual([[{}, 300n]]);
});

/** Longer than the name of a file may be. */
const LONG = '🛒 long '.repeat(2000);
const VALUES = [
  LONG,
  `${LONG}.`,
  'a b',
  'a%b',
  'a/b',
  'é=ü:x',
  '..',
  "it's",
  'a?b#c&d',
  '*[x]{y}',
  '日本',
  '🛒',
  '%20',
  'a\\b"c',
  ' ',
];

test('hostile and very long partition values are kept in file names, the log and the rows', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await db.run('CREATE TABLE brands (i BIGINT, brand VARCHAR)');
  for (const [i, brand] of [...VALUES, null].entries())
    await db.run('INSERT INTO brands VALUES (?, ?)', [BigInt(i), brand]);
  const source = select(
    'products',
    { product_id: 'i', brand: 'brand', offers: '1', shops: '1', run_id: "'r'" },
    'brands',
  );
  await write(db, lake, { table: 'products', select: source, partitionBy: ['brand'] });

  const { files } = await readTable(lake, 'products');
  const found = new Set(files.map((file) => file.partitionValues.brand));
  expect(found).toEqual(new Set([...VALUES, null]));
  const expected = await readRows(db, `(${source})`);
  const paths = files.map((file) => tablePath(lake, 'products', file.path));
  expect(await readRows(db, tableRelation('products', paths))).toEqual(expected);
  expect(await readRows(db, glob(lake, 'products/*.parquet'))).toEqual(expected);
  const log = await readFile(tablePath(lake, 'products', '_delta_log', '00000000000000000000.json'), 'utf8');
  expect(log).toMatch(/"path":"brand-a_25b\.[\w-]+\.parquet","partitionValues":{"brand":"a%b"}/);
  for (const { path } of files) expect(path).toMatch(/^brand[\w-]*\.[\w-]+\.parquet$/);
});

test('sorted unpartitioned rows produce files that hardly overlap', async () => {
  const [db, lake] = [await openDatabase(1), await makeLake()];
  const source = `${select('items', { ...ITEM, site_id: 'i // 10000', url: 'md5(i::VARCHAR)' }, 'range(400000) AS r(i)')} ORDER BY site_id`;
  const staged = await stageTable(db, lake, {
    table: 'items',
    runId: 'r',
    select: source,
    partitionBy: [],
    targetBytes: 4_000_000,
  });
  expect(staged.length).toBeGreaterThan(1);
  const sites = staged
    .map((file) => JSON.parse(file.stats))
    .map(({ minValues, maxValues }) => maxValues.site_id - minValues.site_id + 1);
  expect(sites.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(40 + 2 * staged.length);
});
