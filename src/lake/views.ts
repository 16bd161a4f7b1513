import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import { TABLE_NAMES, type TableChange, type TableName, type TableState } from '../tables/table.js';
import { type RelationFile, tableRelation, toRelationFile } from '../tables/table-relation.js';
import { refuseOtherTypes } from './column-drift.js';
import { type Lake, tablePath } from './layout.js';
import { readTable } from './read.js';

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

/**
 * Creates a temporary view `name` of one table; a file that is missing or no Parquet file is an error of DuckDB.
 * @throws PricelakeError `lake_invalid` when a column is of another type than the contract says.
 */
export async function createTableView(
  db: Database,
  lake: Lake,
  table: TableName,
  name: string,
  change?: TableChange,
): Promise<void> {
  const state = await readTable(lake, table);
  refuseOtherTypes(lake, state);
  const relation = tableRelation(table, listFiles(lake, state, change), state);
  await db.run(`CREATE OR REPLACE TEMP VIEW ${quoteIdentifier(name)} AS SELECT * FROM ${relation}`);
}

function listFiles(lake: Lake, state: TableState, change: TableChange | undefined): RelationFile[] {
  const removed = new Set(change?.remove.map((file) => file.path));
  const kept = state.files
    .filter((file) => !removed.has(file.path))
    .map((file) => toRelationFile(file, tablePath(lake, state.table, file.path)));
  return [...kept, ...(change?.add.map((file) => file.stagedAt) ?? [])];
}
