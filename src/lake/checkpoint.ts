import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFile, syncFolder } from '../io/durable.js';
import { ignoreMissing, type Lake, tablePath, temporaryPath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import { convertToCheckpoint } from './checkpoint-file.js';
import { encodeLogPath, type LogState, writeAdd, writeTxn } from './delta-actions.js';
import { logPath, readLog } from './delta-log.js';
import { readTombstoneMs } from './delta-metadata.js';
import { writeDurably } from './durable.js';

/** Writes a checkpoint of a table's newest version (protocol, "Checkpoints") and points `_last_checkpoint` at it. */
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

/** Delta's default of `delta.logRetentionDuration`. */
const LOG_RETENTION_MS = 30 * 86_400_000;
/** Versions that the log keeps although their superseded files are gone, because a reader may be behind. */
const KEPT_VERSIONS = 100n;

/**
 * Deletes log entries and checkpoints before the newest checkpoint that is 30 days old (protocol, "Metadata Cleanup"),
 * or 100 versions behind, and at least as old as superseded files get. The rest gives the table's state and every
 * version whose files are there.
 */
export async function cleanLog(lake: Lake, table: TableName, at: Date, retentionMs: number): Promise<void> {
  const folder = tablePath(lake, table, '_delta_log');
  const names = (await readdir(folder)).filter((name) => /^\d{20}\./.test(name)).sort();
  const newest = BigInt(names.at(-1)?.slice(0, 20) ?? 0n);
  const keepFrom = await findOldCheckpoint(folder, names, (version, committedAt) => {
    const ageMs = at.getTime() - committedAt;
    return ageMs >= retentionMs && (ageMs >= LOG_RETENTION_MS || newest - version >= KEPT_VERSIONS);
  });
  // Names of that version begin with `keepFrom`, so they sort after it.
  for (const name of names.filter((name) => name < keepFrom)) await rm(join(folder, name), { force: true });
}

/** Version (20 digits) of the newest checkpoint that `isOld`; empty if there is none. */
async function findOldCheckpoint(
  folder: string,
  names: string[],
  isOld: (version: bigint, committedAt: number) => boolean,
): Promise<string> {
  for (const name of names.filter((name) => name.slice(20) === '.checkpoint.parquet').reverse()) {
    const version = name.slice(0, 20);
    if (isOld(BigInt(version), await readCommitTime(join(folder, `${version}.json`)))) return version;
  }
  return '';
}

/**
 * `commitInfo.timestamp` of a log entry: unlike the file's own time, it survives a copy of the lake. NaN if the entry is
 * gone or has none; no comparison of ages holds for it.
 */
async function readCommitTime(path: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  const line = text?.split('\n').find((line) => line.startsWith('{"commitInfo"'));
  if (line === undefined) return Number.NaN;
  return (JSON.parse(line) as { commitInfo: { timestamp?: number } }).commitInfo.timestamp ?? Number.NaN;
}
