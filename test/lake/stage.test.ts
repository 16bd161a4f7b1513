import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { SLICE_ROWS } from '../../src/lake/slices.js';
import { stageTable } from '../../src/lake/stage.js';
import { privatePath } from '../../src/tables/layout.js';
import { ITEM, makeLake, openDatabase, select } from './fixture.js';

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
