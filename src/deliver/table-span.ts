import { access } from 'node:fs/promises';
import { isEmptyFile } from '../lake/data-file.js';
import { readLog } from '../lake/delta-log.js';
import type { LogEntry } from '../lake/log-entries.js';
import { decodeApplied } from '../lake/table-state.js';
import { type Lake, tablePath } from '../tables/layout.js';
import type { Applied, DataFile, TableName } from '../tables/table.js';
import { readCommitsSince, type Since } from './since.js';

/** The changes of a table between two versions, read only from its log. */
export interface TableSpan {
  table: TableName;
  /** The earlier version (-1n if the table didn't exist yet) and the newest version. */
  from: bigint;
  to: bigint;
  entries: LogEntry[];
  /** The runs that changed rows. */
  runIds: string[];
  /**
   * Files that are only in the newest version, and files that are only in the earlier version. Empty files are left
   * out.
   */
  added: DataFile[];
  removed: DataFile[];
  /** Files that commits removed because rows changed. Files that compactions removed aren't included. */
  replaced: DataFile[];
  /** All files of the newest version. */
  files: DataFile[];
  /** False if a rebuild or another program changed rows. */
  isByRuns: boolean;
  /** The runs and cursors that are recorded in the two versions. */
  applied: { before: Applied; after: Applied };
}

/**
 * Reads the changes after `since`. @throws PricelakeError `usage` if the log starts later, `lake_invalid` for damage
 */
export async function readSpan(lake: Lake, table: TableName, since: Since): Promise<TableSpan> {
  const { version: from, entries } = await readCommitsSince(lake, table, since);
  const to = entries.at(-1)?.version ?? from;
  const newest = await readLog(lake, table);
  // Reads the log only up to `to`, because a run may have published after the entries were read.
  const after = newest.version === to ? newest : await readLog(lake, table, { until: to });
  const before = from < 0n ? undefined : await readLog(lake, table, { until: from });
  const changing = entries.filter(({ changesRows }) => changesRows);
  const known = new Map(before?.files);
  for (const file of entries.flatMap(({ added }) => added)) known.set(file.path, file);
  const hasRows = (file: DataFile | undefined): file is DataFile => file !== undefined && !isEmptyFile(file);
  return {
    table,
    from,
    to: after.version,
    entries,
    runIds: [...new Set(changing.flatMap(({ runId }) => runId ?? []))],
    added: [...after.files.values()].filter((file) => hasRows(file) && before?.files.has(file.path) !== true),
    removed: [...(before?.files.values() ?? [])].filter((file) => hasRows(file) && !after.files.has(file.path)),
    replaced: changing.flatMap(({ removed }) => removed.map((path) => known.get(path))).filter(hasRows),
    files: [...after.files.values()].filter(hasRows),
    isByRuns: changing.every(({ isOurs, operation }) => isOurs && operation === 'SYNC'),
    applied: { before: decodeApplied(before?.txn ?? new Map()), after: decodeApplied(after.txn) },
  };
}

/** True if the files are still on disk, even if they are no longer part of the newest version. */
export async function areKept(lake: Lake, table: TableName, files: readonly DataFile[]): Promise<boolean> {
  const found = await Promise.all(
    files.map(({ path }) =>
      access(tablePath(lake, table, path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.every((isThere) => isThere);
}
