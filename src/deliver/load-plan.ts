import { PricelakeError } from '../io/errors.js';
import { isEmptyFile } from '../lake/data-file.js';
import { readLog } from '../lake/delta-log.js';
import { readTable } from '../lake/read.js';
import type { Lake } from '../tables/layout.js';
import { type Column, loadTableSchema } from '../tables/schemas.js';
import type { DataFile, TableName } from '../tables/table.js';
import { readSpan, type TableSpan } from './table-span.js';

/** The data that brings a copy of a table from an earlier run to the newest run. */
export interface TableLoad {
  table: TableName;
  /** The table's id. The id differs between lakes, so it shows whether a copy is from another lake. */
  tableId: string;
  /** The last run that was loaded into the copy; undefined to load everything. */
  since: bigint | undefined;
  /** The newest run in the copy after the load. */
  run: bigint;
  columns: Column[];
  /**
   * The rows to replace in the copy. `files` contain all these rows. Unless `kind` is `all`, the files may also contain
   * rows that aren't loaded.
   */
  rows: LoadedRows;
  files: DataFile[];
  /** The number of rows in the copy after the load. */
  total: bigint;
}

/**
 * With `keys`, the rows that these runs wrote replace the copy's rows with the same keys. With `runs`, the copy gets
 * all rows that these runs wrote. It also gets all rows of `partitions`, because rows of these partitions were removed.
 */
type LoadedRows =
  | { kind: 'all' }
  | { kind: 'none' }
  | { kind: 'keys'; key: string; runIds: string[] }
  | { kind: 'runs'; runIds: string[]; partitions: DataFile['partitionValues'][] };

/**
 * Returns the given tables that exist in the lake. A first run that was stopped during publication may not have created
 * every table.
 * @throws PricelakeError `usage` if none of the tables exists
 */
export async function findTables(lake: Lake, tables: readonly TableName[]): Promise<TableName[]> {
  const states = await Promise.all(tables.map((table) => readTable(lake, table)));
  const found = states.filter(({ version }) => version >= 0n).map(({ table }) => table);
  if (found.length > 0) return found;
  throw new PricelakeError('usage', `the lake has no published run yet, so there is no ${tables.join(', ')} to load`);
}

/**
 * Plans how to update a copy of a table.
 * @param since the last run that was loaded into the copy; undefined to load everything
 * @throws PricelakeError `usage` if the lake can't determine the changes since that run
 */
export async function planLoad(lake: Lake, table: TableName, since: bigint | undefined): Promise<TableLoad> {
  // Reads the `runs` table first, because a concurrent run writes this table last. Rows of that run may be loaded too
  // early. The next load then replaces them.
  const { run } = (await readTable(lake, 'runs')).applied;
  // A full load doesn't depend on the changes, so it works even if the log doesn't reach back far enough.
  const span = since === undefined ? undefined : await readSpan(lake, table, { kind: 'run', number: since });
  const state = await readLog(lake, table);
  if (state.metaData === undefined || run === undefined) {
    throw new PricelakeError('usage', `the lake has no published run yet, so there is no ${table} to load`);
  }
  const files = [...state.files.values()].filter((file) => !isEmptyFile(file));
  // If the table didn't exist yet at the run that was loaded last, the table is loaded in full.
  const isWhole = span === undefined || span.from < 0n;
  return {
    table,
    tableId: state.metaData.id,
    since: isWhole ? undefined : since,
    run,
    columns: loadTableSchema(table).columns,
    total: (span?.files ?? files).reduce((sum, { rows }) => sum + rows, 0n),
    ...(isWhole ? { rows: { kind: 'all' }, files } : chooseRows(span)),
  };
}

function chooseRows(span: TableSpan): Pick<TableLoad, 'rows' | 'files'> {
  const { table, runIds, replaced, added, files } = span;
  if (!span.isByRuns) {
    throw new PricelakeError('usage', `a rebuild or another program has changed ${table} since the copy's run`, {
      hint: 'Load everything with --full.',
    });
  }
  if (runIds.length === 0) return { rows: { kind: 'none' }, files: [] };
  const [key, ...otherKeys] = loadTableSchema(table).key;
  // Rows of items are never deleted, and unchanged rows keep their run_id, so only rows of these runs differ.
  if (table === 'items' && key !== undefined && otherKeys.length === 0) {
    return { rows: { kind: 'keys', key, runIds }, files: added };
  }
  const lost = new Map(replaced.map(({ partitionValues }) => [JSON.stringify(partitionValues), partitionValues]));
  // A table without partitions counts as one partition, whose values are `{}`.
  if (lost.has('{}')) return { rows: { kind: 'all' }, files };
  const fresh = new Set(added);
  const wanted = files.filter((file) => fresh.has(file) || lost.has(JSON.stringify(file.partitionValues)));
  return { rows: { kind: 'runs', runIds, partitions: [...lost.values()] }, files: wanted };
}
