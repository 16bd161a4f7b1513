import type { Database } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { tableRelation, toRelationFile } from '../sql/table-relation.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { TABLE_NAMES, type TableName, type TableState } from '../tables/table.js';
import { refuseUnreadable } from './column-difference.js';
import { requireFiles } from './partial.js';
import { readTable } from './read.js';
import { MANY_FILES } from './table-rows.js';

export async function createTableViews(
  db: Database,
  lake: Lake,
  tables: readonly TableName[] = TABLE_NAMES,
  read: (table: TableName) => Promise<TableState> = (table) => readTable(lake, table),
): Promise<void> {
  // Opens tables one after another. If the process is killed, files that were downloaded for finished tables are kept.
  for (const table of tables) await createView(db, lake, await read(table), table);
}

/**
 * Creates a view of a published table. DuckDB throws if a file is missing or isn't a Parquet file.
 * @throws PricelakeError `lake_invalid` if the columns differ from the contract
 */
export async function createTableView(db: Database, lake: Lake, table: TableName, name: string): Promise<void> {
  await createView(db, lake, await readTable(lake, table), name);
}

async function createView(db: Database, lake: Lake, state: TableState, name: string): Promise<void> {
  const rows = await relateState(db, lake, state);
  await db.run(`CREATE OR REPLACE VIEW ${quoteIdentifier(name)} AS SELECT * FROM ${rows}`);
}

export async function relateTable(db: Database, lake: Lake, table: TableName): Promise<string> {
  return relateState(db, lake, await readTable(lake, table));
}

async function relateState(db: Database, lake: Lake, state: TableState): Promise<string> {
  const { table } = state;
  refuseUnreadable(lake, state);
  await requireFiles(lake, table, state.files);
  if (state.files.length > MANY_FILES) await db.forgetFooters();
  const files = state.files.map((file) => toRelationFile(file, tablePath(lake, table, file.path)));
  return tableRelation(table, files, state);
}
