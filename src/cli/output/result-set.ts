import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  StatementType,
} from '@duckdb/node-api';
import type { Database } from '../../sql/connection.js';
import { quoteIdentifier } from '../../sql/quote.js';
import { holdRows, streamRows } from '../../sql/streamed-result.js';
import { type Rows, runWhole } from '../../sql/whole-result.js';
import type { OpenedLake } from '../read-lake.js';
import type { Format } from '../shared-options.js';

/**
 * The datatype of each DuckDB type in W3C's "Metadata Vocabulary for Tabular Data". Types that aren't listed here are
 * described as strings.
 */
export const DATATYPES = new Map<DuckDBTypeId, string>([
  [DuckDBTypeId.BOOLEAN, 'boolean'],
  [DuckDBTypeId.TINYINT, 'integer'],
  [DuckDBTypeId.SMALLINT, 'integer'],
  [DuckDBTypeId.INTEGER, 'integer'],
  [DuckDBTypeId.BIGINT, 'long'],
  [DuckDBTypeId.UTINYINT, 'integer'],
  [DuckDBTypeId.USMALLINT, 'integer'],
  [DuckDBTypeId.UINTEGER, 'long'],
  [DuckDBTypeId.UBIGINT, 'integer'],
  [DuckDBTypeId.HUGEINT, 'integer'],
  [DuckDBTypeId.UHUGEINT, 'integer'],
  [DuckDBTypeId.FLOAT, 'double'],
  [DuckDBTypeId.DOUBLE, 'double'],
  [DuckDBTypeId.DECIMAL, 'decimal'],
  [DuckDBTypeId.DATE, 'date'],
  [DuckDBTypeId.TIMESTAMP, 'dateTime'],
  [DuckDBTypeId.TIMESTAMP_TZ, 'dateTimeStamp'],
]);

export interface ResultColumn {
  name: string;
  type: DuckDBType;
  /**
   * The column's rank, which defaults to its position. A narrow terminal omits the column with the highest rank first.
   */
  rank?: number;
}

/** A result in the form of SQL. It is used for file formats that DuckDB itself writes. */
export interface ResultSql {
  db: Pick<Database, 'row'>;
  /** The part of the query that follows FROM. */
  from: string;
  /** A temporary file that `db` may write. */
  scratch: string;
}

/** A result in the form of rows of exact DuckDB values. */
export interface ResultSet {
  columns: ResultColumn[];
  /** The rows, which can be iterated only once. If the statement fails, the iteration throws its error. */
  batches: AsyncIterable<DuckDBValue[][]>;
  /** The license texts that must be included with the data. */
  credits: string[];
  relation?: ResultSql | undefined;
  /** Describes what the rows depend on, as JSON. It includes the versions, settings and SQL. */
  source?: string | undefined;
  /** Other members of the JSON object, which describe the rows. */
  facts?: Readonly<Record<string, unknown>>;
}

/** Defines which columns a table for people shows, and how. Columns without a heading aren't shown. */
export interface ForPeople {
  headings: Record<string, string>;
  /**
   * The most important columns, most important first. A narrow terminal first omits all other columns, from last to
   * first.
   */
  kept?: readonly string[];
  /** Formats the value of a column. `read` returns the value of another column in the same row. */
  show(name: string, value: DuckDBValue, read: (name: string) => DuckDBValue): DuckDBValue;
}

export function selectColumns(result: ResultSet, { headings, kept: first = [], show }: ForPeople): ResultSet {
  const find = (name: string) => result.columns.findIndex((column) => column.name === name);
  const kept = Object.entries(headings)
    .map(([name, heading]) => ({ index: find(name), name, heading }))
    .filter(({ index }) => index >= 0);
  const columns = kept.map(({ index, name, heading }, at) => {
    const rank = first.includes(name) ? first.indexOf(name) : first.length + at;
    return { ...(result.columns[index] as ResultColumn), name: heading, rank };
  });
  const pick = (row: DuckDBValue[]) => {
    const read = (name: string) => row[find(name)] ?? null;
    return kept.map(({ index, name }) => show(name, row[index] ?? null, read));
  };
  async function* pickAll(): ResultSet['batches'] {
    for await (const batch of result.batches) yield batch.map(pick);
  }
  return { columns, batches: pickAll(), credits: result.credits };
}

