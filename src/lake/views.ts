import type { Database } from '../duckdb/connection.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type Candidate, type DataFile, TABLE_NAMES, type TableChange, type TableName } from '../tables/table.js';
import { type RelationFile, tableRelation, toRelationFile } from '../tables/table-relation.js';
import { refuseUnreadable } from './column-difference.js';
import { type Lake, tablePath } from './layout.js';
import { requireFiles } from './partial.js';
import { readTable } from './read.js';

/** Tables that a run reads again and again. */
const MUCH_READ: readonly TableName[] = ['items', 'history', 'sites', 'stale_items', 'runs'];

/** Footers of more files are read again by each statement: DuckDB needs 50 kB for each that it keeps. */
const MANY_FILES = 2_000;

/** A table up to this size is quicker read once than planned over its files by each statement of a whole run. */
export const FEW_ROWS = 50_000n;
const FEW_BYTES = 16 * 1024 * 1024;

/**
 * Creates a view per table: the published state, or for the tables in `candidate`
 * the state that committing the change would give. Tables that a run reads much are read once, up to `readOnce` rows.
 * Default: of all `tables`.
 */
export async function createTableViews(
  db: Database,
  lake: Lake,
  candidate: Candidate = {},
  { readOnce = 0n, tables = TABLE_NAMES }: { readOnce?: bigint; tables?: readonly TableName[] } = {},
): Promise<void> {
  // One after the other: files that are on a remote only are fetched, and a run that is killed keeps those that came.
  for (const table of tables) {
    const { relations, state, files } = await listFiles(lake, table, candidate[table]);
    if (files.length > MANY_FILES) await db.forgetFooters();
    if (files.length === 0) await db.keepEmpty(table, loadTableSchema(table).columns);
    else if (MUCH_READ.includes(table) && isSmall(files, readOnce)) {
      const read = (some: readonly string[]) => tableRelation(table, some, { ...state, more: 'filename = true' });
      await db.keep(table, relations.map(readPath), read);
    } else await db.define('view', table, `SELECT * FROM ${tableRelation(table, relations, state)}`);
  }
}

/**
 * Creates a view `name` of one table; a file that is missing or no Parquet file is an error of DuckDB.
 * @throws PricelakeError `lake_invalid` when the table has other columns than its contract.
 */
export async function createTableView(db: Database, lake: Lake, table: TableName, name: string): Promise<void> {
  const { relations, state } = await listFiles(lake, table, undefined);
  await db.define('view', name, `SELECT * FROM ${tableRelation(table, relations, state)}`);
}

async function listFiles(lake: Lake, table: TableName, change: TableChange | undefined) {
  const state = await readTable(lake, table);
  refuseUnreadable(lake, state);
  const removed = new Set(change?.remove.map((file) => file.path));
  const kept = state.files.filter((file) => !removed.has(file.path));
  await requireFiles(lake, table, kept);
  const relations: RelationFile[] = [
    ...kept.map((file) => toRelationFile(file, tablePath(lake, table, file.path))),
    ...(change?.add.map((file) => file.stagedAt) ?? []),
  ];
  return { relations, state, files: [...kept, ...(change?.add ?? [])] };
}

const readPath = (file: RelationFile) => (typeof file === 'string' ? file : file.path);

/** True for few rows in files of our own, whose log counts them. */
export function isSmall(files: readonly DataFile[], fewRows = FEW_ROWS): boolean {
  return (
    files.every((file) => file.sha256 !== undefined || 'stagedAt' in file) &&
    files.reduce((sum, { rows }) => sum + rows, 0n) <= fewRows &&
    files.reduce((sum, { bytes }) => sum + bytes, 0) <= FEW_BYTES
  );
}
