import { PricelakeError } from '../io/errors.js';
import { isEmptyFile } from '../lake/data-file.js';
import { readLog } from '../lake/delta-log.js';
import { readTable } from '../lake/read.js';
import type { Lake } from '../tables/layout.js';
import { type Column, loadTableSchema } from '../tables/schemas.js';
import type { DataFile, TableName } from '../tables/table.js';
import { readSpan, type TableSpan } from './table-span.js';

/** The steps that bring a copy of a table from one run to the newest. */
export interface TableLoad {
  table: TableName;
  /** The table's id, by which a copy of another lake is recognized. */
  tableId: string;
  /** The run that the copy is at; undefined to load everything. */
  since: bigint | undefined;
  /** The run that the copy is at afterwards. */
  run: bigint;
  columns: Column[];
  /** The rows that the copy replaces. `files` contain them all, and also other rows unless it is `all`. */
  rows: LoadedRows;
  files: DataFile[];
  /** The number of rows in the copy afterwards. */
  total: bigint;
}

/**
 * `keys`: the rows that these runs wrote, replaced by key. `runs`: the rows that these runs wrote, and whole partitions
 * that lost rows.
 */
type LoadedRows =
  | { kind: 'all' }
  | { kind: 'none' }
  | { kind: 'keys'; key: string; runIds: string[] }
  | { kind: 'runs'; runIds: string[]; partitions: DataFile['partitionValues'][] };

/**
 * Returns those of these tables that the lake has. A first run that was stopped while it published has not created all.
 */
export async function findTables(lake: Lake, tables: readonly TableName[]): Promise<TableName[]> {
  const states = await Promise.all(tables.map((table) => readTable(lake, table)));
  const found = states.filter(({ version }) => version >= 0n).map(({ table }) => table);
  if (found.length > 0) return found;
  throw new PricelakeError('usage', `the lake has no published run yet, so there is no ${tables.join(', ')} to load`);
}

/**
 * @param since the run that the copy is at, or undefined to load everything
 * @throws PricelakeError `usage` if the lake does not know what changed since that run
 */
export async function planLoad(lake: Lake, table: TableName, since: bigint | undefined): Promise<TableLoad> {
  // The ledger is read first. A run that publishes meanwhile writes it last, so rows that are loaded too early are
  // loaded again later.
  const { run } = (await readTable(lake, 'runs')).applied;
  // A full load needs no span, and the log may not reach back far enough.
  const span = since === undefined ? undefined : await readSpan(lake, table, { kind: 'run', number: since });
  const state = await readLog(lake, table);
  if (state.metaData === undefined || run === undefined) {
    throw new PricelakeError('usage', `the lake has no published run yet, so there is no ${table} to load`);
  }
  const files = [...state.files.values()].filter((file) => !isEmptyFile(file));
  // The copy lacks the table, which did not exist at its run, so it is loaded whole.
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
  // Rows of items are never deleted, and unchanged rows keep their run_id.
  if (table === 'items' && key !== undefined && otherKeys.length === 0) {
    return { rows: { kind: 'keys', key, runIds }, files: added };
  }
  const lost = new Map(replaced.map(({ partitionValues }) => [JSON.stringify(partitionValues), partitionValues]));
  // A table without partitions counts as one partition.
  if (lost.has('{}')) return { rows: { kind: 'all' }, files };
  const fresh = new Set(added);
  const wanted = files.filter((file) => fresh.has(file) || lost.has(JSON.stringify(file.partitionValues)));
  return { rows: { kind: 'runs', runIds, partitions: [...lost.values()] }, files: wanted };
}
