import type { Database } from '../sql/connection.js';
import type { TableSchema } from '../tables/schemas.js';
import { hashPartitionTexts, type PartitionTexts } from './partition-value.js';
import { countRows, countValues, planSlices, SLICE_PARTITIONS, SLICE_ROWS, type ValueCount } from './slices.js';

/** Rows to divide into files. */
export interface Parting {
  /** A query whose columns are exactly the table's. */
  select: string;
  /** Column for slices of a large table; default: the first of `partitionBy`. */
  sliceBy?: string;
  /** The number of rows at most, if it is known: few rows need no slices. */
  maxRows?: bigint | undefined;
  /** The most partitions for so many rows. With more values, the table is not partitioned. Default: any number. */
  mostPartitions?: (rows: bigint) => number;
}

/** Divides the rows of a stage into files. */
export interface StagePlan {
  partitionBy: string[];
  texts: PartitionTexts;
  /** Queries that divide the rows, one COPY each. */
  slices: string[];
}

/** Divides the rows so that a COPY's memory does not grow with the number of rows and partitions. */
export async function planStage(
  db: Database,
  schema: TableSchema,
  parting: Parting,
  wanted: readonly string[],
): Promise<StagePlan> {
  const counts = await countPartitions(db, schema, parting, wanted);
  const most = parting.mostPartitions?.(countRows(counts)) ?? Number.POSITIVE_INFINITY;
  const isParted = counts.length <= most;
  const partitionBy = isParted ? [...wanted] : [];
  const predicates =
    isParted && counts.length > SLICE_PARTITIONS
      ? planSlices(findColumns(schema, wanted), counts, { rows: BigInt(SLICE_ROWS), values: SLICE_PARTITIONS })
      : await planSlicesByRows(db, schema, parting, wanted, counts);
  const slices = predicates.map((predicate) => `SELECT * FROM (${parting.select}\n) WHERE ${predicate}`);
  const texts = hashPartitionTexts(schema, partitionBy, counts);
  return { partitionBy, texts, slices: slices.length <= 1 ? [parting.select] : slices };
}

/** Counts no partitions if there are too few rows to matter. */
async function countPartitions(
  db: Database,
  schema: TableSchema,
  { select, maxRows }: Parting,
  partitionBy: readonly string[],
): Promise<ValueCount[]> {
  const columns = findColumns(schema, partitionBy);
  const hasTexts = columns.some(({ type }) => type === 'VARCHAR');
  if (columns.length === 0 || (isAtMost(maxRows, SLICE_PARTITIONS) && !hasTexts)) return [];
  return countValues(db, select, columns);
}

async function planSlicesByRows(
  db: Database,
  schema: TableSchema,
  { select, maxRows, sliceBy }: Parting,
  partitionBy: readonly string[],
  counts: ValueCount[],
): Promise<string[]> {
  const column = sliceBy ?? partitionBy[0];
  if (column === undefined || isAtMost(maxRows, SLICE_ROWS)) return [];
  const columns = findColumns(schema, [column]);
  const counted = partitionBy.join() === column ? counts : await countValues(db, select, columns);
  return planSlices(columns, counted, { rows: BigInt(SLICE_ROWS), values: Number.POSITIVE_INFINITY });
}

const isAtMost = (rows: bigint | undefined, limit: number) => rows !== undefined && rows <= BigInt(limit);

function findColumns(schema: TableSchema, names: readonly string[]) {
  return names.flatMap((name) => schema.columns.filter((column) => column.name === name));
}
