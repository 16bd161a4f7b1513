import { randomUUID } from 'node:crypto';
import { PricelakeError } from '../errors.js';
import type { TableChange } from '../model.js';
import type { TableSchema } from '../schemas.js';
import type { MetaData } from './delta-actions.js';
import type { LogState } from './delta-log.js';
import { describeDeltaSchema, writeDeltaSchema } from './delta-schema.js';

/** Superseded files are deleted at once; an hour of tombstones keeps another program's VACUUM off our commits. */
const CONFIGURATION = { 'delta.deletedFileRetentionDuration': 'interval 1 hours' };

/**
 * The `metaData` that a commit needs, or undefined when the table's own still holds. Columns and partitioning may
 * change only when the commit replaces every file.
 * @throws PricelakeError `config` when files with other columns or another partitioning would stay.
 */
export function planMetaData(
  state: LogState,
  schema: TableSchema,
  change: TableChange,
  at: Date,
): MetaData | undefined {
  const wanted = {
    description: schema.description,
    schemaString: writeDeltaSchema(schema),
    partitionColumns: findPartitionColumns(state, schema, change),
  };
  const old = state.metaData;
  if (old !== undefined) {
    if (state.files.size > change.remove.length) refuseMixture(schema, old, wanted);
    if (isSame(old, wanted)) return undefined;
  }
  return {
    id: old?.id ?? randomUUID(),
    format: { provider: 'parquet', options: {} },
    configuration: old?.configuration ?? CONFIGURATION,
    createdTime: old?.createdTime ?? at.getTime(),
    ...wanted,
  };
}

type Wanted = Pick<MetaData, 'description' | 'schemaString' | 'partitionColumns'>;

function findPartitionColumns(state: LogState, schema: TableSchema, change: TableChange): string[] {
  const [first, ...others] = change.add.map((file) => Object.keys(file.partitionValues));
  const odd = others.find((columns) => columns.join() !== first?.join());
  if (odd !== undefined) throw new TypeError(`${schema.table}: staged by ${first?.join()} and by ${odd.join()}`);
  return first ?? state.metaData?.partitionColumns ?? schema.partitionBy;
}

function refuseMixture(schema: TableSchema, old: MetaData, wanted: Wanted): void {
  const hint = 'Go back to the old setting, or sync into another folder.';
  if (old.partitionColumns.join() !== wanted.partitionColumns.join()) {
    throw new PricelakeError(
      'config',
      `${schema.table} is partitioned by [${old.partitionColumns.join(', ')}], not by [${wanted.partitionColumns.join(', ')}]`,
      { hint },
    );
  }
  const columns = describeDeltaSchema(old.schemaString);
  if (columns !== describeDeltaSchema(wanted.schemaString)) {
    throw new PricelakeError(
      'config',
      `${schema.table} has other columns than schemas/${schema.table}.yaml: ${columns}`,
      {
        hint,
      },
    );
  }
}

function isSame(old: MetaData, wanted: Wanted): boolean {
  return (
    old.description === wanted.description &&
    old.schemaString === wanted.schemaString &&
    old.partitionColumns.join() === wanted.partitionColumns.join()
  );
}
