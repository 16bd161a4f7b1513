import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { removeBusyFolder } from '../io/temporary-folder.js';
import { type Lake, privatePath } from '../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../tables/table.js';
import { deleteFiles, findExpiredFiles } from './delete-files.js';
import { REBUILD_HINT, readLog } from './delta-log.js';
import { clearLockLeftovers } from './lock.js';
import { explainBehind, readPointer } from './pointer.js';

/**
 * Cleans up after a crash. Deletes staged and temporary files, and data files that neither the table nor a kept older
 * version needs. Keeps downloaded responses. The caller must hold the lock. It is safe to call it again.
 * @throws PricelakeError `lake_invalid`, before deleting anything, if a log is damaged or older than `lake.json`
 */
export async function recoverLake(lake: Lake, io: Io): Promise<void> {
  const pointer = await readPointer(lake);
  const orphans = new Map<TableName, string[]>();
  for (const table of TABLE_NAMES) {
    const state = await readLog(lake, table);
    const behind = explainBehind(lake, { table, version: state.version, paths: state.files.keys() }, pointer);
    if (behind !== undefined) throw new PricelakeError('lake_invalid', behind, { hint: REBUILD_HINT });
    orphans.set(table, await findExpiredFiles(lake, state, io.now()));
  }
  for (const [table, paths] of orphans) {
    if (paths.length === 0) continue;
    await deleteFiles(lake, table, paths);
    io.log('info', 'lake.recovered', { table, files: paths.length });
  }
  for (const name of ['staging', 'tmp', 'work']) await clearFolder(privatePath(lake, name));
  await clearLockLeftovers(lake);
}

async function clearFolder(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(ignoreMissing)) ?? [];
  for (const name of names) await removeBusyFolder(join(folder, name));
}
