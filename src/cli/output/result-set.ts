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

/** Datatypes in W3C's "Metadata Vocabulary for Tabular Data" for DuckDB types. Types not listed here become strings. */
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
  /** A narrow terminal omits the column with the highest rank first. By default, the rank is the column's position. */
  rank?: number;
}

/** A result as SQL, for formats that DuckDB writes itself. */
export interface ResultSql {
  db: Pick<Database, 'row'>;
  /** The part of the query that follows FROM. */
  from: string;
  /** A temporary file that `db` may write. */
  scratch: string;
}

/** A result as rows of exact DuckDB values. */
export interface ResultSet {
  columns: ResultColumn[];
  /** Can be iterated once. Iterating throws the error of the statement. */
  batches: AsyncIterable<DuckDBValue[][]>;
  /** License texts that must accompany the data. */
  credits: string[];
  relation?: ResultSql | undefined;
  /** The versions, settings and SQL that determine the rows, as JSON. */
  source?: string | undefined;
  /** Members of the JSON object that describe the rows. */
  facts?: Readonly<Record<string, unknown>>;
}

/** Chooses and formats the columns of a table for people. Columns without a heading aren't shown. */
export interface ForPeople {
  headings: Record<string, string>;
  /** Columns that a narrow terminal omits last, most important first. The other columns are omitted from the end. */
  kept?: readonly string[];
  /** Formats a value. `read` returns other values in the same row by column name. */
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

/** A statement, and an expression for FROM that selects the rows of this statement. */
export interface Select {
  connection: DuckDBConnection;
  statement: DuckDBPreparedStatement;
  from: string;
}

/** The output format, and whether rows are written to a file. */
export interface Destination {
  format: Format;
  /** True for a file, which is replaced only after the last row has been written. */
  isFile: boolean;
}

/** The maximum number of rows in a table for people. A note below a longer result says that rows are missing. */
export const MOST_TABLE_ROWS = 1000;

/** Results with more rows than this are written while their query is running. */
const MOST_HELD_ROWS = 1_000_000;

/**
 * Reads the rows of a statement. Returns no rows for Parquet, because DuckDB writes the file itself. For stdout, a
 * result of moderate size is buffered before its first row is written, so that neither an error nor a deleted file can
 * truncate the output.
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

/** Reads the rows of a statement that can't be a subquery, such as EXPLAIN, into memory. */
export async function readInMemory(
  statement: Pick<DuckDBPreparedStatement, 'run'>,
): Promise<Pick<ResultSet, 'columns' | 'batches'>> {
  const { result, ...rows } = await runWhole(statement);
  const types = result.columnTypes();
  const columns = result.deduplicatedColumnNames().map((name, i) => ({ name, type: types[i] as DuckDBType }));
  return { columns, batches: readRows(rows, columns.length) };
}

/** Returns the columns with unique names: `id`, `id:1`. */
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

/** Removes those `names` from the headings whose columns contain only NULL in the whole table. */
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

/** Reads all rows of a session's table, and the credits that a query selects as `text`. */
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
