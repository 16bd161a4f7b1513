import type { LogEntry } from '../../lake/log-entries.js';
import type { DataFile } from '../../tables/table.js';
import { describePartitions, type IcebergSchema } from './iceberg-schema.js';
import {
  continueEntries,
  countEntries,
  describeAdded,
  type EntryCounts,
  type ManifestEntry,
  type ManifestForm,
  STATUS,
  writeManifest,
  writeManifestList,
} from './manifest.js';
import { COMMITTED_AT, type Snapshot, type TableFacts, VERSION } from './table-metadata.js';

/** A commit in the Delta log for which a snapshot is planned. */
export type Commit = Pick<LogEntry, 'version' | 'at' | 'operation' | 'runId' | 'added' | 'removed' | 'changesRows'>;

export interface MetadataFile {
  name: string;
  bytes: Buffer;
}

export interface PlannedSnapshot {
  snapshot: Snapshot;
  files: MetadataFile[];
  entries: ManifestEntry[];
}

export interface SnapshotPlace extends TableFacts {
  schema: IcebergSchema;
  metadataAddress: string;
  dataAddress: string;
}

export function formOf({ contract, partitionBy, schema }: SnapshotPlace): ManifestForm {
  return { contract, schema, spec: describePartitions(contract, partitionBy) };
}

export function nameFiles({ id }: TableFacts, snapshotId: number) {
  return { manifest: `${snapshotId}-${id}-m0.avro`, list: `snap-${snapshotId}-${id}.avro` };
}

/** Plans the first snapshot of a table. The snapshot adds all files of the table's current version at once. */
export function planFirst(place: SnapshotPlace, commit: Omit<Commit, 'added' | 'removed'>, files: readonly DataFile[]) {
  return planNext(place, undefined, { ...commit, added: [...files], removed: [] });
}

/**
 * Plans the snapshot of a commit, with its manifest and its manifest list. The same commit after the same snapshot
 * always results in the same file names and bytes.
 * @throws Error if the commit doesn't follow the previous snapshot
 */
export function planNext(
  place: SnapshotPlace,
  before: { snapshot: Snapshot; entries: readonly ManifestEntry[] } | undefined,
  commit: Commit,
): PlannedSnapshot {
  const form = formOf(place);
  const id = commit.version + 1n;
  const address = (path: string) => `${place.dataAddress}/${path}`;
  const added = commit.added.map((file) => describeAdded(form, id, address(file.path), file));
  const entries = continueEntries(before?.entries ?? [], id, added, new Set(commit.removed.map(address)));
  const names = nameFiles(place, Number(id));
  const manifest = { name: names.manifest, bytes: writeManifest(form, entries) };
  const parent = before?.snapshot['snapshot-id'];
  const path = `${place.metadataAddress}/${manifest.name}`;
  const list = {
    name: names.list,
    bytes: writeManifestList(
      form,
      { id, parent: parent === undefined ? undefined : BigInt(parent) },
      { path, bytes: manifest.bytes.length, entries },
    ),
  };
  const committedAt = commit.at ?? before?.snapshot['timestamp-ms'] ?? 0;
  const snapshot: Snapshot = {
    'snapshot-id': Number(id),
    ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
    'sequence-number': Number(id),
    'timestamp-ms': Math.max(committedAt, before?.snapshot['timestamp-ms'] ?? 0),
    'manifest-list': `${place.metadataAddress}/${list.name}`,
    summary: { ...summarize(commit, entries), [COMMITTED_AT]: String(committedAt) },
    'schema-id': place.schema['schema-id'],
  };
  return { snapshot, files: [manifest, list], entries };
}

function summarize(commit: Commit, entries: readonly ManifestEntry[]): Record<string, string> {
  const added = countEntries(entries, STATUS.added);
  const deleted = countEntries(entries, STATUS.deleted);
  const total = countEntries(entries, STATUS.added, STATUS.existing);
  return {
    operation: nameOperation(commit, added, deleted),
    'added-data-files': String(added.files),
    'added-records': String(added.rows),
    'deleted-data-files': String(deleted.files),
    'deleted-records': String(deleted.rows),
    'total-data-files': String(total.files),
    'total-records': String(total.rows),
    [VERSION]: String(commit.version),
    'delta.operation': commit.operation,
    ...(commit.runId === undefined ? {} : { 'pricelake.run-id': commit.runId }),
  };
}

/** Names a commit's operation. A commit that only moves rows is a `replace`, which incremental readers skip. */
function nameOperation({ changesRows }: Commit, added: EntryCounts, deleted: EntryCounts): string {
  if (!changesRows && added.files + deleted.files > 0) return 'replace';
  if (deleted.files === 0) return 'append';
  return added.files === 0 ? 'delete' : 'overwrite';
}
