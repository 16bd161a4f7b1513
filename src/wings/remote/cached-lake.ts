import { createHash } from 'node:crypto';
import { rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../io/durable.js';
import { ignoreMissing, PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { listFilesBelow } from '../../lake/list-files.js';
import { readTable } from '../../lake/read.js';
import { type Lake, PRIVATE_FOLDER, privatePath, tablePath } from '../../tables/layout.js';
import type { TableName } from '../../tables/table.js';
import { readHolder } from './lease.js';
import { openStore } from './remote.js';
import { type Ends, listTables, MARKER } from './remote-table.js';
import { fetchAll, fetchLogs, fetchTables, isJournal } from './restore.js';

export interface Cache {
  folder: string;
  maxBytes: number;
}

/** A cached copy of a remote lake. It has the logs of all tables, and the data files that the reader requests. */
export interface CachedLake {
  lake: Lake;
  url: string;
  /** Downloads the data files of these tables. If the cache is full, deletes other files from it. */
  bring(tables: readonly TableName[]): Promise<void>;
  /** The process that holds the lease of the remote. Undefined if no process holds it. */
  holder: Awaited<ReturnType<typeof readHolder>>;
}

/**
 * Runs `work` on a cached copy of a remote lake. Doesn't take the lease of the remote, and doesn't write to the remote.
 * @throws PricelakeError `lake_invalid` if the remote has no lake; `usage` if the tables are larger than the cache
 */
export async function readRemote<T>(
  address: string,
  cache: Cache,
  io: Io,
  work: (cached: CachedLake) => Promise<T>,
): Promise<T> {
  const store = await openStore(address, io);
  try {
    if ((await store.read(MARKER)) === undefined) {
      throw new PricelakeError('lake_invalid', `${store.url}: there is no lake here`, {
        hint: 'Check the address, or publish a lake there: set lake.remote and run `pricelake sync`.',
      });
    }
    const lake = { root: join(cache.folder, createHash('sha256').update(store.url).digest('hex').slice(0, 16)) };
    await makeFolder(lake.root);
    const ends = { store, lake, io };
    await fetchLogs(ends, await listTables(store));
    await fetchJournals(ends);
    const bring = (tables: readonly TableName[]) => bringTables(ends, cache, tables);
    return await work({ lake, url: store.url, bring, holder: await readHolder(store) });
  } finally {
    store.close();
  }
}

/** Downloads only the journal of an unfinished run, without the data to which the journal refers. */
async function fetchJournals(ends: Ends): Promise<void> {
  await rm(privatePath(ends.lake, 'landing'), { recursive: true, force: true });
  const landed = await ends.store.list(`${PRIVATE_FOLDER}/landing/`);
  await fetchAll(ends, landed.filter(isJournal));
}

async function bringTables(ends: Ends, cache: Cache, tables: readonly TableName[]): Promise<void> {
  const states = await Promise.all(tables.map((table) => readTable(ends.lake, table)));
  const needed = new Map(
    states.flatMap(({ table, files }) => files.map(({ path, bytes }) => [tablePath(ends.lake, table, path), bytes])),
  );
  const neededBytes = sum(needed.values());
  if (neededBytes > cache.maxBytes) {
    const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
    const what = `the size of the tables ${tables.join(', ')} is ${gigabytes(neededBytes)}, but the cache is limited to ${gigabytes(cache.maxBytes)}`;
    throw new PricelakeError('usage', what, {
      hint: 'Raise the limit with --cache-size, or use a machine that has the lake.',
    });
  }
  await makeRoom(cache, needed);
  await fetchTables(ends, tables);
  const now = new Date();
  for (const path of needed.keys()) await utimes(path, now, now);
}

/** Deletes files of any remote from the cache until the needed files fit. Starts with the least recently used. */
async function makeRoom({ folder, maxBytes }: Cache, needed: ReadonlyMap<string, number>): Promise<void> {
  const others: { path: string; bytes: number; usedAt: number }[] = [];
  for (const path of await listFilesBelow(folder)) {
    const isOther = path.endsWith('.parquet') && !path.includes('_delta_log') && !needed.has(path);
    const info = isOther ? await stat(path).catch(ignoreMissing) : undefined;
    if (info !== undefined) others.push({ path, bytes: info.size, usedAt: info.mtimeMs });
  }
  let bytes = sum(needed.values()) + sum(others.map((one) => one.bytes));
  for (const one of others.sort((a, b) => a.usedAt - b.usedAt)) {
    if (bytes <= maxBytes) return;
    await rm(one.path, { force: true });
    bytes -= one.bytes;
  }
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, bytes) => total + bytes, 0);
