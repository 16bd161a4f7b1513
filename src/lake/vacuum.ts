import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { readRetentionMs } from './delta-metadata.js';
import { ignoreMissing, type Lake, tablePath } from './layout.js';
import type { LogState } from './log-state.js';

/**
 * Data files of a table that may be deleted: those that its log does not name, and those that were superseded longer
 * ago than the table keeps them. Paths are relative to the table's folder.
 */
export async function findExpiredFiles(lake: Lake, state: LogState, at: Date): Promise<string[]> {
  const keptSince = at.getTime() - readRetentionMs(state.metaData);
  const found = await listDataFiles(tablePath(lake, state.table));
  return found.filter((path) => !state.files.has(path) && !((state.tombstones.get(path) ?? 0) > keptSince));
}

/** Parquet files of a table, relative to its folder; what begins with `_` or `.` is not data. */
export async function listDataFiles(folder: string): Promise<string[]> {
  const entries: Dirent[] =
    (await readdir(folder, { withFileTypes: true, recursive: true }).catch(ignoreMissing)) ?? [];
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !/^[_.]/.test(path));
}
