import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { deleteFiles, findExpiredFiles, listDataFiles, removeEmptyFolders } from '../../src/lake/delete-files.js';
import type { LogState } from '../../src/lake/delta-actions.js';
import type { Lake } from '../../src/lake/lake.js';
import { tablePath } from '../../src/tables/layout.js';
import { AT } from './fixture.js';
import { makeBareLake } from './log-writer.js';

async function makeFilled(...paths: string[]) {
  const lake = await makeBareLake();
  for (const path of paths) {
    await mkdir(dirname(tablePath(lake, 'items', path)), { recursive: true });
    await writeFile(tablePath(lake, 'items', path), 'x');
  }
  return lake;
}

test('files go, and the folders that they leave empty, but never the table', async () => {
  const lake = await makeFilled('site_id=1/day=2/a.parquet', 'site_id=1/b.parquet', 'site_id=2/c.parquet');
  const list = async () => (await readdir(tablePath(lake, 'items'), { recursive: true })).sort();
  await deleteFiles(lake, 'items', ['site_id=1/day=2/a.parquet', 'site_id=2/c.parquet']);
  expect(await list()).toEqual(['site_id=1', 'site_id=1/b.parquet']);
  await deleteFiles(lake, 'items', ['site_id=1/b.parquet']);
  expect(await list()).toEqual([]);
});

test('files and folders that are gone already are no error', async () => {
  const lake = await makeFilled('a.parquet');
  await deleteFiles(lake, 'items', ['site_id=1/b.parquet', 'c.parquet']);
  expect(await readdir(tablePath(lake, 'items'))).toEqual(['a.parquet']);
});

test('a folder that can not be removed for another reason is an error', async () => {
  const lake = await makeFilled('a.parquet');
  const file = tablePath(lake, 'items', 'a.parquet');
  await expect(removeEmptyFolders(file, tablePath(lake, 'items'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await removeEmptyFolders(join(lake.root, 'items'), join(lake.root, 'items'));
  expect(await readdir(lake.root)).toContain('items');
});

const HOUR = 3_600_000;

async function fill(lake: Lake, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    const file = tablePath(lake, 'items', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, 'x');
  }
}

test('data files are all Parquet files but those of logs and private folders', async () => {
  const lake = await makeBareLake();
  expect(await listDataFiles(tablePath(lake, 'items'))).toEqual([]);
  await fill(lake, 'a.parquet', 'site_id=1/b.parquet', 'site_id=1/_b.parquet', 'a.txt', 'parquet');
  await fill(lake, '_delta_log/1.checkpoint.parquet', '.tmp/c.parquet', '_c.parquet');
  await mkdir(tablePath(lake, 'items', 'folder.parquet'));
  expect((await listDataFiles(tablePath(lake, 'items'))).sort()).toEqual([
    'a.parquet',
    'site_id=1/_b.parquet',
    'site_id=1/b.parquet',
  ]);
});

test('a file expires when no version names it, or when it was superseded as long ago as the table keeps files', async () => {
  const lake = await makeBareLake();
  await fill(lake, 'live.parquet', 'unknown.parquet', 'young.parquet', 'due.parquet', 'old.parquet');
  const state = (retentionHours: string) =>
    ({
      table: 'items',
      metaData: { configuration: { 'pricelake.retentionHours': retentionHours } },
      files: new Map([['live.parquet', {}]]),
      tombstones: new Map([
        ['young.parquet', AT.getTime() - 2 * HOUR + 1],
        ['due.parquet', AT.getTime() - 2 * HOUR],
        ['old.parquet', AT.getTime() - 3 * HOUR],
      ]),
    }) as unknown as LogState;
  const find = async (hours: string) => (await findExpiredFiles(lake, state(hours), AT)).sort();
  expect(await find('2')).toEqual(['due.parquet', 'old.parquet', 'unknown.parquet']);
  expect(await find('0')).toEqual(['due.parquet', 'old.parquet', 'unknown.parquet', 'young.parquet']);
});
