import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TableName } from '../tables/table.js';
import { convertToCheckpoint } from './checkpoint-file.js';
import { encodeLogPath, writeAdd, writeTxn } from './delta-actions.js';
import { logPath, readLog } from './delta-log.js';
import { readTombstoneMs } from './delta-metadata.js';
import { syncFile, syncFolder, writeDurably } from './durable.js';
import { type Lake, temporaryPath } from './layout.js';
import type { LogState } from './log-state.js';

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
