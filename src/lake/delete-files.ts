import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import pLimit from 'p-limit';
import { hasSystemCode } from '../errors/errors.js';
import type { TableName } from '../tables/table.js';
import { type Lake, tablePath } from './layout.js';

const CONCURRENCY = 16;

/** Deletes data files that no version needs any longer (paths in the table), and partition folders left empty. */
export async function deleteFiles(lake: Lake, table: TableName, paths: string[]): Promise<void> {
  const limit = pLimit(CONCURRENCY);
  const absolute = paths.map((path) => tablePath(lake, table, path));
  await Promise.all(absolute.map((path) => limit(() => rm(path, { force: true }))));
  for (const folder of new Set(absolute.map((path) => dirname(path)))) {
    await removeEmptyFolders(folder, tablePath(lake, table));
  }
}

/** Removes a folder and its parents below `top`, as far as they are empty. */
export async function removeEmptyFolders(folder: string, top: string): Promise<void> {
  for (let current = folder; current.length > top.length; current = dirname(current)) {
    try {
      await rmdir(current);
    } catch (error) {
      if (hasSystemCode(error, 'ENOTEMPTY', 'EEXIST')) return;
      if (!hasSystemCode(error, 'ENOENT')) throw error;
    }
  }
}
