import { escapeGlob, quoteIdentifier, quoteList, quoteLiteral } from '../duckdb/quote.js';
import { type Column, loadTableSchema } from './schemas.js';
import type { DataFile, TableName } from './table.js';

type PartitionValues = DataFile['partitionValues'];
/** What the log says of a file; our own have a checksum there. */
type FileOrigin = { partitionValues: PartitionValues; sha256?: string | undefined };

/** A file to read: its path; with the log's partition values where the file may lack their columns. */
export type RelationFile = string | { path: string; partitionValues: PartitionValues };

/** How a file at `path` is read. Other writers (OPTIMIZE, say) leave partition columns to the log. */
export function toRelationFile({ sha256, partitionValues }: FileOrigin, path: string): RelationFile {
  const isOurs = sha256 !== undefined;
  return isOurs || Object.keys(partitionValues).length === 0 ? path : { path, partitionValues };
}

export interface RelationOptions {
  /** Of read_parquet, e.g. `filename = true`. */
  more?: string;
  /** False where every file is known to have all columns: DuckDB then binds each use of the relation a millisecond faster. */
  hasOlderFiles?: boolean;
}

/**
 * SQL of a relation over exactly these files, or a typed one without rows where there is none. Its columns are the
 * contract's, in its order: null where a file is older than a column. Partition columns come from the files, or from
 * the log where another program wrote the file; never from the names of folders.
 */
export function tableRelation(table: TableName, files: readonly RelationFile[], options: RelationOptions = {}): string {
  if (files.length === 0) return `(${writeEmptySelect(table)})`;
  const whole = files.filter((file) => typeof file === 'string');
  const groups = groupByPartition(files.filter((file) => typeof file !== 'string'));
  if (groups.length === 0) return readFiles(table, whole, options);
  const parts = groups.map(({ paths, partitionValues }) => {
    const values = writePartitionValues(table, partitionValues);
    return `SELECT * REPLACE (${values}) FROM ${readFiles(table, paths, { ...options, hasOlderFiles: true })}`;
  });
  if (whole.length > 0) parts.unshift(`SELECT * FROM ${readFiles(table, whole, options)}`);
  return `(${parts.join('\n  UNION ALL ')})`;
}

function readFiles(table: TableName, paths: string[], { more, hasOlderFiles = true }: RelationOptions): string {
  const parameters = [
    quoteList(paths.map(escapeGlob)),
    'hive_partitioning = false',
    ...(hasOlderFiles ? [`\n  schema = ${writeReadSchema(table)}`] : []),
    ...(more === undefined ? [] : [more]),
  ];
  return `read_parquet(${parameters.join(', ')})`;
}

function groupByPartition(files: Exclude<RelationFile, string>[]) {
  const groups = new Map<string, { paths: string[]; partitionValues: PartitionValues }>();
  for (const { path, partitionValues } of files) {
    const key = JSON.stringify(partitionValues);
    const group = groups.get(key) ?? { paths: [], partitionValues };
    group.paths.push(path);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** The log's texts as values (protocol, "Partition Value Serialization"): an empty text is null, an instant is in UTC. */
function writePartitionValues(table: TableName, values: PartitionValues): string {
  const { columns } = loadTableSchema(table);
  const known = columns.filter(({ name }) => Object.hasOwn(values, name));
  return known
    .map((column) => `${writePartitionValue(column, values[column.name])} AS ${quoteIdentifier(column.name)}`)
    .join(', ');
}

function writePartitionValue({ type }: Column, text: string | null | undefined): string {
  if (text == null || text === '') return `CAST(NULL AS ${type})`;
  const isLocal = type === 'TIMESTAMP WITH TIME ZONE' && !/(Z|[+-]\d\d(:?\d\d)?)$/i.test(text);
  return `CAST(${quoteLiteral(isLocal ? `${text}Z` : text)} AS ${type})`;
}

/** The contract as an option of read_parquet: by name, so that DuckDB need not open files to find their columns. */
function writeReadSchema(table: TableName): string {
  const columns = loadTableSchema(table).columns.map(({ name, type }) => {
    const text = quoteLiteral(name);
    return `${text}: {name: ${text}, type: ${quoteLiteral(type)}, default_value: NULL}`;
  });
  return `MAP {\n    ${columns.join(',\n    ')}}`;
}

/** A select of the table's columns and types without rows. */
export function writeEmptySelect(table: TableName): string {
  const columns = loadTableSchema(table).columns.map(
    (column) => `CAST(NULL AS ${column.type}) AS ${quoteIdentifier(column.name)}`,
  );
  return `SELECT ${columns.join(', ')} WHERE false`;
}
