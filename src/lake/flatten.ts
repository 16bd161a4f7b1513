import { randomUUID } from 'node:crypto';
import { link, mkdir } from 'node:fs/promises';
import { posix } from 'node:path';
import pLimit from 'p-limit';
import type { Io } from '../io/io.js';
import type { DataFile, StagedFile, TableName, TableState } from '../tables/table.js';
import { commitTable } from './commit.js';
import { readFooterFacts } from './data-file.js';
import { nameDataFile } from './file-name.js';
import { followItems } from './follow-items.js';
import { type Lake, privatePath, tablePath } from './layout.js';
import { requireFiles } from './partial.js';
import { refreshPointer } from './publish.js';

/** What a compaction did to a table. */
export interface Compaction {
  table: TableName;
  version: bigint;
  filesBefore: number;
  filesAfter: number;
  rows: bigint;
}

/**
 * True for a file that spoils plain reads of its table: one in a folder, which they pass by or take a column from, and
 * one of another program, which lacks columns or has other types (Spark writes times without a zone).
 */
export const isMisplaced = ({ path, sha256 }: DataFile) => path.includes('/') || sha256 === undefined;

/** Names the renaming where commits name the run that wrote them. */
const RUN_ID = 'flatten';
const CONCURRENCY = 16;

/**
 * Puts files that are in folders (older versions named these `site_id=12`) beside the others of their table: a commit
 * of the same bytes a table, by hard links, so that a plain read finds all rows at any moment. Call it under the lock, before anything is staged.
 */
export async function flattenTables(lake: Lake, states: TableState[], io: Io): Promise<Compaction[]> {
  const done: Compaction[] = [];
  for (const state of states) {
    const { table, version: before, files } = state;
    const { movable: moving } = await sortMisplaced(lake, state);
    if (moving.length === 0) continue;
    const info = { runId: RUN_ID, at: io.now() };
    const change = { table, add: await linkFiles(lake, table, moving), remove: moving, applied: {}, dataChange: false };
    const version = await commitTable(lake, { ...change, isRename: true }, { ...info, operation: 'OPTIMIZE' });
    io.log('info', 'lake.flattened', { table, files: moving.length, version });
    if (table === 'items') await followItems(lake, { before, after: version }, info);
    const rows = moving.reduce((sum, file) => sum + file.rows, 0n);
    done.push({ table, version, filesBefore: files.length, filesAfter: files.length, rows });
  }
  if (done.length > 0) await refreshPointer(lake);
  return done;
}

/** Misplaced files: ours mean the same in any folder, those of other programs have to be rewritten. */
export async function sortMisplaced(lake: Lake, { table, files }: Pick<TableState, 'table' | 'files'>) {
  const limit = pLimit(CONCURRENCY);
  const sorted = { movable: [] as DataFile[], foreign: [] as DataFile[] };
  const sortFile = async (file: DataFile) => {
    // A damaged file stays: the next reader reports it.
    const footer = await readFooterFacts(tablePath(lake, table, file.path)).catch(() => undefined);
    if (footer === undefined) return;
    // Not every program notes in the log how many rows a file has.
    if (file.sha256 === undefined) sorted.foreign.push({ ...file, rows: footer.rows });
    else sorted.movable.push(file);
  };
  const misplaced = files.filter(isMisplaced);
  await requireFiles(lake, table, misplaced);
  await Promise.all(misplaced.map((file) => limit(() => sortFile(file))));
  return sorted;
}

/** Links, not renames: until the commit exists, the previous version needs its own names. */
async function linkFiles(lake: Lake, table: TableName, files: DataFile[]): Promise<StagedFile[]> {
  const limit = pLimit(CONCURRENCY);
  const folder = privatePath(lake, 'staging', RUN_ID, table, randomUUID());
  await mkdir(folder, { recursive: true });
  const linkFile = async (file: DataFile): Promise<StagedFile> => {
    const path = nameDataFile(file.partitionValues, posix.basename(file.path));
    const stagedAt = posix.join(folder, path);
    await link(tablePath(lake, table, file.path), stagedAt);
    return { ...file, path, stagedAt };
  };
  return Promise.all(files.map((file) => limit(() => linkFile(file))));
}
