import { type Column, loadTableSchema } from '../tables/schemas.js';
import type { DataFile, TableName } from '../tables/table.js';
import { quoteIdentifier, quoteLiteral } from './quote.js';
import { code, join, readFiles, type Sql, sql } from './sql.js';

export interface ColumnType {
  name: string;
  type: string;
}

type PartitionValues = DataFile['partitionValues'];
/** A file's partition values and checksum in the log. Only files written by pricelake have a checksum. */
type FileOrigin = { partitionValues: PartitionValues; sha256?: string | undefined };

/** A file's path and, if the file may lack its partition columns, the values of these columns in the table's log. */
export type RelationFile = string | { path: string; partitionValues: PartitionValues };

/**
 * Returns the path of a file. If another program wrote the file, adds its partition values, because some programs store
 * these values only in the table's log.
 */
export function toRelationFile({ sha256, partitionValues }: FileOrigin, path: string): RelationFile {
  const isOurs = sha256 !== undefined;
  return isOurs || Object.keys(partitionValues).length === 0 ? path : { path, partitionValues };
}

export interface RelationOptions {
  /** True to add a `filename` column with the path of each row's file. */
  places?: boolean;
  /** False if every file has all columns. This saves DuckDB one millisecond each time it binds the relation. */
  hasOlderFiles?: boolean;
}

/**
 * Builds SQL that reads exactly these files, with the columns of the table's schema in order. If there are no files,
 * the SQL returns no rows. A column that a file lacks is NULL. Partition values come from the file, or from the log if
 * another program wrote the file, but never from folder names.
 */
export function relateFiles(table: TableName, files: readonly RelationFile[], options: RelationOptions = {}): Sql {
  if (files.length === 0) return code(`(${writeEmptySelect(table)})`);
  const whole = files.filter((file) => typeof file === 'string');
  const partitionedFiles = files.filter((file) => typeof file !== 'string');
  if (partitionedFiles.length === 0) return readTable(table, whole, options);
  const parts = groupByColumns(partitionedFiles).map((group) => selectWithPartitions(table, group, options));
  if (whole.length > 0) parts.unshift(sql`SELECT * FROM ${readTable(table, whole, options)}`);
  return sql`(${join(parts, '\n  UNION ALL ')})`;
}

export const tableRelation = (...[table, files, options]: Parameters<typeof relateFiles>): string =>
  relateFiles(table, files, options).text;

function readTable(table: TableName, paths: string[], { places = false, hasOlderFiles = true }: RelationOptions): Sql {
  const parameters = [
    'hive_partitioning = false',
    ...(hasOlderFiles ? [`\n  schema = ${writeReadSchema(table)}`] : []),
  ];
  return readFiles('read_parquet', paths, parameters, { hasNames: places });
}

type LoggedFile = Exclude<RelationFile, string>;

/** Groups files by their partition columns. Usually all files of a table have the same columns and form one group. */
function groupByColumns(files: LoggedFile[]): LoggedFile[][] {
  const keyOf = ({ partitionValues }: LoggedFile) => Object.keys(partitionValues).join();
  return [...new Set(files.map(keyOf))].map((key) => files.filter((file) => keyOf(file) === key));
}

/** Reads all files in one scan, which needs less memory than one scan for each file, and joins partition values. */
function selectWithPartitions(table: TableName, files: LoggedFile[], { places = false }: RelationOptions): Sql {
  const columns = loadTableSchema(table).columns.filter(({ name }) => name in (files[0]?.partitionValues ?? {}));
  const paths = files.map(({ path }) => path);
  const rows = readTable(table, paths, { places: true, hasOlderFiles: true });
  const values = files.map(({ path, partitionValues }) => {
    const texts = columns.map((column) => writeText(column, partitionValues[column.name]));
    return `(${[quoteLiteral(pathInTable(table, path)), ...texts].join(', ')})`;
  });
  const names = columns.map((_, index) => `value_${index}`);
  const replaced = columns.map(
    ({ name, type }, index) => `CAST(logged.value_${index} AS ${type}) AS ${quoteIdentifier(name)}`,
  );
  return sql`SELECT stored.*${code(places ? '' : ' EXCLUDE (filename)')} REPLACE (${code(replaced.join(', '))})
    FROM ${rows} AS stored
    JOIN (VALUES ${code(values.join(',\n      '))}) AS logged(path, ${code(names.join(', '))})
      ON string_split('/' || stored.filename, ${`/${table}/`})[-1] = logged.path`;
}

/** Returns a file's path within its table's folder. DuckDB reports absolute paths, but `path` may be relative. */
const pathInTable = (table: TableName, path: string) => `/${path}`.split(`/${table}/`).at(-1) ?? path;

/**
 * Converts a partition value of Delta's log to SQL (Delta protocol, Partition Value Serialization). An empty string is
 * NULL, and timestamps are in UTC.
 */
function writeText({ type }: Column, text: string | null | undefined): string {
  if (text == null || text === '') return 'CAST(NULL AS VARCHAR)';
  const isLocal = type === 'TIMESTAMP WITH TIME ZONE' && !/(Z|[+-]\d\d(:?\d\d)?)$/i.test(text);
  return quoteLiteral(isLocal ? `${text}Z` : text);
}

/** Builds the option `schema` of read_parquet. With it, DuckDB needn't open files to find their columns. */
function writeReadSchema(table: TableName): string {
  const columns = loadTableSchema(table).columns.map(({ name, type }) => {
    const text = quoteLiteral(name);
    return `${text}: {name: ${text}, type: ${quoteLiteral(type)}, default_value: NULL}`;
  });
  return `MAP {\n    ${columns.join(',\n    ')}}`;
}

/** Builds a SELECT that has the given columns, or a table's columns, and no rows. */
export function writeEmptySelect(columns: readonly ColumnType[] | TableName): string {
  const list = typeof columns === 'string' ? loadTableSchema(columns).columns : columns;
  const nulls = list.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`);
  return `SELECT ${nulls.join(', ')} WHERE false`;
}
