import { readdir, readFile } from 'node:fs/promises';
import { PricelakeError } from '../errors.js';
import type { DataFile, TableName } from '../model.js';
import { readCheckpoint } from './checkpoint-file.js';
import {
  type Action,
  decodeLogPath,
  type MetaData,
  type Protocol,
  parseAction,
  readAdd,
  type Txn,
} from './delta-actions.js';
import { ignoreMissing, type Lake, tablePath } from './layout.js';

/** A table's whole state: the replay of its log. */
export interface LogState {
  table: TableName;
  /** -1n before the first commit. */
  version: bigint;
  /** Version of the checkpoint that the replay began at. */
  checkpoint: bigint | undefined;
  protocol: Protocol | undefined;
  metaData: MetaData | undefined;
  /** By decoded path. */
  files: Map<string, DataFile>;
  /** Decoded path → when it was removed, ms since the epoch. */
  tombstones: Map<string, number>;
  txn: Map<string, Txn>;
}

/** `<table>/_delta_log/<version, 20 digits>.<suffix>`. */
export function logPath(lake: Lake, table: TableName, version: bigint, suffix: string): string {
  return tablePath(lake, table, '_delta_log', `${version.toString().padStart(20, '0')}.${suffix}`);
}

/**
 * Replays a table's log from its newest checkpoint.
 * @throws PricelakeError `lake_invalid` when a version is missing or a line is damaged.
 */
export async function readLog(lake: Lake, table: TableName): Promise<LogState> {
  const names = (await readdir(tablePath(lake, table, '_delta_log')).catch(ignoreMissing)) ?? [];
  const state: LogState = {
    table,
    version: -1n,
    checkpoint: findVersions(names, 'checkpoint.parquet').at(-1),
    protocol: undefined,
    metaData: undefined,
    files: new Map(),
    tombstones: new Map(),
    txn: new Map(),
  };
  if (state.checkpoint !== undefined) {
    const path = logPath(lake, table, state.checkpoint, 'checkpoint.parquet');
    applyLines(state, await readCheckpoint(path), path);
    state.version = state.checkpoint;
  }
  for (const version of findVersions(names, 'json').filter((version) => version > state.version)) {
    await applyCommit(lake, state, version);
  }
  if (state.version >= 0n) checkReadable(lake, state);
  return state;
}

function findVersions(names: string[], suffix: string): bigint[] {
  return names
    .filter((name) => /^\d{20}\./.test(name) && name.slice(21) === suffix)
    .map((name) => BigInt(name.slice(0, 20)))
    .sort((a, b) => (a < b ? -1 : 1));
}

async function applyCommit(lake: Lake, state: LogState, version: bigint): Promise<void> {
  const path = logPath(lake, state.table, version, 'json');
  if (version !== state.version + 1n) {
    throw new PricelakeError('lake_invalid', `${path}: version ${state.version + 1n} is missing before it`, {
      hint: 'Restore the log from a backup, or build the lake anew.',
    });
  }
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  applyLines(state, lines, path);
  state.version = version;
}

function applyLines(state: LogState, lines: string[], path: string): void {
  let line = 0;
  try {
    for (const text of lines) {
      line += 1;
      applyAction(state, parseAction(text));
    }
  } catch (cause) {
    throw new PricelakeError('lake_invalid', `${path}: line ${line} is damaged`, { line }, { cause });
  }
}

function applyAction(state: LogState, action: Action): void {
  if (action.add != null) {
    const file = readAdd(action.add);
    state.files.set(file.path, file);
    state.tombstones.delete(file.path);
  }
  if (action.remove != null) {
    const path = decodeLogPath(action.remove.path);
    state.files.delete(path);
    state.tombstones.set(path, Number(action.remove.deletionTimestamp ?? 0));
  }
  if (action.txn != null) {
    const { appId, version, lastUpdated } = action.txn;
    state.txn.set(appId, { version: BigInt(version), lastUpdated: Number(lastUpdated ?? 0) });
  }
  if (action.metaData != null) state.metaData = action.metaData;
  if (action.protocol != null) state.protocol = action.protocol;
}

function checkReadable(lake: Lake, state: LogState): void {
  const folder = tablePath(lake, state.table);
  if (state.metaData === undefined || state.protocol === undefined) {
    throw new PricelakeError('lake_invalid', `${folder}: its log has no metaData or no protocol`);
  }
  const { minReaderVersion, minWriterVersion } = state.protocol;
  if (minReaderVersion > 1 || minWriterVersion > 2) {
    throw new PricelakeError(
      'lake_invalid',
      `${folder}: another program raised the table to Delta reader ${minReaderVersion}, writer ${minWriterVersion}; pricelake knows 1 and 2`,
      { hint: 'Build the lake anew, and leave its tables to pricelake.' },
    );
  }
}
