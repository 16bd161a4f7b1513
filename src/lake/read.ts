import type { Lake } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import { TABLE_NAMES, type TableName, type TableState } from '../tables/table.js';
import { compareColumns, refuseOtherColumns } from './column-difference.js';
import { isSealed } from './data-file.js';
import { readLog } from './delta-log.js';
import { decodeApplied } from './table-state.js';

/** Reads a table's state, with its files sorted by path. @throws PricelakeError `lake_invalid` if the log is damaged */
export async function readTable(lake: Lake, table: TableName): Promise<TableState> {
  return toTableState(table, await readLog(lake, table));
}

/** The states of all tables, read from their logs. */
export type Tables = Record<TableName, TableState>;

/** Reads all tables' states. @throws PricelakeError `lake_invalid` if a log is damaged or columns are wrong */
export async function readTables(lake: Lake): Promise<Tables> {
  return acceptTables(lake, await readStates(lake));
}

export function readStates(lake: Lake): Promise<TableState[]> {
  return Promise.all(TABLE_NAMES.map((table) => readTable(lake, table)));
}

export function acceptTables(lake: Lake, states: readonly TableState[]): Tables {
  refuseOtherColumns(lake, states);
  return Object.fromEntries(states.map((state) => [state.table, state])) as Tables;
}

/** Reads a table's state as of a version. @throws PricelakeError `lake_invalid` if the log is damaged */
export async function readTableAt(lake: Lake, table: TableName, version: bigint): Promise<TableState> {
  return toTableState(table, await readLog(lake, table, { until: version }));
}

function toTableState(table: TableName, state: Awaited<ReturnType<typeof readLog>>): TableState {
  const { metaData } = state;
  const files = [...state.files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    table,
    version: state.version,
    files,
    applied: decodeApplied(state.txn),
    difference: compareColumns(loadTableSchema(table), metaData?.schemaString),
    hasOlderFiles: !files.every(isSealed),
  };
}
