import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { deleteFiles, removeEmptyFolders } from '../../src/lake/delete-files.js';
import { tablePath } from '../../src/lake/layout.js';
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
