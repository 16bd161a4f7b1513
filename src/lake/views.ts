import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier, quoteList } from '../duckdb/quote.js';
import { TABLE_NAMES, type TableChange, type TableName } from '../model.js';
import { loadTableSchema } from '../schemas.js';
import { escapeGlob } from './glob.js';
import { type Lake, tablePath } from './layout.js';
import { readTable } from './read.js';

/**
 * SQL of a relation over exactly these files, or a typed one without rows where there is none. Partition columns
 * come from the files, which hold them, not from the names of their folders.
 */
export function tableRelation(table: TableName, absolutePaths: string[]): string {
  if (absolutePaths.length === 0) return `(${writeEmptySelect(table)})`;
  return `read_parquet(${quoteList(absolutePaths.map(escapeGlob))}, hive_partitioning = false)`;
}

/** A select of the table's columns and types without rows. */
export function writeEmptySelect(table: TableName): string {
  const columns = loadTableSchema(table).columns.map(
    (column) => `CAST(NULL AS ${column.type}) AS ${quoteIdentifier(column.name)}`,
  );
  return `SELECT ${columns.join(', ')} WHERE false`;
}

/**
 * Creates a temporary view per table on `db`'s connection: the published state, or for the tables in `candidate`
 * the state that committing the change would give.
 */
export async function createTableViews(
  db: Database,
  lake: Lake,
  candidate: Partial<Record<TableName, TableChange>> = {},
): Promise<void> {
  for (const table of TABLE_NAMES) await createTableView(db, lake, table, table, candidate[table]);
}

/** Creates a temporary view `name` of one table; a file that is missing or no Parquet file is an error of DuckDB. */
export async function createTableView(
  db: Database,
  lake: Lake,
  table: TableName,
  name: string,
  change?: TableChange,
): Promise<void> {
  const paths = await listPaths(lake, table, change);
  await db.run(`CREATE OR REPLACE TEMP VIEW ${quoteIdentifier(name)} AS SELECT * FROM ${tableRelation(table, paths)}`);
}

async function listPaths(lake: Lake, table: TableName, change: TableChange | undefined): Promise<string[]> {
  const { files } = await readTable(lake, table);
  const removed = new Set(change?.remove.map((file) => file.path));
  const kept = files.filter((file) => !removed.has(file.path)).map((file) => tablePath(lake, table, file.path));
  return [...kept, ...(change?.add.map((file) => file.stagedAt) ?? [])];
}
