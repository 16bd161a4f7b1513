import { readdir, readFile } from 'node:fs/promises';
import { isSafeNumber, parse } from 'lossless-json';
import { ignoreMissing } from '../io/errors.js';
import { findDataPathFault, quotePath } from '../io/inner-path.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import { checkCommit, type Entry } from './check-commit.js';
import { readRows } from './exact-parquet.js';
import type { Report } from './proof.js';
import type { Action, ReplayedTable } from './replayed-table.js';

/**
 * Replays a table's log from version 0, or from the oldest checkpoint if older entries were deleted. Compares each
 * checkpoint with the replayed state. Doesn't use the code that writes logs. Returns undefined without a log. Also
 * returns undefined if the log can't be replayed, after reporting this as a fault.
 */
export async function replayTable(lake: Lake, table: TableName, report: Report): Promise<ReplayedTable | undefined> {
  const folder = tablePath(lake, table, '_delta_log');
  const names = (await readdir(folder).catch(ignoreMissing)) ?? [];
  const commits = listVersions(names, '.json');
  const checkpoints = listVersions(names, '.checkpoint.parquet');
  if (commits.length === 0 && checkpoints.length === 0) return undefined;
  const state = emptyTable(table);
  const fail = (name: string, what: string) => report({ table, file: `${table}/_delta_log/${name}`, what });
  try {
    if ((commits[0] ?? 0) > 0) {
      const [oldest] = checkpoints;
      if (oldest === undefined) throw new Error('its first entries are missing, and there is no checkpoint');
      await applyCheckpoint(state, folder, oldest);
    }
    for (const version of commits.filter((version) => version > state.version)) {
      const name = fileName(version, '.json');
      if (version !== state.version + 1) throw new Error(`${name}: version ${state.version + 1} is missing`);
      applyCommit(state, await readCommit(folder, name), (what) => fail(name, what));
      state.version = version;
      if (checkpoints.includes(version)) await compareCheckpoint(state, folder, version, fail);
    }
  } catch (error) {
    report({ table, what: `its log can't be replayed: ${error instanceof Error ? error.message : String(error)}` });
    return undefined;
  }
  return state;
}

function emptyTable(table: TableName): ReplayedTable {
  return {
    table,
    schema: loadTableSchema(table),
    version: -1,
    commits: 0,
    files: new Map(),
    superseded: new Map(),
    txn: new Map(),
    id: undefined,
    schemaString: '',
    partitionColumns: [],
    configuration: {},
    foreign: [],
    live: new Map(),
  };
}

const fileName = (version: number, suffix: string) => `${String(version).padStart(20, '0')}${suffix}`;

function listVersions(names: string[], suffix: string): number[] {
  return names
    .filter((name) => /^\d{20}\./.test(name) && name.slice(20) === suffix)
    .map((name) => Number(name.slice(0, 20)))
    .sort((a, b) => a - b);
}

