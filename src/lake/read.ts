import type { Lake } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { ColumnDifference, TableName, TableState } from '../tables/table.js';
import { compareColumns } from './column-difference.js';
import { isSealed } from './data-file.js';
import { readLog } from './delta-log.js';
import { decodeApplied } from './table-state.js';

const NO_DIFFERENCE: ColumnDifference = { missing: [], unknown: [], retyped: [] };

/**
 * Reads a table from its log, with files sorted by path.
 * @throws PricelakeError `lake_invalid` if the log is damaged
 */
export async function readTable(lake: Lake, table: TableName): Promise<TableState> {
  return toTableState(table, await readLog(lake, table));
}

/** Reads a table at a version. @throws PricelakeError `lake_invalid` if the log is damaged */
export async function readTableAt(lake: Lake, table: TableName, version: bigint): Promise<TableState> {
  return toTableState(table, await readLog(lake, table, { until: version }));
}

function toTableState(table: TableName, state: Awaited<ReturnType<typeof readLog>>): TableState {
  const { metaData } = state;
  const files = [...state.files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const difference =
    metaData === undefined ? NO_DIFFERENCE : compareColumns(loadTableSchema(table), metaData.schemaString);
  return {
    table,
    version: state.version,
    files,
    applied: decodeApplied(state.txn),
    difference,
    hasOlderFiles: !files.every(isSealed),
  };
}
