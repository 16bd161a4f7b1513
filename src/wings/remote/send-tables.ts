import { readFile, stat } from 'node:fs/promises';
import { ignoreMissing, PricelakeError } from '../../io/errors.js';
import { runSideBySide, settleAll } from '../../io/side-by-side.js';
import { LOG_RETENTION_MS, listOldEntries, writeCheckpoint } from '../../lake/checkpoint.js';

import { findVersions, listLog, logPath, nameEntry, parseEntry, REBUILD_HINT, readLog } from '../../lake/delta-log.js';
import { readRetentionMs } from '../../lake/delta-metadata.js';
import { refusePartial } from '../../lake/partial.js';
import { type Lake, tablePath } from '../../tables/layout.js';
import { COMMIT_STEPS, type TableName } from '../../tables/table.js';
import type { ListedObject, ObjectStore } from './object-store.js';
import { type Ends, hasSameEntry, type RemoteTable, remoteLogKey } from './remote-table.js';

export const FILES = 4;

interface Pending {
  table: TableName;
  version: bigint;
  at: number;
  files: string[];
  entry: Buffer;
  /** True if the remote lacks the version before this one. Then a checkpoint must represent the earlier versions. */
  isFirst: boolean;
}

/**
 * Uploads each version that the remote lacks. First uploads the data files, which no reader uses yet. Then creates the
 * log entries in the order of their commits, each only if the remote doesn't have that version.
 * @returns false if the remote has other versions, which this folder must download; uploaded files then remain
 */
export async function sendTables(ends: Ends, remote: readonly RemoteTable[]): Promise<boolean> {
  const { store, lake, io } = ends;
  const found = await settleAll(remote.map((table) => findPending(ends, table)));
  const pending = found.filter((versions) => versions !== undefined);
  if (pending.length < remote.length) return false;
  await sendFiles(ends, remote, pending.flat());
  for (const step of inOrder(pending)) {
    const created = await settleAll(step.map((version) => sendEntry(ends, version)));
    if (created.includes(false)) return false;
    for (const { table, version } of step) io.log('debug', 'remote.entry', { table, version });
  }
  await settleAll(remote.map(({ table, log }) => sendCheckpoint(store, lake, table, log)));
  return true;
}

/** Lists the versions that the remote lacks. Returns undefined if the logs differ or the remote is ahead. */
async function findPending({ store, lake, io }: Ends, remote: RemoteTable): Promise<Pending[] | undefined> {
  const { table } = remote;
  const names = await listLog(lake, table);
  const versions = findVersions(names, 'json');
  const newest = versions.at(-1) ?? -1n;
  if (newest < remote.version) return undefined;
  if (newest < 0n) return [];
  if (remote.version >= 0n && !(await hasSameEntry(store, lake, table, remote.version))) {
    // The logs differ if this folder has another entry for the remote's newest version. If this folder has no such
    // entry, they needn't differ, because old entries are deleted after a checkpoint.
    if (versions.includes(remote.version)) return undefined;
  }
  const missing = versions.filter((version) => version > remote.version);
  if (missing.length === 0) return [];
  if (missing[0] === remote.version + 1n && (remote.version >= 0n || newest === 0n)) {
    // The entries are read one after another, because hundreds of versions may have to be uploaded.
    const pending: Pending[] = [];
    for (const version of missing) pending.push(await readPending(lake, table, version));
    return pending;
  }
  // The remote has no version of the table, or the log in this folder no longer contains all versions that the remote
  // lacks. Only the newest version is uploaded, with a checkpoint that represents the earlier versions.
  if (!names.includes(nameEntry(newest, 'checkpoint.parquet'))) await writeCheckpoint(lake, table, io.now());
  const state = await readLog(lake, table);
  const last = await readPending(lake, table, newest);
  return [{ ...last, files: [...state.files.keys()], isFirst: true }];
}

async function readPending(lake: Lake, table: TableName, version: bigint): Promise<Pending> {
  const path = logPath(lake, table, version, 'json');
  const entry = await readFile(path);
  const actions = parseEntry(path, entry.toString());
  const files = actions.flatMap(({ add }) => (add == null ? [] : [add.path]));
  const info = actions.find(({ commitInfo }) => commitInfo != null)?.commitInfo as { timestamp?: number } | undefined;
  return { table, version, at: info?.timestamp ?? 0, files, entry, isFirst: false };
}