/** A statement, with an expression for the FROM clause of another statement that selects the same rows. */
export interface Select {
  connection: DuckDBConnection;
  statement: DuckDBPreparedStatement;
  from: string;
}

/** The output format, and whether rows are written to a file. */
export interface Destination {
  format: Format;
  /** True if the rows are written to a file. The file is replaced only after the last row has been written. */
  isFile: boolean;
}

/** The maximum number of rows in a table for people. If the result has more rows, a note below the table says so. */
export const MOST_TABLE_ROWS = 1000;

/** A result with more rows than this is written to stdout while its query is still running. */
const MOST_HELD_ROWS = 1_000_000;

/**
 * Reads the rows of a statement. For Parquet, returns no rows, because DuckDB writes the file itself. For stdout, a
 * result of moderate size is buffered before its first row is written. Then neither an error nor a file that another
 * process deletes can cut off the output.
 */
export async function readStatement(
  { connection, statement, from }: Select,
  { format, isFile }: Destination,
): Promise<Pick<ResultSet, 'columns' | 'batches'>> {
  if (statement.statementType === StatementType.EXPLAIN) return readInMemory(statement);
  const columns = readColumns(statement);
  if (format === 'parquet') return { columns, batches: (async function* (): ResultSet['batches'] {})() };
  const streamed = streamRows(connection, { from });
  if (isFile) return { columns, batches: readRows(streamed, columns.length) };
  const most = format === 'table' ? MOST_TABLE_ROWS : MOST_HELD_ROWS;
  const held = await holdRows(connection, { from }, most + 1);
  const isWhole = format === 'table' || held.count <= most;
  return { columns, batches: readRows(isWhole ? held : streamed, columns.length) };
}

/**
 * Reads all rows of a statement into memory. This also works for a statement that can't be a subquery, such as EXPLAIN.
 */
export async function readInMemory(
  statement: Pick<DuckDBPreparedStatement, 'run'>,
): Promise<Pick<ResultSet, 'columns' | 'batches'>> {
  const { result, ...rows } = await runWhole(statement);
  const types = result.columnTypes();
  const columns = result.deduplicatedColumnNames().map((name, i) => ({ name, type: types[i] as DuckDBType }));
  return { columns, batches: readRows(rows, columns.length) };
}

/** Returns the columns of a statement. Makes repeated names unique, for example as `id` and `id:1`. */
function readColumns(statement: DuckDBPreparedStatement): ResultColumn[] {
  const seen = new Map<string, number>();
  return Array.from({ length: statement.columnCount }, (_, i) => {
    const name = statement.columnName(i);
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return { name: before === 0 ? name : `${name}:${before}`, type: statement.columnType(i) };
  });
}

async function* readRows({ chunks }: Rows, columns: number): ResultSet['batches'] {
  for await (const chunk of chunks()) {
    const rows = chunk.getRows();
    for (const row of rows) row.length = columns;
    yield rows;
  }
}

/** Returns the headings without those of the columns in `names` that contain only NULL. */
export async function withoutEmpty<Headings extends Record<string, string>>(
  db: Database,
  table: string,
  headings: Headings,
  names: readonly (keyof Headings & string)[],
): Promise<Partial<Headings>> {
  const counts = names.map((name) => `count(${quoteIdentifier(name)}) AS ${quoteIdentifier(name)}`);
  const row = await db.row(`SELECT ${counts.join(', ')} FROM ${table}`);
  return Object.fromEntries(Object.entries(headings).filter(([name]) => row?.[name] !== 0n)) as Partial<Headings>;
}

/** Reads all rows of a table. The query `creditsSql` selects the license texts for them in a column named `text`. */
export async function readTableResult(
  { db, scratch }: Pick<OpenedLake, 'db' | 'scratch'>,
  table: string,
  creditsSql: string,
): Promise<ResultSet> {
  const credits = (await db.rows(creditsSql)).map(({ text }) => String(text));
  const statement = await db.connection.prepare(`FROM ${table}`);
  const result = await readStatement(
    { connection: db.connection, statement, from: table },
    { format: 'csv', isFile: true },
  );
  return { ...result, credits, relation: { db, from: table, scratch } };
}
