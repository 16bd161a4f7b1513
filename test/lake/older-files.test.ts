import { expect, test } from 'vitest';
import { tablePath } from '../../src/lake/layout.js';
import { findOlderFiles } from '../../src/lake/older-files.js';
import { markPartial } from '../../src/lake/partial.js';
import { readTable } from '../../src/lake/read.js';
import { listOpenFiles } from '../journal/folder.js';
import { ITEM, makeLake, openDatabase, select, write } from './fixture.js';

test('a file is older than the columns of its table that its footer lacks', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM, 'range(9) AS r(i)') });
  const state = await readTable(lake, 'items');
  expect(await findOlderFiles(lake, state)).toEqual(new Map());
  const [, same, older] = state.files;
  if (same === undefined || older === undefined) throw new Error('there are no three files');
  for (const [file, columns] of [
    [same, '*, 1 AS more'],
    [older, '* EXCLUDE (extra, gtin14)'],
  ] as const) {
    const path = tablePath(lake, 'items', file.path);
    await db.run(`CREATE OR REPLACE TABLE rewritten AS SELECT ${columns} FROM read_parquet('${path}')`);
    await db.run(`COPY rewritten TO '${path}' (FORMAT parquet)`);
  }
  expect(await findOlderFiles(lake, state)).toEqual(new Map([[older, ['gtin14', 'extra']]]));
  expect(await listOpenFiles(tablePath(lake, 'items'))).toEqual([]);
});

test('a file that is on the remote only is asked for, not taken for an older one', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  await write(db, lake, { select: select('items', ITEM) });
  const state = await readTable(lake, 'items');
  await markPartial(lake, { remote: 's3://bucket/lake' });
  const absent = { ...state, files: state.files.map((file) => ({ ...file, path: 'gone.parquet' })) };
  await expect(findOlderFiles(lake, absent)).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${tablePath(lake, 'items')}: 1 of 1 data files are on s3://bucket/lake only`,
  });
});