async function readCommit(folder: string, name: string): Promise<Entry> {
  const text = await readFile(`${folder}/${name}`, 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  const actions = lines.map((line, index) => {
    try {
      // The versions in `txn` are 64-bit integers, and may exceed 2^53.
      return parse(line, null, (text) => (isSafeNumber(text) ? Number(text) : BigInt(text))) as Action;
    } catch {
      throw new Error(`${name}: line ${index + 1} is not JSON`);
    }
  });
  return { text, actions };
}

function applyCommit(state: ReplayedTable, entry: Entry, fail: (what: string) => void): void {
  checkCommit(state, entry, fail);
  const rows = { added: 0, removed: 0 };
  for (const action of entry.actions) {
    const path = action.remove == null ? undefined : decodePath(action.remove.path);
    if (path !== undefined) {
      const file = state.files.get(path);
      if (file === undefined) fail(`removes ${path}, which the table doesn't have`);
      if (action.remove?.dataChange === false) rows.removed += countRows(file?.stats);
    }
    if (action.add != null) {
      if (state.files.has(decodePath(action.add.path))) fail(`adds ${action.add.path} a second time`);
      if (action.add.dataChange === false) rows.added += countRows(action.add.stats);
    }
    if (action.protocol != null && (action.protocol.minReaderVersion > 1 || action.protocol.minWriterVersion > 2)) {
      fail('requires a newer Delta reader or writer version than pricelake supports');
    }
    applyAction(state, action);
  }
  if (rows.added !== rows.removed) fail(`claims that no data changed, but ${rows.removed} rows became ${rows.added}`);
  state.commits += 1;
}

function countRows(stats: string | null | undefined): number {
  return stats == null ? 0 : ((JSON.parse(stats) as { numRecords?: number }).numRecords ?? 0);
}

/** Decodes a path. @throws Error if the path isn't a valid path within the table's folder */
function decodePath(path: string): string {
  const decoded = decodeURIComponent(path);
  const fault = findDataPathFault(decoded);
  if (fault !== undefined) throw new Error(`the path ${quotePath(path)} ${fault}`);
  return decoded;
}

function applyAction(state: ReplayedTable, action: Action): void {
  const { add, remove, txn, metaData } = action;
  keepLive(state.live, action);
  if (remove != null) {
    const path = decodePath(remove.path);
    state.files.delete(path);
    state.superseded.set(path, Number(remove.deletionTimestamp ?? 0));
  }
  if (add != null) {
    const path = decodePath(add.path);
    const { partitionValues, size, stats, tags } = add;
    const sha256 = tags?.['pricelake.sha256'];
    state.files.set(path, { path, bytes: Number(size), partitionValues, stats: stats ?? '{}', sha256 });
    state.superseded.delete(path);
  }
  if (txn != null) state.txn.set(txn.appId, BigInt(txn.version));
  if (metaData != null) {
    const { id, schemaString, partitionColumns, configuration } = metaData;
    Object.assign(state, { id, schemaString, partitionColumns, configuration });
  }
}

async function applyCheckpoint(state: ReplayedTable, folder: string, version: number): Promise<void> {
  const actions = (await readRows(`${folder}/${fileName(version, '.checkpoint.parquet')}`)) as Action[];
  for (const action of actions) applyAction(state, action);
  state.version = version;
}

/** Compares a checkpoint with the replayed state, because readers may start from the checkpoint. */
async function compareCheckpoint(
  state: ReplayedTable,
  folder: string,
  version: number,
  fail: (name: string, what: string) => void,
): Promise<void> {
  const name = fileName(version, '.checkpoint.parquet');
  const other = emptyTable(state.table);
  try {
    await applyCheckpoint(other, folder, version);
  } catch (error) {
    return fail(name, `can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const keys = new Set([...state.live.keys(), ...other.live.keys()]);
  const differ = [...keys].filter((key) => state.live.get(key) !== other.live.get(key));
  // A checkpoint doesn't contain old tombstones.
  const isLost = [...other.superseded].some(([path, at]) => state.superseded.get(path) !== at);
  const kinds = new Set([...differ.map((key) => key.split(' ', 1)[0]), ...(isLost ? ['remove'] : [])]);
  for (const kind of kinds) fail(name, `its ${kind} actions don't match the commits before it`);
}

/** The fields of each action that a checkpoint must contain unchanged. Other fields may be missing. */
const REPEATED = {
  add: ['path', 'partitionValues', 'size', 'modificationTime', 'stats', 'tags'],
  txn: ['appId', 'version', 'lastUpdated'],
  metaData: ['id', 'name', 'description', 'format', 'schemaString', 'partitionColumns', 'createdTime', 'configuration'],
  protocol: ['minReaderVersion', 'minWriterVersion'],
};

function keepLive(live: ReplayedTable['live'], action: Action): void {
  const { add, remove, txn } = action;
  if (remove != null) live.delete(`add ${decodePath(remove.path)}`);
  for (const [kind, names] of Object.entries(REPEATED) as [keyof typeof REPEATED, string[]][]) {
    const members = action[kind] as Record<string, unknown> | null | undefined;
    if (members == null) continue;
    const key = kind === 'add' ? decodePath(add?.path ?? '') : kind === 'txn' ? txn?.appId : '';
    live.set(`${kind} ${key}`, canonical(Object.fromEntries(names.map((name) => [name, members[name]]))));
  }
}

/**
 * Converts a value to text, so that equal values from JSON and from Parquet have the same text. Formats all numbers in
 * the same way. Omits null fields and objects without fields.
 */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, member) => {
    if (typeof member === 'bigint' || typeof member === 'number') return String(member);
    if (member === null) return key === '' ? null : undefined;
    if (typeof member !== 'object' || Array.isArray(member)) return member;
    const entries = Object.entries(member as object).sort(([a], [b]) => (a < b ? -1 : 1));
    return entries.length === 0 && key !== '' ? undefined : Object.fromEntries(entries);
  });
}
