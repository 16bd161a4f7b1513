import type { Database } from '../sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import { code, type Sql, sql } from '../sql/sql.js';
import type { Column, TableSchema } from '../tables/schemas.js';
import { hashPartitionTexts, type PartitionTexts } from './partition-value.js';

/**
 * The maximum number of rows to write in one COPY, so that memory use doesn't depend on the size of the table. Rows
 * with the same value in the slicing column are written together even if there are more.
 */
export const SLICE_ROWS = 150_000;
/** The target size of files in bytes. A file of less than half this size counts as small. */
export const TARGET_BYTES = 128 * 1024 * 1024;
/**
 * The maximum number of partitions in one COPY. DuckDB needs a megabyte for each partition, and several COPY statements
 * run at once. With this limit, a first copy of 400 websites also uses less CPU time.
 */
const SLICE_PARTITIONS = 64;

export interface Parting {
  select: string;
  /** The column by which large tables are sliced; defaults to the first column of `partitionBy`. */
  sliceBy?: string;
  /** An upper limit for the number of rows, if known. If it is small, the rows aren't divided into slices. */
  maxRows?: bigint | undefined;
  /** Returns the maximum number of partitions for this number of rows. A table that needs more isn't partitioned. */
  mostPartitions?: (rows: bigint) => number;
}

interface StagePlan {
  partitionBy: string[];
  texts: PartitionTexts;
  /** The SQL condition for the rows of each COPY; undefined for all rows. */
  slices: (string | undefined)[];
}

/** Divides rows into slices, so that the memory use of a COPY doesn't depend on the number of rows or partitions. */
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

/** The number of rows that have these values in some columns. A value may be null. */
export interface ValueCount {
  values: readonly (string | null)[];
  rows: bigint;
}

/** Counts the rows of `select` for each combination of values, sorted by the columns. */
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

/** Returns an SQL condition for each slice. A slice is a group of consecutive values. */
export function planSlices(
  columns: readonly Column[],
  counts: readonly ValueCount[],
  limits: { rows: bigint; values: number },
): string[] {
  return groupValues(counts, limits).map((group) => writePredicate(columns, group));
}

/**
 * Divides consecutive values into groups that stay within the limits. If there are several groups, their number is even
 * and their sizes are similar, so that two parallel writers finish together. A value with too many rows gets its own
 * group. No group is empty.
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

/** Builds the condition for a group. It is a range of values, so DuckDB can skip row groups by their statistics. */
function writePredicate(columns: readonly Column[], group: readonly ValueCount[]): string {
  const names = columns.map(({ name }) => quoteIdentifier(name));
  const range = writeRange(names[0] ?? '', group);
  if (columns.length === 1) return range;
  // Compares whole rows, because DuckDB treats nulls in rows as equal, unlike `=` on single values.
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
