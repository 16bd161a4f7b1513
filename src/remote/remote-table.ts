import { readFile } from 'node:fs/promises';
import { findVersions, logPath, nameEntry } from '../lake/delta-log.js';
import { ignoreMissing, type Lake, MAX_LOG_BYTES } from '../tables/layout.js';
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
