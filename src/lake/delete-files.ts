import { realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasSystemCode, ignoreMissing } from '../io/errors.js';
import { runSideBySide } from '../io/side-by-side.js';
import { type Lake, tablePath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import type { LogState } from './delta-actions.js';
import { readRetentionMs } from './delta-metadata.js';
import { listDataFiles } from './list-files.js';

const CONCURRENCY = 16;

/** Deletes data files, and then the folders that have become empty. The paths are relative to the table's folder. */
export async function deleteFiles(lake: Lake, table: TableName, paths: string[]): Promise<void> {
  const top = tablePath(lake, table);
  const outside = await findLinked(top, paths);
  const absolute = paths.filter((path) => !outside.has(dirname(path))).map((path) => tablePath(lake, table, path));
  await runSideBySide(CONCURRENCY, absolute, (path) => rm(path, { force: true }));
  for (const folder of new Set(absolute.map((path) => dirname(path)))) {
    await removeEmptyFolders(folder, top);
  }
}

/** Finds folders that lead outside the table through a symbolic link, so that the files in them aren't deleted. */
async function findLinked(top: string, paths: readonly string[]): Promise<Set<string>> {
  const folders = new Set(paths.map((path) => dirname(path)).filter((folder) => folder !== '.'));
  const linked = new Set<string>();
  for (const folder of folders) {
    const real = await realpath(join(top, folder)).catch(ignoreMissing);
    if (real !== undefined && real !== join(await realpath(top), folder)) linked.add(folder);
  }
  return linked;
}

/** Removes a folder and its parents below `top`, as long as they are empty. */
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

/**
 * Returns the paths, within the table, of data files that may be deleted: files that the log doesn't list, and files
 * that were replaced longer ago than the table keeps them.
 */
export async function findExpiredFiles(lake: Lake, state: LogState, at: Date): Promise<string[]> {
  const keptSince = at.getTime() - readRetentionMs(state.metaData);
  const found = await listDataFiles(tablePath(lake, state.table));
  return found.filter((path) => !state.files.has(path) && !((state.tombstones.get(path) ?? 0) > keptSince));
}
