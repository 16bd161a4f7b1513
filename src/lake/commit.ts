import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, syncFolder } from '../io/durable.js';
import { PricelakeError } from '../io/errors.js';
import { PRICELAKE_VERSION } from '../io/package-path.js';
import { runSideBySide } from '../io/side-by-side.js';
import { type Lake, privatePath, tablePath } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { FileChange, StagedFile } from '../tables/table.js';
import { cleanLog, writeCheckpoint } from './checkpoint.js';
import { isEmptyFile } from './data-file.js';
import { deleteFiles, removeEmptyFolders } from './delete-files.js';
import { type LogState, type MetaData, nameCommit, writeAdd, writeRemove, writeTxn } from './delta-actions.js';
import { logPath, readLog } from './delta-log.js';
import { planMetaData, readRetentionMs } from './delta-metadata.js';
import { createExclusively } from './durable.js';
import { findForeignCommits } from './foreign-commit.js';
import { sealEntry } from './log-seal.js';
import { encodeApplied } from './table-state.js';

export interface CommitInfo {
  runId: string;
  /** The kind of commit in Delta's history, such as `SYNC` or `OPTIMIZE`. */
  operation: string;
  at: Date;
  /** Sets how long the table keeps replaced files, in milliseconds. If it is undefined, the setting stays the same. */
  retentionMs?: number;
  /** The version on which the change is based. The commit fails if another program has since changed the table. */
  since?: bigint;
}

const CONCURRENCY = 16;
const CHECKPOINT_INTERVAL = 10n;

/**
 * Commits a change as the table's next version. Moves the staged files into the table, creates the log entry, and
 * deletes replaced files unless the table keeps them. If it fails before the log entry exists, moves the staged files
 * back.
 * @returns the new version, or the current version if the change is empty
 * @throws PricelakeError `lake_locked` if another writer committed first, `config` if the partition columns differ from
 * the table's, `lake_invalid` if the log or the columns are wrong
 */
export async function commitTable(lake: Lake, wanted: FileChange, info: CommitInfo): Promise<bigint> {
  const state = await readLog(lake, wanted.table);
  const change = keepEmptyFile(state, wanted);
  const txn = encodeApplied(change.applied, state.txn);
  if (change.add.length === 0 && change.remove.length === 0 && txn.length === 0) return state.version;
  checkFiles(state, change);
  await refuseIntruder(lake, state, info.since);
  const metaData = planMetaData(state, loadTableSchema(change.table), change, info);
  const lines = writeLines(state, change, txn, metaData, info);
  const version = state.version + 1n;
  await publishVersion(lake, change, version, lines);
  const retentionMs = readRetentionMs(metaData ?? state.metaData);
  const superseded = change.remove.map((file) => file.path);
  if (retentionMs === 0) await deleteFiles(lake, change.table, superseded);
  if (version > 0n && version % CHECKPOINT_INTERVAL === 0n) {
    await writeCheckpoint(lake, change.table, info.at);
    await cleanLog(lake, change.table, info.at, retentionMs);
  }
  return version;
}

/** Keeps the empty file of a table without rows if the change adds no files. Removes it if the change adds rows. */
function keepEmptyFile(state: LogState, change: FileChange): FileChange {
  if (change.add.length === 0) return { ...change, remove: change.remove.filter((file) => !isEmptyFile(file)) };
  if (change.add.every(isEmptyFile)) return change;
  const removed = new Set(change.remove.map(({ path }) => path));
  const empty = [...state.files.values()].filter((file) => isEmptyFile(file) && !removed.has(file.path));
  return { ...change, remove: [...change.remove, ...empty] };
}

function checkFiles(state: LogState, change: FileChange): void {
  const gone = change.remove.find((file) => !state.files.has(file.path));
  if (gone !== undefined) {
    throw new PricelakeError('lake_locked', `${change.table}: ${gone.path} is not in version ${state.version}`, {
      hint: 'Another run has changed the table; run the same command again.',
    });
  }
}

/** Throws if another program has changed the table after version `since`, from which the change was computed. */
async function refuseIntruder(lake: Lake, { table, version }: LogState, since: bigint | undefined): Promise<void> {
  if (since === undefined || version <= since) return;
  const intruder = (await findForeignCommits(lake, table, since)).find(({ change }) => change !== undefined);
  if (intruder === undefined) return;
  throw new PricelakeError(
    'lake_locked',
    `${table}: during the run, another program wrote ${nameCommit(intruder)}, which ${intruder.change}`,
    { hint: 'Only pricelake may write to the tables. Run `pricelake sync` again for recovery instructions.' },
  );
}

function writeLines(
  state: LogState,
  change: FileChange,
  txn: [string, bigint][],
  metaData: MetaData | undefined,
  info: CommitInfo,
): string {
  const actions = [
    ...(state.version < 0n ? [JSON.stringify({ protocol: { minReaderVersion: 1, minWriterVersion: 2 } })] : []),
    ...(metaData === undefined ? [] : [JSON.stringify({ metaData })]),
    ...txn.map(([appId, version]) => writeTxn(appId, { version, lastUpdated: info.at.getTime() })),
    ...change.remove.map((file) => writeRemove(file, info.at, change.dataChange)),
    ...change.add.map((file) => writeAdd(file, change.dataChange)),
  ];
  const commitInfo = {
    timestamp: info.at.getTime(),
    operation: info.operation,
    operationParameters: {},
    engineInfo: `pricelake/${PRICELAKE_VERSION}`,
    runId: info.runId,
  };
  return sealEntry(commitInfo, actions);
}

async function publishVersion(lake: Lake, change: FileChange, version: bigint, lines: string): Promise<void> {
  const folder = tablePath(lake, change.table);
  const log = tablePath(lake, change.table, '_delta_log');
  const moved: StagedFile[] = [];
  let created = false;
  try {
    await makeFolder(log);
    // Waits for all renames even if one fails, so that every moved file can be moved back.
    await runSideBySide(CONCURRENCY, change.add, async (file) => {
      await rename(file.stagedAt, join(folder, file.path));
      moved.push(file);
    });
    await syncFolder(folder);
    // THE COMMIT POINT: once the log entry exists, the table has the new version. All its files are already on disk.
    created = await createExclusively(lake, logPath(lake, change.table, version, 'json'), lines);
  } finally {
    if (!created) for (const file of moved) await rename(join(folder, file.path), file.stagedAt);
  }
  if (!created) {
    throw new PricelakeError('lake_locked', `${change.table}: another writer created version ${version} first`, {
      hint: 'Only one run may write to a lake at a time. Run the same command again.',
    });
  }
  await syncFolder(log);
  const staging = privatePath(lake, 'staging');
  for (const from of new Set(moved.map((file) => dirname(file.stagedAt)))) await removeEmptyFolders(from, staging);
}
