import type { Lake } from '../tables/layout.js';
import type { DataFile, TableName } from '../tables/table.js';
import { type Action, readAdd } from './delta-actions.js';
import { findVersions, listLog, logPath, readEntry } from './delta-log.js';
import { RUN_APP_ID } from './table-state.js';

export interface LogEntry {
  version: bigint;
  /** The time of the commit, in milliseconds since 1970; undefined if another program didn't record it. */
  at: number | undefined;
  /** The id and number of the run that wrote the commit. The commit of a compaction has no run number. */
  runId: string | undefined;
  runNumber: bigint | undefined;
  /** The operation, such as `SYNC`, `OPTIMIZE` or `REBUILD`. Other programs record other operations. */
  operation: string;
  isOurs: boolean;
  /** False if the commit kept all rows, for example a compaction. */
  changesRows: boolean;
  added: DataFile[];
  /** The removed files, as paths within the table's folder. */
  removed: string[];
}

/**
 * Yields the commits of a table, newest first, as far back as its log goes. Reads each entry only when it is needed.
 * @throws PricelakeError `lake_invalid` if a commit is damaged
 */
export async function* readEntriesBackwards(lake: Lake, table: TableName): AsyncGenerator<LogEntry> {
  for (const version of findVersions(await listLog(lake, table), 'json').reverse()) {
    yield describeEntry(version, await readEntry(logPath(lake, table, version, 'json')));
  }
}

function describeEntry(version: bigint, actions: Action[]): LogEntry {
  const info = actions.find(({ commitInfo }) => commitInfo != null)?.commitInfo;
  const added = actions.flatMap(({ add }) => (add == null ? [] : [add]));
  const removed = actions.flatMap(({ remove }) => (remove == null ? [] : [remove]));
  const run = actions.find(({ txn }) => txn?.appId === RUN_APP_ID)?.txn;
  return {
    version,
    at: typeof info?.timestamp === 'number' ? info.timestamp : undefined,
    runId: typeof info?.runId === 'string' ? info.runId : undefined,
    runNumber: run == null ? undefined : BigInt(run.version),
    operation: String(info?.operation ?? ''),
    isOurs: String(info?.engineInfo ?? '').startsWith('pricelake/'),
    changesRows: [...added, ...removed].some(({ dataChange }) => dataChange !== false),
    added: added.map(readAdd),
    removed: removed.map(({ path }) => path),
  };
}
