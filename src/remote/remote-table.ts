import { readdir, readFile } from 'node:fs/promises';
import { logPath } from '../lake/delta-log.js';
import { ignoreMissing, type Lake, MAX_LOG_BYTES, tablePath } from '../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../tables/table.js';
import type { ListedObject, ObjectStore } from './object-store.js';

/** A table in a listing of the remote. */
export interface RemoteTable {
  table: TableName;
  /** Files of the log by name. */
  log: Map<string, ListedObject>;
  /** Data files by their path in the table. */
  files: Map<string, ListedObject>;
  /** Newest version; -1n for none. */
  version: bigint;
}

const LOG = '_delta_log/';

export async function listTables(store: ObjectStore): Promise<RemoteTable[]> {
  return Promise.all(TABLE_NAMES.map((table) => listTable(store, table)));
}

async function listTable(store: ObjectStore, table: TableName): Promise<RemoteTable> {
  const [log, files] = [new Map<string, ListedObject>(), new Map<string, ListedObject>()];
  for (const object of await store.list(`${table}/`)) {
    const path = object.key.slice(table.length + 1);
    if (path.startsWith(LOG)) log.set(path.slice(LOG.length), object);
    else files.set(path, object);
  }
  return { table, log, files, version: findVersions(log.keys(), 'json').at(-1) ?? -1n };
}

export function remoteLogKey(table: TableName, name: string): string {
  return `${table}/${LOG}${name}`;
}

/** `00000000000000000012.json` */
export function nameEntry(version: bigint, suffix = 'json'): string {
  return `${version.toString().padStart(20, '0')}.${suffix}`;
}

/** Reads versions from names of log files, ascending. */
export function findVersions(names: Iterable<string>, suffix: string): bigint[] {
  const found = [...names].filter((name) => /^\d{20}\./.test(name) && name.slice(21) === suffix);
  return found.map((name) => BigInt(name.slice(0, 20))).sort((a, b) => (a < b ? -1 : 1));
}

/** Names of this folder's log files of a table. */
export async function listLocalLog(lake: Lake, table: TableName): Promise<string[]> {
  return (await readdir(tablePath(lake, table, '_delta_log')).catch(ignoreMissing)) ?? [];
}

/**
 * True if folder and remote have the same entry. No two entries are equal, because each names its run, time and files.
 */
export async function hasSameEntry(
  store: ObjectStore,
  lake: Lake,
  table: TableName,
  version: bigint,
): Promise<boolean> {
  const [here, there] = await Promise.all([
    readFile(logPath(lake, table, version, 'json')).catch(ignoreMissing),
    store.read(remoteLogKey(table, nameEntry(version)), MAX_LOG_BYTES),
  ]);
  return here !== undefined && there !== undefined && here.equals(there.bytes);
}
