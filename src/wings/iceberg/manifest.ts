import type { Column, TableSchema } from '../../tables/schemas.js';
import type { DataFile } from '../../tables/table.js';
import { type AvroSchema, readAvroFile, writeAvroFile } from './avro-file.js';
import { describeMetrics, type PartitionValue, readPartitionValue } from './bounds.js';
import type { IcebergSchema, PartitionSpec } from './iceberg-schema.js';

export const STATUS = { existing: 0, added: 1, deleted: 2 } as const;

interface Pair<T> {
  key: number;
  value: T;
}

export interface ManifestEntry {
  status: number;
  snapshot_id: bigint;
  sequence_number: bigint;
  file_sequence_number: bigint;
  data_file: {
    content: number;
    file_path: string;
    file_format: string;
    partition: Record<string, PartitionValue>;
    record_count: bigint;
    file_size_in_bytes: bigint;
    value_counts: Pair<bigint>[];
    null_value_counts: Pair<bigint>[];
    lower_bounds: Pair<Buffer>[];
    upper_bounds: Pair<Buffer>[];
  };
}

export interface ManifestForm {
  schema: IcebergSchema;
  spec: PartitionSpec;
  contract: TableSchema;
}

const field = (id: number, name: string, type: unknown) => ({ name, type, 'field-id': id });
const optional = (id: number, name: string, type: unknown) => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
});

/** Declares a map with integer keys as a list of pairs, because the keys of Avro's own maps are strings. */
const map = (keyId: number, valueId: number, value: string) => ({
  type: 'array',
  logicalType: 'map',
  items: {
    type: 'record',
    name: `k${keyId}_v${valueId}`,
    fields: [field(keyId, 'key', 'int'), field(valueId, 'value', value)],
  },
});

/** The Avro types of the columns by which a table may be partitioned. */
const PARTITION_TYPES: Partial<Record<Column['type'], unknown>> = {
  BIGINT: 'long',
  VARCHAR: 'string',
  DATE: { type: 'int', logicalType: 'date' },
  BOOLEAN: 'boolean',
};

const typeOf = ({ columns }: TableSchema, name: string) =>
  (columns.find((column) => column.name === name) as Column).type;

function writeEntrySchema({ spec, contract }: ManifestForm): AvroSchema {
  const partitions = spec.fields.map(({ 'field-id': id, name }) =>
    optional(id, name, PARTITION_TYPES[typeOf(contract, name)]),
  );
  const dataFile = {
    type: 'record',
    name: 'r2',
    fields: [
      field(134, 'content', 'int'),
      field(100, 'file_path', 'string'),
      field(101, 'file_format', 'string'),
      field(102, 'partition', { type: 'record', name: 'r102', fields: partitions }),
      field(103, 'record_count', 'long'),
      field(104, 'file_size_in_bytes', 'long'),
      optional(109, 'value_counts', map(119, 120, 'long')),
      optional(110, 'null_value_counts', map(121, 122, 'long')),
      optional(125, 'lower_bounds', map(126, 127, 'bytes')),
      optional(128, 'upper_bounds', map(129, 130, 'bytes')),
    ],
  };
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      field(0, 'status', 'int'),
      optional(1, 'snapshot_id', 'long'),
      optional(3, 'sequence_number', 'long'),
      optional(4, 'file_sequence_number', 'long'),
      field(2, 'data_file', dataFile),
    ],
  };
}

export function writeManifest(form: ManifestForm, entries: readonly ManifestEntry[]): Buffer {
  return writeAvroFile(writeEntrySchema(form), entries, {
    schema: JSON.stringify(form.schema),
    'schema-id': String(form.schema['schema-id']),
    'partition-spec': JSON.stringify(form.spec.fields),
    'partition-spec-id': String(form.spec['spec-id']),
    'format-version': '2',
    content: 'data',
  });
}

/** Decodes a manifest. @throws Error if `writeManifest` didn't write it for this schema and this partitioning */
export function readManifest(form: ManifestForm, bytes: Buffer): ManifestEntry[] {
  return readAvroFile(writeEntrySchema(form), bytes) as ManifestEntry[];
}

/**
 * Returns the entries of the next manifest. There is an entry for each existing file, for each file that the commit
 * adds, and for each file that the commit removes. Entries of removed files have the status `deleted`.
 * @throws Error if the commit removes a file that the previous snapshot doesn't contain
 */
