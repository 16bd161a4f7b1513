import { createHash } from 'node:crypto';
import { copyFile, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sealDataFile } from '../../src/lake/data-file.js';
import { explainSystemFault } from '../../src/lake/faults.js';
import { privatePath } from '../../src/lake/layout.js';
import { SLICE_ROWS } from '../../src/lake/slices.js';
import { stageTable } from '../../src/lake/stage.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { ITEM, makeFolder, makeLake, openDatabase, select } from './fixture.js';

test('staged files are zstd, hold the contract’s columns, metadata and checksum', async () => {
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
  }
});

test('a select that is not the contract is refused with the column’s name, nothing is cast', async () => {
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

test('slices are written side by side; a file of one that is refused fails the stage, and nothing is left unhandled', async () => {
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

test('a file whose footer is not what the writer said is refused', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const [file] = await stageTable(db, lake, { table: 'sites', runId: 'r', select: select('sites', { site_id: '1' }) });
  if (file === undefined) throw new Error('no file');
  const columns = loadTableSchema('sites').columns.map((column) => column.name);
  const right = { rows: 1n, bytes: file.bytes, columns };
  expect(await sealDataFile(file.stagedAt, right)).toBe(file.sha256);
  await expect(sealDataFile(file.stagedAt, { ...right, rows: 2n })).rejects.toThrow(
    'its footer says rows 1, the writer said 2',
  );
  await expect(sealDataFile(file.stagedAt, { ...right, columns: ['a'] })).rejects.toThrow('columns');

  const copy = join(await makeFolder(), 'cut.parquet');
  await copyFile(file.stagedAt, copy);
  const handle = await open(copy, 'r+');
  await handle.truncate(file.bytes - 100);
  await handle.close();
  await expect(sealDataFile(copy, right)).rejects.toMatchObject({ code: 'lake_invalid' });

  await db.run(`COPY (${select('sites', { site_id: '1' })}) TO '${copy}' (FORMAT parquet, COMPRESSION snappy)`);
  const { size } = await open(copy).then(async (other) => {
    const info = await other.stat();
    await other.close();
    return info;
  });
  await expect(sealDataFile(copy, { ...right, bytes: size })).rejects.toThrow(
    'its footer says codecs 1, the writer said 6',
  );
});

test.each([
  Object.assign(new Error('write'), { code: 'ENOSPC' }),
  Object.assign(new Error('write'), { code: 'EDQUOT' }),
  new Error('IO Error: Could not write file "x": No space left on device'),
])('a full disk is explained (%s)', async (cause) => {
  const work = () => Promise.reject(cause);
  await expect(explainSystemFault('/lake', work)).rejects.toMatchObject({ code: 'disk_full', cause });
  const other = new Error('else');
  await expect(explainSystemFault('/lake', () => Promise.reject(other))).rejects.toBe(other);
});
