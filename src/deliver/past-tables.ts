import { PricelakeError } from '../io/errors.js';
import { readTable, readTableAt } from '../lake/read.js';
import type { Lake } from '../tables/layout.js';
import type { TableName, TableState } from '../tables/table.js';
import { readCommitsSince } from './since.js';
import { areKept } from './table-span.js';

export type ReadState = (table: TableName) => Promise<TableState>;

/**
 * Returns a function that reads tables as they were after run `asOf`, or in their current state if it is undefined.
 * @throws PricelakeError `usage` if the run doesn't exist, or the lake no longer has the table's files
 */
export function readStates(lake: Lake, asOf: bigint | undefined): ReadState {
  if (asOf === undefined) return (table) => readTable(lake, table);
  return async (table) => {
    const { version } = await readCommitsSince(lake, table, { kind: 'run', number: asOf });
    const state = version < 0n ? await readTable(lake, table) : await readTableAt(lake, table, version);
    // If the table didn't exist yet after the run, it has no files.
    if (version < 0n) return { ...state, version, files: [] };
    if (await areKept(lake, table, state.files)) return state;
    throw new PricelakeError('usage', `the lake no longer has the files of ${table} as of run ${asOf}`, {
      hint: 'lake.retention in the pipeline file sets how long replaced files are kept.',
    });
  };
}
