import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, replaceFile } from '../../io/durable.js';
import { ignoreMissing } from '../../io/errors.js';
import type { LogState } from '../../lake/delta-actions.js';
import { readLog } from '../../lake/delta-log.js';
import { readRetentionMs } from '../../lake/delta-metadata.js';
import { readEntriesBackwards } from '../../lake/log-entries.js';
import { innerPath, type Lake, temporaryPath } from '../../tables/layout.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { IcebergSchema } from './iceberg-schema.js';
import { HINT, ICEBERG_FOLDER } from './iceberg-schema.js';
import { type ManifestEntry, readManifest, STATUS } from './manifest.js';
import {
  type Commit,
  formOf,
  type MetadataFile,
  nameFiles,
  type PlannedSnapshot,
  planFirst,
  planNext,
  type SnapshotPlace,
} from './plan-snapshots.js';
import {
  continueSchemas,
  continuesTable,
  describeTable,
  expireSnapshots,
  type Snapshot,
  type TableFacts,
  type TableMetadata,
  VERSION,
} from './table-metadata.js';

/** The number of older metadata files to keep for readers that have read the hint before the last update. */
const KEPT_METADATA = 10;

/**
 * Updates a table's Iceberg metadata to match its Delta log. Adds one snapshot for each commit, and drops snapshots
 * whose files may be deleted. If the existing metadata can't be continued, new metadata starts with the newest version.
 * The caller must hold the lake's lock.
 * @param base the address at which readers find the lake
 */
export async function publishTable(lake: Lake, table: TableName, base: string, now: Date): Promise<void> {
  const state = await readLog(lake, table);
  const { metaData } = state;
  if (state.version < 0n || metaData === undefined) return;
  const location = `${base}/${ICEBERG_FOLDER}/${table}`;
  const contract = loadTableSchema(table);
  const facts: TableFacts = { id: metaData.id, location, contract, partitionBy: metaData.partitionColumns };
  const folder = innerPath(lake, ICEBERG_FOLDER, table, 'metadata');
  const found = await readNewest(folder);
  const before = found?.metadata !== undefined && continuesTable(found.metadata, facts) ? found.metadata : undefined;
  const schemas = continueSchemas(before, contract);
  const place: SnapshotPlace = {
    ...facts,
    schema: schemas.at(-1) as IcebergSchema,
    metadataAddress: `${location}/metadata`,
    dataAddress: `${base}/${table}`,
  };
  const added =
    (before && (await planMissing(lake, folder, place, state, before))) ?? (await planAnew(lake, place, state));
  const isContinued = added.isContinued && before !== undefined;
  const all = [...(isContinued ? before.snapshots : []), ...added.planned.map(({ snapshot }) => snapshot)];
  const snapshots = expireSnapshots(all, now.getTime() - readRetentionMs(metaData));
  const metadata = describeTable(facts, isContinued ? schemas : continueSchemas(undefined, contract), snapshots);
  if (found !== undefined && JSON.stringify(found.metadata) === JSON.stringify(metadata)) return;
  const kept = new Set(snapshots.map((one) => one['snapshot-id']));
  const files = added.planned.filter(({ snapshot }) => kept.has(snapshot['snapshot-id'])).flatMap((one) => one.files);
  await writeVersion(lake, folder, (found?.version ?? 0) + 1, metadata, files);
  await deleteUnused(folder, (found?.version ?? 0) + 1, place, snapshots);
}

/** Returns the address that the lake's existing Iceberg metadata contains; undefined if there is no metadata. */
export async function readAddress(lake: Lake): Promise<string | undefined> {
  for (const table of TABLE_NAMES) {
    const found = await readNewest(innerPath(lake, ICEBERG_FOLDER, table, 'metadata'));
    const end = `/${ICEBERG_FOLDER}/${table}`;
    if (found?.metadata?.location?.endsWith(end)) return found.metadata.location.slice(0, -end.length);
  }
  return undefined;
}

interface Found {
  version: number;
  /** The content of the newest metadata file. Undefined if it is damaged, or if the hint names another version. */
  metadata: TableMetadata | undefined;
}

const metadataName = (version: number) => `v${version}.metadata.json`;

async function listVersions(folder: string): Promise<number[]> {
  const names = (await readdir(folder).catch(ignoreMissing)) ?? [];
  return names.flatMap((name) => /^v(\d+)\.metadata\.json$/.exec(name)?.[1] ?? []).map(Number);
}

