import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { PricelakeError } from '../io/errors.js';
import type { TableSchema } from '../tables/schemas.js';
import type { FileChange } from '../tables/table.js';
import { compareColumns, describeDifference, hasDifference, writeDeltaSchema } from './column-difference.js';
import type { LogState, MetaData } from './delta-actions.js';

const HOUR_MS = 3_600_000;
/** The table property that records how many hours the table keeps replaced files. It is absent for 0 hours. */
const RETENTION = 'pricelake.retentionHours';

/** Returns how long a table keeps replaced files, in milliseconds. */
export function readRetentionMs(metaData: MetaData | undefined): number {
  return Number(metaData?.configuration[RETENTION] ?? 0) * HOUR_MS;
}

/** Returns how long the log keeps records of removed files, in milliseconds. VACUUM keeps these files for as long. */
export function readTombstoneMs(metaData: MetaData | undefined): number {
  return Math.max(HOUR_MS, readRetentionMs(metaData));
}

/**
 * Returns the `metaData` action that a commit must contain, or undefined if the table's metadata is up to date. The
 * columns and the partitioning can change only if the commit replaces all files.
 * @throws PricelakeError `config` if files with another partitioning would remain, `lake_invalid` if files with other
 * columns would remain
 */
export function planMetaData(
  state: LogState,
  schema: TableSchema,
  change: FileChange,
  { at, retentionMs }: { at: Date; retentionMs?: number | undefined },
): MetaData | undefined {
  const old = state.metaData;
  const filesStay = old !== undefined && state.files.size > change.remove.length;
  const wanted = {
    configuration: planConfiguration(old, retentionMs),
    description: schema.description,
    schemaString: writeDeltaSchema(schema),
    partitionColumns: findPartitionColumns(state, schema, change),
  };
  if (filesStay) refuseMixture(schema, old, wanted);
  if (old !== undefined && isDeepStrictEqual({ ...old, ...wanted }, old)) return undefined;
  return {
    id: old?.id ?? randomUUID(),
    format: { provider: 'parquet', options: {} },
    createdTime: old?.createdTime ?? at.getTime(),
    ...wanted,
  };
}

type Wanted = Pick<MetaData, 'configuration' | 'description' | 'schemaString' | 'partitionColumns'>;

/** Sets the retention in the table's configuration. Keeps the current retention if `retentionMs` is undefined. */
function planConfiguration(old: MetaData | undefined, retentionMs = readRetentionMs(old)): Record<string, string> {
  const hours = Math.ceil(retentionMs / HOUR_MS);
  const { [RETENTION]: _before, ...others } = old?.configuration ?? {};
  return {
    ...others,
    // Uses at least an hour. Otherwise, another program's VACUUM could delete the files of a commit in progress.
    'delta.deletedFileRetentionDuration': `interval ${Math.max(1, hours)} hours`,
    ...(hours === 0 ? {} : { [RETENTION]: String(hours) }),
  };
}

function findPartitionColumns(state: LogState, schema: TableSchema, change: FileChange): string[] {
  const [first, ...others] = change.add.map((file) => Object.keys(file.partitionValues));
  const odd = others.find((columns) => columns.join() !== first?.join());
  if (odd !== undefined) throw new TypeError(`${schema.table}: staged by ${first?.join()} and by ${odd.join()}`);
  return first ?? state.metaData?.partitionColumns ?? schema.partitionBy;
}

function refuseMixture(schema: TableSchema, old: MetaData, wanted: Wanted): void {
  const hint = 'Restore the old setting, or run `pricelake lake rebuild`.';
  if (old.partitionColumns.join() !== wanted.partitionColumns.join()) {
    throw new PricelakeError(
      'config',
      `${schema.table} is partitioned by [${old.partitionColumns.join(', ')}], not by [${wanted.partitionColumns.join(', ')}]`,
      { hint },
    );
  }
  const difference = compareColumns(schema, old.schemaString);
  if (!hasDifference(difference)) return;
  throw new PricelakeError('lake_invalid', `${schema.table}: ${describeDifference(schema.table, difference)}`, {
    hint,
  });
}
