import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readTable } from '../../src/lake/read.js';
import { stageTable } from '../../src/lake/stage.js';
import { tableRelation } from '../../src/sql/table-relation.js';
import { tablePath } from '../../src/tables/layout.js';
import { glob, ITEM, makeLake, openDatabase, readRows, select, write } from './fixture.js';

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

test('folder names: hostile and very long partition values survive in names, the log and rows', async () => {
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

test('unpartitioned rows in an order make files that hardly overlap (on one thread; on several they overlap by row groups)', async () => {
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
