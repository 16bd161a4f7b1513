import type { TableName, TableState } from '../model.js';
import { readLog } from './delta-log.js';
import type { Lake } from './layout.js';

/**
 * A table as its log says it is; files in the order of their paths.
 * @throws PricelakeError `lake_invalid` when the log is damaged.
 */
export async function readTable(lake: Lake, table: TableName): Promise<TableState> {
  const state = await readLog(lake, table);
  return {
    table,
    version: state.version,
    files: [...state.files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
    txn: Object.fromEntries([...state.txn].map(([appId, { version }]) => [appId, version])),
  };
}
