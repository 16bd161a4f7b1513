import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder, syncFolder } from '../../io/durable.js';
import { ignoreMissing, PricelakeError } from '../../io/errors.js';
import { findPathFault, quotePath } from '../../io/inner-path.js';
import { runSideBySide, settleAll } from '../../io/side-by-side.js';
import { findVersions, listLog, nameEntry } from '../../lake/delta-log.js';
import { readPartial } from '../../lake/partial.js';
import { readPointer } from '../../lake/pointer.js';
import { refreshCatalog } from '../../lake/publish.js';
import { readTable } from '../../lake/read.js';
import {
  innerPath,
  MAX_LOG_BYTES,
  PRIVATE_FOLDER,
  privatePath,
  tablePath,
  temporaryPath,
} from '../../tables/layout.js';
import { type DataFile, TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { ListedObject } from './object-store.js';
import { type Ends, fetchSmallFiles, hasSameEntry, type RemoteTable } from './remote-table.js';
import { CHANGED_HINT } from './s3-fault.js';

const FETCHES = 8;

/**
 * Makes this folder equal to the remote. Downloads the logs from their newest checkpoints, the files of an unfinished
 * run, the small files and, unless the folder is partial, the data files. If the folder's versions differ from those of
 * the remote, moves them to `_pricelake/aside`. The next call deletes them.
 * @throws PricelakeError `lake_invalid` if the first upload of the lake was interrupted
 */
export async function restoreLake(ends: Ends, remote: readonly RemoteTable[]): Promise<void> {
  const { store, io } = ends;
  const list = (name: string) => store.list(`${PRIVATE_FOLDER}/${name}/`);
  const [landed, backfill] = await settleAll([list('landing'), list('backfill')]);
  await refuseHalfSent(ends, remote, landed);
  await fetchLogs(ends, remote);
  if ((await readPointer(ends.lake)) !== undefined) await refreshCatalog(ends.lake);
  if ((await readPartial(ends.lake)) === undefined) await fetchTables(ends, TABLE_NAMES);
  await replaceFolder(ends, 'landing', await listOpenLanding(ends, landed));
  await replaceFolder(ends, 'backfill', backfill);
  const versions = remote.filter(({ version }) => version >= 0n).map(({ table, version }) => `${table} ${version}`);
  io.log('info', 'remote.restored', { versions: versions.join(', ') });
}

export async function fetchLogs(ends: Ends, remote: readonly RemoteTable[]): Promise<void> {
  await mkdir(privatePath(ends.lake, 'tmp'), { recursive: true });
  await rm(privatePath(ends.lake, 'aside'), { recursive: true, force: true });
  await fetchSmallFiles(ends);
  await settleAll(remote.map((table) => restoreLog(ends, table)));
}

async function refuseHalfSent({ store }: Ends, remote: readonly RemoteTable[], landed: ListedObject[]): Promise<void> {
  const hasTables = remote.some(({ version }) => version >= 0n);
  if (!hasTables || landed.length > 0 || (await store.read('lake.json')) !== undefined) return;
  throw new PricelakeError('lake_invalid', `${store.url}: the first upload of the lake was interrupted`, {
    hint: 'Run `pricelake sync` on the machine that has the lake, or empty the prefix.',
  });
}

/** Downloads missing log entries. If the logs differ, downloads all entries since the newest checkpoint. */
async function restoreLog(ends: Ends, remote: RemoteTable): Promise<void> {
  const { store, lake } = ends;
  const { table, log, version: newest } = remote;
  const here = findWholeVersion(await listLog(lake, table));
  const isBehind = here >= 0n && here <= newest && (await hasSameEntry(store, lake, table, here));
  if (!isBehind && here >= 0n) await moveAside(ends, tablePath(lake, table), table);
  if (newest < 0n) return;
  const checkpoint = findVersions(log.keys(), 'checkpoint.parquet').at(-1) ?? -1n;
  const from = isBehind ? here + 1n : checkpoint < 0n ? 0n : checkpoint;
  const entries = findVersions(log.keys(), 'json').filter((version) => version >= from);
  const names = entries.map((version) => nameEntry(version));
  if (checkpoint >= from) names.unshift(nameEntry(checkpoint, 'checkpoint.parquet'), '_last_checkpoint');
  await makeFolder(tablePath(lake, table, '_delta_log'));
  // `_last_checkpoint` is the only file in a log whose content changes, so an old one is deleted before the download.
  if (checkpoint >= from) await rm(tablePath(lake, table, '_delta_log', '_last_checkpoint'), { force: true });
  const found = names.flatMap((name) => log.get(name) ?? []);
  // The entries are downloaded one after another, so that the log has no gap if the process is killed.
  for (const object of found) await fetchAll(ends, [object]);
}

/** Returns the newest version in a log before the log's first gap. Returns -1n if the log is empty. */
function findWholeVersion(names: readonly string[]): bigint {
  const versions = findVersions(names, 'json');
  const [first = -1n] = versions;
  const hasCheckpoint = [first - 1n, first].some((version) => names.includes(nameEntry(version, 'checkpoint.parquet')));
  if (first > 0n && !hasCheckpoint) return -1n;
  return versions.findLast((version, place) => version === first + BigInt(place)) ?? -1n;
}

export interface Fetched {
  files: number;
  bytes: number;
}

export async function fetchTables(ends: Ends, tables: readonly TableName[]): Promise<Fetched> {
  const fetched = { files: 0, bytes: 0 };
  for (const table of tables) {
    const { files, bytes } = await fetchDataFiles(ends, table, (await readTable(ends.lake, table)).files);
    fetched.files += files;
    fetched.bytes += bytes;
  }
  return fetched;
}

export async function fetchDataFiles(ends: Ends, table: TableName, files: readonly DataFile[]): Promise<Fetched> {
  const wanted = files.map(({ path, bytes, sha256 }) => ({ key: `${table}/${path}`, bytes, sha256 }));
  const fetched = await fetchAll(ends, wanted);
  if (fetched.files > 0) ends.io.log('info', 'remote.fetched', { table, ...fetched });
  return fetched;
}

interface Wanted {
  /** The path relative to the lake's folder. It is the same on this machine and on the remote. */
  key: string;
  bytes: number;
  sha256?: string | undefined;
}

/** Downloads files. Skips a file that is here with the right size, because the files of a lake never change. */
export async function fetchAll(ends: Ends, wanted: readonly Wanted[]): Promise<Fetched> {
  const fetched = { files: 0, bytes: 0 };
  const folders = new Set<string>();
  const fetchOne = async (one: Wanted) => {
    ends.stop?.throwIfAborted();
    const path = locate(ends, one);
    const info = await stat(path).catch(ignoreMissing);
    if (info?.size === one.bytes) return;
    await makeFolder(dirname(path));
    await fetchFile(ends, one, path);
    folders.add(dirname(path));
    fetched.files += 1;
    fetched.bytes += one.bytes;
  };
  await runSideBySide(FETCHES, wanted, fetchOne);
  for (const folder of folders) await syncFolder(folder);
  return fetched;
}

/** Returns an object's local path. @throws PricelakeError `lake_invalid` if it is outside the lake, or too large */
function locate({ store, lake }: Ends, { key, bytes }: Wanted): string {
  const fail = (what: string) => {
    const hint =
      "pricelake didn't write this object. Delete it from the remote, and check who can write to the bucket.";
    return new PricelakeError('lake_invalid', `${store.url}: ${quotePath(key)} ${what}`, { hint });
  };
  const fault = findPathFault(key);
  if (fault !== undefined) throw fail(fault);
  // Files of a log and journals are read into memory later, so their size is limited.
  const isReadWhole = key.includes('/_delta_log/') || isJournal({ key });
  if (bytes > MAX_LOG_BYTES && isReadWhole) throw fail(`has ${bytes} bytes; the limit is ${MAX_LOG_BYTES}`);
  return innerPath(lake, key);
}

export const isJournal = ({ key }: { key: string }) => key.endsWith('/journal.ndjson');

async function fetchFile({ store, lake }: Ends, { key, bytes, sha256 }: Wanted, path: string): Promise<void> {
  const temporary = temporaryPath(lake, path);
  try {
    const found = await store.download(key, temporary, bytes);
    const { size } = await stat(temporary);
    if (size !== bytes || (sha256 !== undefined && found !== sha256)) {
      const what =
        size === bytes
          ? `has SHA-256 ${found}, but should have ${sha256} according to its log`
          : `has ${size} bytes, but should have ${bytes}`;
      throw new PricelakeError('lake_invalid', `${store.url}/${key}: ${what}`, { hint: CHANGED_HINT });
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns the files of the unfinished run, which is a run that `lake.json` doesn't contain yet. */
async function listOpenLanding({ lake }: Ends, landed: readonly ListedObject[]): Promise<ListedObject[]> {
  const journal = landed.findLast(isJournal);
  if (journal === undefined) return [];
  const folder = journal.key.slice(0, journal.key.lastIndexOf('/') + 1);
  const published = (await readPointer(lake))?.runNumber ?? 0n;
  const number = BigInt(/(\d+)-[^/]*\/$/.exec(folder)?.[1] ?? 0);
  return number > published ? landed.filter(({ key }) => key.startsWith(folder)) : [];
}

/** Replaces a folder with the remote's. Downloads its journal last, because data without a journal is ignored. */
async function replaceFolder(ends: Ends, name: string, objects: readonly ListedObject[]): Promise<void> {
  const folder = privatePath(ends.lake, name);
  const present = (await readdir(folder).catch(ignoreMissing)) ?? [];
  if (present.length > 0) await moveAside(ends, folder, name);
  const others = objects.filter((object) => !isJournal(object));
  await fetchAll(ends, others);
  await fetchAll(ends, objects.filter(isJournal));
}

/** Moves a folder that another machine's run has made obsolete to `_pricelake/aside`, which `fetchLogs` empties. */
async function moveAside({ lake, io }: Ends, path: string, name: string): Promise<void> {
  const target = privatePath(lake, 'aside', name);
  await mkdir(dirname(target), { recursive: true });
  await rename(path, target);
  await syncFolder(dirname(path));
  io.log('warn', 'remote.moved_aside', { from: path, to: target });
}
