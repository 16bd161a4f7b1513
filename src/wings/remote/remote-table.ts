import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { settleAll } from '../../io/side-by-side.js';
import { MEMORY_FILE } from '../../journal/memory.js';
import { findVersions, logPath, nameEntry } from '../../lake/delta-log.js';
import { writeDurably } from '../../lake/durable.js';
import { type Lake, MAX_LOG_BYTES, PRIVATE_FOLDER } from '../../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { ListedObject, ObjectStore } from './object-store.js';

export interface Ends {
  store: ObjectStore;
  lake: Lake;
  io: Io;
  /** After this signal is aborted, no further files are uploaded or downloaded. */
  stop?: AbortSignal;
}

export interface RemoteTable {
  table: TableName;
  log: Map<string, ListedObject>;
  /** The data files. The keys are their paths within the table. */
  files: Map<string, ListedObject>;
  /** The newest version. It is -1n if the log is empty. */
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
 * Returns true if the folder and the remote have the same log entry for this version. The entries of different commits
 * always differ, because each entry contains its run, its time and its files.
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

export const MARKER = `${PRIVATE_FOLDER}/format.json`;
/** The small files in the order in which they are uploaded. `lake.json` is last, because it publishes the versions. */
const STEPS = [[MARKER], [`${PRIVATE_FOLDER}/${MEMORY_FILE}`, 'ATTRIBUTION.md', 'catalog.sql'], ['lake.json']];
const SMALL_FILES = STEPS.flat();

/** Uploads changed small files. Calls `confirm`, which throws if another machine has taken over, before it writes. */
export async function sendSmallFiles({ store, lake }: Ends, confirm: () => Promise<void>): Promise<void> {
  const present = new Map((await readAll(store)).map(({ name, there }) => [name, there]));
  await confirm();
  const send = async (name: string) => {
    const there = present.get(name);
    const here = await readFile(join(lake.root, name)).catch(ignoreMissing);
    if (here === undefined && there !== undefined) await store.remove([name]);
    if (here !== undefined && (there === undefined || !here.equals(there))) await store.write(name, here);
  };
  for (const names of STEPS) await settleAll(names.map(send));
}

/** People run this file in DuckDB. It is never downloaded, because a manipulated file could do anything there. */
const CATALOG = 'catalog.sql';

export async function fetchSmallFiles({ store, lake }: Ends): Promise<void> {
  for (const { name, there } of await readAll(store)) {
    if (name === CATALOG) continue;
    if (there === undefined) await rm(join(lake.root, name), { force: true });
    else await writeDurably(lake, join(lake.root, name), there.toString());
  }
}

function readAll(store: ObjectStore): Promise<{ name: string; there: Buffer | undefined }[]> {
  return Promise.all(SMALL_FILES.map(async (name) => ({ name, there: (await store.read(name))?.bytes })));
}