/** Groups versions by commit time, in ascending order. For equal times, uses the order in which a run commits. */
function* inOrder(pending: Pending[][]): Generator<Pending[]> {
  const left = pending.map((versions) => [...versions]);
  const rank = ({ table }: Pending) => COMMIT_STEPS.findIndex((tables) => tables.includes(table));
  const compare = (a: Pending, b: Pending) => a.at - b.at || rank(a) - rank(b);
  for (;;) {
    const heads = left.flatMap(([head]) => (head === undefined ? [] : [head]));
    const next = heads.sort(compare)[0];
    if (next === undefined) return;
    const step = heads.filter((head) => compare(head, next) === 0);
    for (const versions of left) if (step.includes(versions[0] as Pending)) versions.shift();
    yield step;
  }
}

async function sendFiles(
  { store, lake, stop }: Ends,
  remote: readonly RemoteTable[],
  pending: readonly Pending[],
): Promise<void> {
  const sends: (() => Promise<void>)[] = [];
  for (const { table, files: there } of remote) {
    const versions = pending.filter((version) => version.table === table);
    if (versions.length === 0) continue;
    const { files: current } = await readLog(lake, table);
    const sendOne = async (path: string) => {
      stop?.throwIfAborted();
      const file = tablePath(lake, table, path);
      const info = await stat(file).catch(ignoreMissing);
      // A file that the current version doesn't contain may be missing.
      if (info === undefined && !current.has(path)) return;
      if (info === undefined) await refusePartial(lake);
      if (info === undefined) throw new PricelakeError('lake_invalid', `${file}: missing`, { hint: REBUILD_HINT });
      if (there.get(path)?.bytes !== info.size) await store.upload(`${table}/${path}`, file, info.size);
    };
    for (const path of new Set(versions.flatMap(({ files }) => files))) sends.push(() => sendOne(path));
  }
  await runSideBySide(FILES, sends, (send) => send());
}

async function sendEntry({ store, lake }: Ends, { table, version, entry, isFirst }: Pending): Promise<boolean> {
  if (isFirst) await sendLogFile(store, lake, table, nameEntry(version, 'checkpoint.parquet'));
  // THE COMMIT POINT of the remote: from now on, readers see this version, and all of its files exist.
  const isCreated = await store.create(remoteLogKey(table, nameEntry(version)), entry);
  // If an earlier attempt created the entry, but the response was lost, the remote has the same entry.
  return isCreated || (await hasSameEntry(store, lake, table, version));
}

/** Uploads the newest checkpoint, and then the file that points to it. */
async function sendCheckpoint(
  store: ObjectStore,
  lake: Lake,
  table: TableName,
  log: RemoteTable['log'],
): Promise<void> {
  const newest = findVersions(await listLog(lake, table), 'checkpoint.parquet').at(-1);
  if (newest === undefined) return;
  const name = nameEntry(newest, 'checkpoint.parquet');
  if (log.has(name)) return;
  await sendLogFile(store, lake, table, name);
  await sendLogFile(store, lake, table, '_last_checkpoint');
}

async function sendLogFile(store: ObjectStore, lake: Lake, table: TableName, name: string): Promise<void> {
  const path = tablePath(lake, table, '_delta_log', name);
  const info = await stat(path).catch(ignoreMissing);
  if (info !== undefined) await store.upload(remoteLogKey(table, name), path, info.size);
}

/** A file that is in no log is kept for a day, because it may belong to a run on another machine. */
const ORPHAN_MS = 86_400_000;

/**
 * Deletes files that readers of the remote no longer need. These are superseded files after the table's retention
 * period, files that are in no log after a day, and log entries before a checkpoint that is 30 days old.
 * @param remote the remote's tables, as they were listed before this machine uploaded anything
 */
export async function expireRemote({ store, lake, io }: Ends, remote: readonly RemoteTable[]): Promise<void> {
  const now = io.now().getTime();
  for (const { table, files, log } of remote) {
    if (files.size === 0) continue;
    const state = await readLog(lake, table);
    const retentionMs = readRetentionMs(state.metaData);
    const isExpired = ([path, { writtenAt }]: [string, ListedObject]) => {
      if (state.files.has(path)) return false;
      const removedAt = state.tombstones.get(path);
      return removedAt === undefined ? writtenAt.getTime() <= now - ORPHAN_MS : removedAt <= now - retentionMs;
    };
    const expired = [...files].filter(isExpired).map(([, { key }]) => key);
    const cutoff = now - Math.max(LOG_RETENTION_MS, retentionMs);
    const entries = await listOldEntries([...log.keys()], async (version) => {
      const writtenAt = log.get(nameEntry(version, 'checkpoint.parquet'))?.writtenAt;
      return writtenAt !== undefined && writtenAt.getTime() <= cutoff;
    });
    await store.remove([...expired, ...entries.map((name) => remoteLogKey(table, name))]);
    if (expired.length > 0) io.log('debug', 'remote.expired', { table, files: expired.length });
  }
}
