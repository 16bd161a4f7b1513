import { escapeGlob } from './duckdb/glob.js';
import { quoteIdentifier, quoteList, quoteLiteral } from './duckdb/quote.js';
import type { TableName } from './model.js';
import { loadTableSchema } from './schemas.js';

export interface RelationOptions {
  /** Of read_parquet, e.g. `filename = true`. */
  more?: string;
  /** False where every file is known to have all columns: DuckDB then binds each use of the relation a millisecond faster. */
  hasOlderFiles?: boolean;
}

/**
 * SQL of a relation over exactly these files, or a typed one without rows where there is none. Its columns are the
 * contract's, in its order: null where a file is older than a column. Partition columns come from the files, which hold
 * them, not from the names of their folders.
 */
export function tableRelation(table: TableName, absolutePaths: string[], options: RelationOptions = {}): string {
  const { more, hasOlderFiles = true } = options;
  if (absolutePaths.length === 0) return `(${writeEmptySelect(table)})`;
  const parameters = [
    quoteList(absolutePaths.map(escapeGlob)),
    'hive_partitioning = false',
    ...(hasOlderFiles ? [`\n  schema = ${writeReadSchema(table)}`] : []),
    ...(more === undefined ? [] : [more]),
  ];
  return `read_parquet(${parameters.join(', ')})`;
}

/** The contract in the words of read_parquet: by name, so that files need not be opened to tell their columns. */
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
