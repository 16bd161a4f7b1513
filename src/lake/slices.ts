import type { Database } from '../sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import { code, type Sql, sql } from '../sql/sql.js';
import type { Column, TableSchema } from '../tables/schemas.js';
import { hashPartitionTexts, type PartitionTexts } from './partition-value.js';

/**
 * Maximum number of rows that one COPY writes, unless a single value has more. DuckDB holds up to a row group for each
 * partition of a COPY, so slices keep the memory the same however many rows a table gets.
 */
export const SLICE_ROWS = 150_000;
/** Target size of files. Files below half of it count as small. */
export const TARGET_BYTES = 128 * 1024 * 1024;
/**
 * The most partitions that one COPY writes. DuckDB keeps a megabyte for each, even with few rows, and several COPYs run
 * at once. A first copy of 400 websites takes less CPU time in such slices than at once.
 */
const SLICE_PARTITIONS = 64;

export interface Parting {
  select: string;
  /** The column by which a large table is sliced; by default the first of `partitionBy`. */
  sliceBy?: string;
  /** Maximum number of rows, if known. Few rows are written without slices. */
  maxRows?: bigint | undefined;
  /** The most partitions for a number of rows. With more values, the table is not partitioned. Unlimited by default. */
  mostPartitions?: (rows: bigint) => number;
}

interface StagePlan {
  partitionBy: string[];
  texts: PartitionTexts;
  /** A predicate for the rows of each COPY; undefined for all rows. */
  slices: (string | undefined)[];
}

/** Divides the rows so that the memory of a COPY does not grow with the number of rows and partitions. */
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
  const planned =
    isParted && counts.length > SLICE_PARTITIONS
      ? planSlices(findColumns(schema, wanted), counts, { rows: BigInt(SLICE_ROWS), values: SLICE_PARTITIONS })
      : await planSlicesByRows(db, schema, parting, wanted, counts);
  const texts = hashPartitionTexts(schema, partitionBy, counts);
  return { partitionBy, texts, slices: planned.length <= 1 ? [undefined] : planned };
}

export const narrow = (select: Sql, predicate: string | undefined): Sql =>
  predicate === undefined ? select : sql`SELECT * FROM (${select}\n) WHERE ${code(predicate)}`;

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

/** Rows with one value in each of the columns, null included. */
export interface ValueCount {
  values: readonly (string | null)[];
  rows: bigint;
}

/** Counts the rows of `select` for each value of the columns, in the order of the columns. */
export async function countValues(
  db: Database,
  select: string,
  columns: readonly Pick<Column, 'name'>[],
): Promise<ValueCount[]> {
  const names = columns.map(({ name }) => quoteIdentifier(name));
  const texts = names.map((name, index) => `CAST(${name} AS VARCHAR) AS value_${index}`);
  const order = names.map((name) => `${name} NULLS LAST`).join(', ');
  const rows = await db.rows(
    `SELECT ${texts.join(', ')}, count(*) AS row_count FROM (${select}\n) GROUP BY ${names.join(', ')} ORDER BY ${order}`,
  );
  return rows.map((row) => ({
    values: names.map((_, index) => row[`value_${index}`] as string | null),
    rows: row.row_count as bigint,
  }));
}

export const countRows = (counts: readonly { rows: bigint }[]) => counts.reduce((sum, { rows }) => sum + rows, 0n);

/** Returns the predicates of slices of neighbouring values, in order. */
export function planSlices(
  columns: readonly Column[],
  counts: readonly ValueCount[],
  limits: { rows: bigint; values: number },
): string[] {
  return groupValues(counts, limits).map((group) => writePredicate(columns, group));
}

/**
 * Groups neighbouring values within the limits. More than one group means an even number of similar size, so that two
 * lanes end together. A value with more rows is a group of its own; no group is empty.
 */
export function groupValues(counts: readonly ValueCount[], limits: { rows: bigint; values: number }): ValueCount[][] {
  const total = countRows(counts);
  const share = total <= limits.rows ? limits.rows : divideUp(total, 2n * divideUp(total, 2n * limits.rows));
  const groups: ValueCount[][] = [];
  let [rows, before] = [0n, 0n];
  for (const count of counts) {
    const group = groups.at(-1);
    const isMostlyBeyond = 2n * before + count.rows > 2n * share * BigInt(groups.length);
    const isFull = rows + count.rows > limits.rows || group?.length === limits.values;
    if (group === undefined || isMostlyBeyond || isFull) {
      groups.push([count]);
      rows = 0n;
    } else group.push(count);
    rows += count.rows;
    before += count.rows;
  }
  return groups;
}

const divideUp = (a: bigint, b: bigint) => (a + b - 1n) / b;

/** A range of values, so that statistics let readers skip row groups outside it. */
function writePredicate(columns: readonly Column[], group: readonly ValueCount[]): string {
  const names = columns.map(({ name }) => quoteIdentifier(name));
  const range = writeRange(names[0] ?? '', group);
  if (columns.length === 1) return range;
  // Inside a row, nulls are equal.
  const row = ({ values }: ValueCount) =>
    `row(${columns.map(({ type }, i) => writeValue(type, values[i])).join(', ')})`;
  return `(${range}) AND row(${names.join(', ')}) IN (${group.map(row).join(', ')})`;
}

const writeValue = (type: string, text: string | null | undefined) =>
  `CAST(${text == null ? 'NULL' : quoteLiteral(text)} AS ${type})`;

function writeRange(name: string, group: readonly ValueCount[]): string {
  const values = group.flatMap(({ values: [value] }) => (value == null ? [] : [value]));
  const [first] = values;
  const range =
    first === undefined ? [] : [`${name} BETWEEN ${quoteLiteral(first)} AND ${quoteLiteral(values.at(-1) ?? first)}`];
  const nulls = values.length < group.length ? [`${name} IS NULL`] : [];
  return [...range, ...nulls].join(' OR ');
}