/** Finds the newest metadata file. After a crash, its version may be newer than the version in the hint file. */
async function readNewest(folder: string): Promise<Found | undefined> {
  const version = Math.max(0, ...(await listVersions(folder)));
  if (version === 0) return undefined;
  const text = await readFile(join(folder, metadataName(version)), 'utf8');
  const hint = await readFile(join(folder, HINT), 'utf8').catch(() => '');
  // If the hint names another version, `metadata` is undefined, so that the caller writes a new version with its hint.
  return { version, metadata: hint.trim() === String(version) ? parseMetadata(text) : undefined };
}

function parseMetadata(text: string): TableMetadata | undefined {
  try {
    return JSON.parse(text) as TableMetadata;
  } catch {
    return undefined;
  }
}

interface Planned {
  isContinued: boolean;
  planned: PlannedSnapshot[];
}

/**
 * Plans a snapshot for each commit that is newer than the newest snapshot in `before`. Returns undefined if the log or
 * the metadata is incomplete.
 */
async function planMissing(
  lake: Lake,
  folder: string,
  place: SnapshotPlace,
  state: LogState,
  before: TableMetadata,
): Promise<Planned | undefined> {
  const last = before.snapshots.at(-1);
  if (last === undefined) return undefined;
  try {
    const commits = await listCommits(lake, state, BigInt(last.summary[VERSION] ?? ''));
    if (commits === undefined) return undefined;
    const planned: PlannedSnapshot[] = [];
    let newest: { snapshot: Snapshot; entries: readonly ManifestEntry[] } = {
      snapshot: last,
      entries: await readEntries(folder, place, last),
    };
    for (const commit of commits) {
      const next = planNext(place, newest, commit);
      planned.push(next);
      newest = next;
    }
    return holdsSameFiles(place, newest.entries, state) ? { isContinued: true, planned } : undefined;
  } catch {
    // The metadata was changed or damaged. The caller then writes new metadata from the Delta log.
    return undefined;
  }
}

/** Lists the commits after version `since`, oldest first. Returns undefined if the log lacks any of them. */
async function listCommits(lake: Lake, state: LogState, since: bigint): Promise<Commit[] | undefined> {
  const commits: Commit[] = [];
  if (since === state.version) return commits;
  for await (const entry of readEntriesBackwards(lake, state.table)) {
    if (entry.version <= since) break;
    commits.unshift(entry);
  }
  return BigInt(commits.length) === state.version - since ? commits : undefined;
}

async function readEntries(folder: string, place: SnapshotPlace, snapshot: Snapshot): Promise<ManifestEntry[]> {
  const { manifest } = nameFiles(place, snapshot['snapshot-id']);
  return readManifest(formOf(place), await readFile(join(folder, manifest)));
}

function holdsSameFiles(place: SnapshotPlace, entries: readonly ManifestEntry[], { files }: LogState): boolean {
  const alive = entries.filter(({ status }) => status !== STATUS.deleted);
  const wanted = new Set([...files.keys()].map((path) => `${place.dataAddress}/${path}`));
  return alive.length === wanted.size && alive.every(({ data_file }) => wanted.has(data_file.file_path));
}

async function planAnew(lake: Lake, place: SnapshotPlace, state: LogState): Promise<Planned> {
  for await (const entry of readEntriesBackwards(lake, state.table)) {
    const first = planFirst(place, { ...entry, version: state.version }, [...state.files.values()]);
    return { isContinued: false, planned: [first] };
  }
  throw new Error(`${state.table}: its transaction log has no entries`);
}

/** Writes each file before the files that refer to it. The hint is written last, because most readers start with it. */
async function writeVersion(
  lake: Lake,
  folder: string,
  version: number,
  metadata: TableMetadata,
  files: readonly MetadataFile[],
): Promise<void> {
  await makeFolder(folder);
  const write = (name: string, bytes: Buffer | string) =>
    replaceFile(join(folder, name), bytes, temporaryPath(lake, name));
  for (const { name, bytes } of files) await write(name, bytes);
  await write(metadataName(version), JSON.stringify(metadata));
  // THE COMMIT POINT: from now on, readers that start with the hint see this version.
  await write(HINT, String(version));
}

async function deleteUnused(
  folder: string,
  version: number,
  place: SnapshotPlace,
  snapshots: readonly Snapshot[],
): Promise<void> {
  const used = new Set(snapshots.flatMap((one) => Object.values(nameFiles(place, one['snapshot-id']))));
  for (const name of await readdir(folder)) {
    const of = /^v(\d+)\.metadata\.json$/.exec(name)?.[1];
    const isUnused = name.endsWith('.avro') ? !used.has(name) : Number(of) <= version - KEPT_METADATA;
    if (isUnused) await rm(join(folder, name), { force: true });
  }
}
