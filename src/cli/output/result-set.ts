import {
  type DuckDBPreparedStatement,
  type DuckDBResult,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Database } from '../../sql/connection.js';
import { quoteIdentifier } from '../../sql/quote.js';
import type { OpenedLake } from '../read-lake.js';
import type { Format } from '../shared-options.js';

/** Datatypes of the W3C's "Metadata Vocabulary for Tabular Data". All other types are text. */
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
  /** A narrow terminal leaves out the highest rank first; by default the place of the column. */
  rank?: number;
}

/** A result as SQL, for what DuckDB itself writes. */
export interface ResultSql {
  db: Pick<Database, 'row'>;
  /** Follows FROM. */
  from: string;
  /** A file that `db` may write. */
  scratch: string;
}

/** Streams rows of exact DuckDB values. */
export interface ResultSet {
  columns: ResultColumn[];
  batches: AsyncIterable<DuckDBValue[][]>;
  /** Licence texts that go with the data. */
  credits: string[];
  relation?: ResultSql | undefined;
  /** JSON of the versions, settings and SQL that the rows are made of. */
  source?: string | undefined;
  /** Members of the JSON line that say what the rows are about. */
  facts?: Readonly<Record<string, unknown>>;
}

/** Makes names of columns unique (`id`, `id_1`). */
export function toResultSet(result: DuckDBResult, credits: string[] = []): ResultSet {
  const types = result.columnTypes();
  const columns = result.deduplicatedColumnNames().map((name, i) => ({ name, type: types[i] as DuckDBType }));
  return { columns, batches: result.yieldRows(), credits };
}

/** The columns of a result that people see: those with a heading. */
export interface ForPeople {
  headings: Record<string, string>;
  /** Columns that a narrow terminal keeps longest, the most important first; the others follow in their order. */
  kept?: readonly string[];
  /** Gives a value its form; `read` gives the other values of its row by name. */
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

/** The rows of a statement; none for Parquet, because DuckDB itself writes its file. */
export async function readStatement(statement: DuckDBPreparedStatement, format: Format | undefined) {
  if (format !== 'parquet') return toResultSet(await statement.stream());
  const columns = Array.from({ length: statement.columnCount }, (_, i) => ({
    name: statement.columnName(i),
    type: statement.columnType(i),
  }));
  return { columns, batches: (async function* (): ResultSet['batches'] {})() };
}

/** The headings without those of the named columns that hold nothing in the whole table. */
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

/** A table of the session, with the credits that the query selects as `text`. A stream ends with the next statement. */
export async function readTableResult(
  { db, scratch }: Pick<OpenedLake, 'db' | 'scratch'>,
  table: string,
  creditsSql: string,
): Promise<ResultSet> {
  const credits = (await db.rows(creditsSql)).map(({ text }) => String(text));
  const result = toResultSet(await db.connection.stream(`FROM ${table}`), credits);
  return { ...result, relation: { db, from: table, scratch } };
}
