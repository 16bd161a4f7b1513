import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFile, syncFolder } from '../io/durable.js';
import { ignoreMissing } from '../io/errors.js';
import { type Lake, tablePath, temporaryPath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import { convertToCheckpoint } from './checkpoint-file.js';
import { hashFile } from './data-file.js';
import { encodeLogPath, type LogState, SHA256_TAG, writeAdd, writeTxn } from './delta-actions.js';
import { findVersions, listLog, logPath, readLog } from './delta-log.js';
import { readTombstoneMs } from './delta-metadata.js';
import { writeDurably } from './durable.js';

/** Writes a checkpoint of a table's newest version (Delta protocol, Checkpoints), then the `_last_checkpoint` file. */
export async function writeCheckpoint(lake: Lake, table: TableName, at: Date): Promise<void> {
  const state = await readLog(lake, table);
  const lines = writeActions(state, at);
  const path = logPath(lake, table, state.version, 'checkpoint.parquet');
  const log = dirname(path);
  const converted = temporaryPath(lake, path);
  const unconverted = `${converted}.json`;
  try {
    await writeFile(unconverted, lines.map((line) => `${line}\n`).join(''));
    await convertToCheckpoint(unconverted, converted);
    await syncFile(converted);
    await rename(converted, path);
  } finally {
    for (const file of [unconverted, converted]) await rm(file, { force: true });
  }
  await syncFolder(log);
  const pointer = {
    version: Number(state.version),
    size: lines.length,
    sizeInBytes: (await stat(path)).size,
    numOfAddFiles: state.files.size,
    // The protocol has no field for the checkpoint's checksum, so the checksum is stored as a tag.
    tags: { [SHA256_TAG]: await hashFile(path) },
  };
  await writeDurably(lake, join(log, '_last_checkpoint'), JSON.stringify(pointer));
}

function writeActions(state: LogState, at: Date): string[] {
  const since = at.getTime() - readTombstoneMs(state.metaData);
  const kept = [...state.tombstones].filter(([, removedAt]) => removedAt > since);
  return [
    JSON.stringify({ protocol: state.protocol }),
    JSON.stringify({ metaData: state.metaData }),
    ...[...state.txn].map(([appId, txn]) => writeTxn(appId, txn)),
    ...[...state.files.values()].map((file) => writeAdd(file)),
    ...kept.map(([path, deletionTimestamp]) =>
      JSON.stringify({ remove: { path: encodeLogPath(path), deletionTimestamp, dataChange: true } }),
    ),
  ];
}

/** Delta's default for the table property `delta.logRetentionDuration`, in milliseconds. */
export const LOG_RETENTION_MS = 30 * 86_400_000;
/** A checkpoint that is this many versions behind counts as old, even if it is younger than 30 days. */
const KEPT_VERSIONS = 100n;

/**
 * Deletes the log entries and checkpoints before the newest old checkpoint. A checkpoint is old if it is 30 days old
 * (Delta protocol, Metadata Cleanup) or 100 versions behind. It must also be at least `retentionMs` old, so that all
 * versions whose data files still exist stay readable.
 */
export async function cleanLog(lake: Lake, table: TableName, at: Date, retentionMs: number): Promise<void> {
  const names = await listLog(lake, table);
  const newest = findVersions(names, 'json').at(-1) ?? 0n;
  const old = await listOldEntries(names, async (version) => {
    const ageMs = at.getTime() - (await readCommitTime(logPath(lake, table, version, 'json')));
    return ageMs >= retentionMs && (ageMs >= LOG_RETENTION_MS || newest - version >= KEPT_VERSIONS);
  });
  for (const name of old) await rm(tablePath(lake, table, '_delta_log', name), { force: true });
}

/** Lists the log entries and checkpoints before the newest checkpoint for which `isOld` returns true. */
export async function listOldEntries(
  names: readonly string[],
  isOld: (version: bigint) => Promise<boolean>,
): Promise<string[]> {
  for (const version of findVersions(names, 'checkpoint.parquet').reverse()) {
    if (!(await isOld(version))) continue;
    return names.filter((name) => /^\d{20}\./.test(name) && BigInt(name.slice(0, 20)) < version).sort();
  }
  return [];
}

/**
 * Reads a log entry's commit time (`commitInfo.timestamp`). Copying a lake changes the times of its files, but not this
 * time. Returns NaN if the entry or its time is missing. Such an entry never counts as old.
 */
async function readCommitTime(path: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  const line = text?.split('\n').find((line) => line.startsWith('{"commitInfo"'));
  if (line === undefined) return Number.NaN;
  return (JSON.parse(line) as { commitInfo: { timestamp?: number } }).commitInfo.timestamp ?? Number.NaN;
}
