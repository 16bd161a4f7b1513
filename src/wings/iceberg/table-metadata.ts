import type { TableSchema } from '../../tables/schemas.js';
import {
  continuesSchema,
  describeNames,
  describePartitions,
  describeSchema,
  findLastColumnId,
  type IcebergSchema,
  lastPartitionId,
  type PartitionSpec,
} from './iceberg-schema.js';

/** A table's version in Iceberg. Its number is Delta's version plus 1, because 0 can mean "no snapshot". */
export interface Snapshot {
  'snapshot-id': number;
  'parent-snapshot-id'?: number;
  'sequence-number': number;
  'timestamp-ms': number;
  'manifest-list': string;
  summary: Record<string, string>;
  'schema-id': number;
}

/**
 * The keys of Delta's version and of Delta's commit time in the summary of a snapshot. The commit time can't be stored
 * as `timestamp-ms`, which must never decrease, because a clock may be set back.
 */
export const VERSION = 'delta.version';
export const COMMITTED_AT = 'delta.timestamp-ms';

export interface TableMetadata {
  'format-version': 2;
  'table-uuid': string;
  location: string;
  'last-sequence-number': number;
  'last-updated-ms': number;
  'last-column-id': number;
  'current-schema-id': number;
  schemas: IcebergSchema[];
  'default-spec-id': number;
  'partition-specs': PartitionSpec[];
  'last-partition-id': number;
  'default-sort-order-id': 0;
  'sort-orders': [{ 'order-id': 0; fields: [] }];
  properties: Record<string, string>;
  'current-snapshot-id': number;
  refs: { main: { 'snapshot-id': number; type: 'branch' } };
  snapshots: Snapshot[];
  'snapshot-log': { 'snapshot-id': number; 'timestamp-ms': number }[];
  'metadata-log': [];
}

export interface TableFacts {
  /** The id of the Delta table. It changes when the table is rebuilt. */
  id: string;
  location: string;
  contract: TableSchema;
  partitionBy: readonly string[];
}

/** Returns all schemas that the table has had, ending with the current schema. */
export function continueSchemas(before: TableMetadata | undefined, contract: TableSchema): IcebergSchema[] {
  const { schemas = [] } = before ?? {};
  const current = schemas.find((schema) => schema['schema-id'] === before?.['current-schema-id']);
  const now = describeSchema(contract, current?.['schema-id'] ?? 0);
  if (current !== undefined && JSON.stringify(current.fields) === JSON.stringify(now.fields)) return schemas;
  return [...schemas, { ...now, 'schema-id': schemas.length }];
}

/** Returns true if new snapshots of the table can be added to the existing metadata. */
export function continuesTable(before: TableMetadata, facts: TableFacts): boolean {
  return (
    before['format-version'] === 2 &&
    before['table-uuid'] === facts.id &&
    before.location === facts.location &&
    JSON.stringify(before['partition-specs']) ===
      JSON.stringify([describePartitions(facts.contract, facts.partitionBy)]) &&
    before.schemas.every((schema) => continuesSchema(schema, describeSchema(facts.contract, 0)))
  );
}

/** Builds the metadata of a table. The last snapshot becomes the current one. */
export function describeTable(
  { id, location, contract, partitionBy }: TableFacts,
  schemas: IcebergSchema[],
  snapshots: Snapshot[],
): TableMetadata {
  const current = snapshots.at(-1) as Snapshot;
  const schema = schemas.at(-1) as IcebergSchema;
  const spec = describePartitions(contract, partitionBy);
  const currentId = current['snapshot-id'];
  return {
    'format-version': 2,
    'table-uuid': id,
    location,
    'last-sequence-number': current['sequence-number'],
    'last-updated-ms': current['timestamp-ms'],
    'last-column-id': Math.max(...schemas.map(findLastColumnId)),
    'current-schema-id': schema['schema-id'],
    schemas,
    'default-spec-id': spec['spec-id'],
    'partition-specs': [spec],
    'last-partition-id': lastPartitionId(spec),
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: { comment: contract.description, 'schema.name-mapping.default': describeNames(schema) },
    'current-snapshot-id': currentId,
    refs: { main: { 'snapshot-id': currentId, type: 'branch' } },
    snapshots,
    'snapshot-log': snapshots.map((one) => ({
      'snapshot-id': one['snapshot-id'],
      'timestamp-ms': one['timestamp-ms'],
    })),
    'metadata-log': [],
  };
}

/**
 * Drops each snapshot that was superseded longer ago than the table's retention period, because its files may be
 * deleted. A snapshot is superseded when the next snapshot is committed.
 */
export function expireSnapshots(snapshots: readonly Snapshot[], keptSince: number): Snapshot[] {
  const committedAt = (one: Snapshot | undefined) => Number(one?.summary[COMMITTED_AT] ?? Number.POSITIVE_INFINITY);
  const first = snapshots.findIndex((_, index) => committedAt(snapshots[index + 1]) > keptSince);
  const kept = snapshots.slice(first);
  return kept.map((one, index) => {
    if (index > 0) return one;
    const { 'parent-snapshot-id': _gone, ...others } = one;
    return others;
  });
}
