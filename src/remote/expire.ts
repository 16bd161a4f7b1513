import { findVersions, nameEntry, readLog } from '../lake/delta-log.js';
import { readRetentionMs } from '../lake/delta-metadata.js';
import { type RemoteTable, remoteLogKey } from './remote-table.js';
import type { Ends } from './send-tables.js';

/** A younger file that no log names may be in use by a run on another machine. */
const ORPHAN_MS = 86_400_000;
/** Delta's default of `delta.logRetentionDuration`. */
const LOG_RETENTION_MS = 30 * 86_400_000;

/**
 * Removes files that readers of the remote no longer need: superseded files after the table's retention, files that no
 * log names after a day, and log entries before a checkpoint that is 30 days old.
 * @param remote listed before this machine sent anything
 */
export async function expireRemote({ store, lake, io }: Ends, remote: readonly RemoteTable[]): Promise<void> {
  const now = io.now().getTime();
  for (const { table, files, log } of remote) {
    if (files.size === 0) continue;
    const state = await readLog(lake, table);
    const retentionMs = readRetentionMs(state.metaData);
    const isExpired = (path: string, writtenAt: Date) => {
      const removedAt = state.tombstones.get(path);
      if (state.files.has(path)) return false;
      const isKept = removedAt === undefined ? writtenAt.getTime() > now - ORPHAN_MS : removedAt > now - retentionMs;
      return !isKept;
    };
    const expired = [...files].filter(([path, { writtenAt }]) => isExpired(path, writtenAt)).map(([, { key }]) => key);
    await store.remove([...expired, ...listOldEntries(table, log, now - Math.max(LOG_RETENTION_MS, retentionMs))]);
    if (expired.length > 0) io.log('debug', 'remote.expired', { table, files: expired.length });
  }
}

/** Entries and checkpoints before the newest checkpoint that is older than the cutoff. */
function listOldEntries(table: RemoteTable['table'], log: RemoteTable['log'], cutoff: number): string[] {
  const checkpoints = findVersions(log.keys(), 'checkpoint.parquet');
  const writtenAt = (version: bigint) =>
    log.get(nameEntry(version, 'checkpoint.parquet'))?.writtenAt.getTime() ?? Number.POSITIVE_INFINITY;
  const keepFrom = checkpoints.findLast((version) => writtenAt(version) <= cutoff);
  if (keepFrom === undefined) return [];
  const names = [...log.keys()].filter((name) => /^\d{20}\./.test(name) && BigInt(name.slice(0, 20)) < keepFrom);
  return names.map((name) => remoteLogKey(table, name));
}
