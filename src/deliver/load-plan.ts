import { PricelakeError } from '../io/errors.js';
import { isEmptyFile } from '../lake/data-file.js';
import { readLog } from '../lake/delta-log.js';
import { readTable } from '../lake/read.js';
import type { Lake } from '../tables/layout.js';
import { type Column, loadTableSchema } from '../tables/schemas.js';
import type { DataFile, TableName } from '../tables/table.js';
import { readSpan, type TableSpan } from './table-span.js';

/** Brings a copy of a table from one run to the newest. */
export interface TableLoad {
  table: TableName;
  /** The table's own id, to recognize a copy of another lake. */
  tableId: string;
  /** The run of the copy; undefined to load everything. */
  since: bigint | undefined;
  /** The run of the copy afterwards. */
  run: bigint;
  columns: Column[];
  /** Rows that the copy replaces. `files` hold them all, and others too unless it is `all`. */
  rows: LoadedRows;
  files: DataFile[];
  /** Number of rows of the copy afterwards. */
  total: bigint;
}

/** `keys`: rows of these runs, by their key. `runs`: rows of these runs, and whole partitions that lost rows. */
type LoadedRows =
  | { kind: 'all' }
  | { kind: 'none' }
  | { kind: 'keys'; key: string; runIds: string[] }
  | { kind: 'runs'; runIds: string[]; partitions: DataFile['partitionValues'][] };

/** Those of these tables that the lake has: a first run that was stopped while it published has not made all. */
export async function findTables(lake: Lake, tables: readonly TableName[]): Promise<TableName[]> {
  const states = await Promise.all(tables.map((table) => readTable(lake, table)));
  const found = states.filter(({ version }) => version >= 0n).map(({ table }) => table);
  if (found.length > 0) return found;
  throw new PricelakeError('usage', `the lake has no published run yet, so there is no ${tables.join(', ')} to load`);
}

/**
 * @param since the run of the copy, or undefined to load everything
 * @throws PricelakeError `usage` if the lake does not know what changed since that run
 */
export async function planLoad(lake: Lake, table: TableName, since: bigint | undefined): Promise<TableLoad> {
  // Read the ledger first. A run that publishes meanwhile writes it last, so rows that are loaded early are loaded
  // again.
  const { run } = (await readTable(lake, 'runs')).applied;
  // A whole load needs no span, and the log may not reach back to it.
  const span = since === undefined ? undefined : await readSpan(lake, table, { kind: 'run', number: since });
  const state = await readLog(lake, table);
  if (state.metaData === undefined || run === undefined) {
    throw new PricelakeError('usage', `the lake has no published run yet, so there is no ${table} to load`);
  }
  const files = [...state.files.values()].filter((file) => !isEmptyFile(file));
  // The copy lacks a table that did not exist then, so it is loaded whole.
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
    throw new PricelakeError('usage', `a rebuild or another program has changed ${table} since then`, {
      hint: 'Load everything with --full.',
    });
  }
  if (runIds.length === 0) return { rows: { kind: 'none' }, files: [] };
  const [key, ...more] = loadTableSchema(table).key;
  // Rows of items are never deleted, and unchanged ones keep their run_id.
  if (table === 'items' && key !== undefined && more.length === 0) {
    return { rows: { kind: 'keys', key, runIds }, files: added };
  }
  const lost = new Map(replaced.map(({ partitionValues }) => [JSON.stringify(partitionValues), partitionValues]));
  // A table without partitions counts as one partition.
  if (lost.has('{}')) return { rows: { kind: 'all' }, files };
  const fresh = new Set(added);
  const wanted = files.filter((file) => fresh.has(file) || lost.has(JSON.stringify(file.partitionValues)));
  return { rows: { kind: 'runs', runIds, partitions: [...lost.values()] }, files: wanted };
}