export function continueEntries(
  before: readonly ManifestEntry[],
  snapshotId: bigint,
  added: readonly ManifestEntry[],
  removed: ReadonlySet<string>,
): ManifestEntry[] {
  const alive = before.filter(({ status }) => status !== STATUS.deleted);
  const gone = alive.filter(({ data_file }) => removed.has(data_file.file_path));
  if (gone.length !== removed.size)
    throw new Error("a commit removes files that the previous snapshot doesn't contain");
  return [
    ...alive
      .filter(({ data_file }) => !removed.has(data_file.file_path))
      .map((entry) => ({ ...entry, status: STATUS.existing })),
    ...gone.map((entry) => ({ ...entry, status: STATUS.deleted, snapshot_id: snapshotId })),
    ...added,
  ];
}

/** Builds the manifest entry of a file that a commit adds. @param path the file's address */
export function describeAdded(
  { contract }: ManifestForm,
  snapshotId: bigint,
  path: string,
  file: DataFile,
): ManifestEntry {
  const metrics = describeMetrics(contract, file);
  const partition = Object.entries(file.partitionValues).map(([name, text]) => {
    return [name, readPartitionValue(typeOf(contract, name), text)] as const;
  });
  const counts = (from: Map<number, number>) => [...from].map(([key, value]) => ({ key, value: BigInt(value) }));
  const bounds = (from: Map<number, Buffer>) => [...from].map(([key, value]) => ({ key, value }));
  return {
    status: STATUS.added,
    snapshot_id: snapshotId,
    sequence_number: snapshotId,
    file_sequence_number: snapshotId,
    data_file: {
      content: 0,
      file_path: path,
      file_format: 'PARQUET',
      partition: Object.fromEntries(partition),
      record_count: file.rows,
      file_size_in_bytes: BigInt(file.bytes),
      value_counts: counts(metrics.values),
      null_value_counts: counts(metrics.nulls),
      lower_bounds: bounds(metrics.lower),
      upper_bounds: bounds(metrics.upper),
    },
  };
}

export interface EntryCounts {
  files: number;
  rows: bigint;
}

export function countEntries(entries: readonly ManifestEntry[], ...statuses: number[]): EntryCounts {
  const some = entries.filter(({ status }) => statuses.includes(status));
  return { files: some.length, rows: some.reduce((sum, { data_file }) => sum + data_file.record_count, 0n) };
}

const MANIFEST_LIST: AvroSchema = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    field(500, 'manifest_path', 'string'),
    field(501, 'manifest_length', 'long'),
    field(502, 'partition_spec_id', 'int'),
    field(517, 'content', 'int'),
    field(515, 'sequence_number', 'long'),
    field(516, 'min_sequence_number', 'long'),
    field(503, 'added_snapshot_id', 'long'),
    field(504, 'added_files_count', 'int'),
    field(505, 'existing_files_count', 'int'),
    field(506, 'deleted_files_count', 'int'),
    field(512, 'added_rows_count', 'long'),
    field(513, 'existing_rows_count', 'long'),
    field(514, 'deleted_rows_count', 'long'),
  ],
};

export function writeManifestList(
  { spec }: ManifestForm,
  snapshot: { id: bigint; parent: bigint | undefined },
  manifest: { path: string; bytes: number; entries: readonly ManifestEntry[] },
): Buffer {
  const { path, bytes, entries } = manifest;
  const [added, existing, deleted] = [STATUS.added, STATUS.existing, STATUS.deleted].map((status) =>
    countEntries(entries, status),
  ) as [EntryCounts, EntryCounts, EntryCounts];
  const sequences = entries.filter(({ status }) => status !== STATUS.deleted).map((one) => one.sequence_number);
  const record = {
    manifest_path: path,
    manifest_length: BigInt(bytes),
    partition_spec_id: spec['spec-id'],
    content: 0,
    sequence_number: snapshot.id,
    min_sequence_number: [...sequences, snapshot.id].sort((a, b) => (a < b ? -1 : 1))[0],
    added_snapshot_id: snapshot.id,
    added_files_count: added.files,
    existing_files_count: existing.files,
    deleted_files_count: deleted.files,
    added_rows_count: added.rows,
    existing_rows_count: existing.rows,
    deleted_rows_count: deleted.rows,
  };
  return writeAvroFile(MANIFEST_LIST, [record], {
    'snapshot-id': String(snapshot.id),
    'parent-snapshot-id': String(snapshot.parent ?? 'null'),
    'sequence-number': String(snapshot.id),
    'format-version': '2',
  });
}
