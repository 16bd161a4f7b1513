import { rm } from 'node:fs/promises';
import { describeAttributions, readAttributions } from '../../lake/attribution.js';
import { hasDifference } from '../../lake/column-difference.js';
import { commitTable } from '../../lake/commit.js';
import { findVersions, listLog, logPath } from '../../lake/delta-log.js';
import { fillEmptyTables } from '../../lake/fill-empty-tables.js';
import { type Pointer, readPointer } from '../../lake/pointer.js';
import { publishPointer } from '../../lake/publish.js';
import { readTable } from '../../lake/read.js';
import { countRows } from '../../lake/slices.js';
import { stageTable } from '../../lake/stage.js';
import { swapLake } from '../../lake/swap-lake.js';
import { createTableView, relateTable } from '../../lake/views.js';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.js';
import { columnsOf } from '../../sql/sql.js';
import { type Lake, tablePath } from '../../tables/layout.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { type Applied, type StagedFile, TABLE_NAMES, type TableName } from '../../tables/table.js';
import { commitKept } from './carry-forward.js';
import type { Rebuild } from './plan-rebuild.js';

export interface SwappedTable {
  table: TableName;
  version: bigint;
  rowsBefore: bigint;
  rowsAfter: bigint;
}

/**
 * Replaces the tables' files with the rebuilt files, in one commit for each table. Then writes `lake.json` and the
 * files beside it. After a crash between two commits, each table is consistent in itself, and the rebuild can be run
 * again.
 */
export async function swapTables(rebuild: Rebuild): Promise<SwappedTable[]> {
  const { old, rebuilt, plan, io } = rebuild;
  const { db, lake } = old;
  const runId = plan.runs.at(-1)?.runId ?? '';
  const stage = (table: TableName, select: string) => stageTable(db, lake, { table, runId: 'rebuild', select });
  const swapped: SwappedTable[] = [];
  for (const table of TABLE_NAMES) {
    const before = await readTable(lake, table);
    await dropCheckpoints(lake, table);
    // Keeps the recorded check results, instead of those of the replay, if the table can be read.
    const keepsRows = table === 'check_results' && (await old.open(table)) === 'whole';
    if (keepsRows && !hasDifference(before.difference)) continue;
    const after = await readTable(rebuilt, table);
    if (before.version < 0n && after.version < 0n) continue;
    const moved = after.files.map((file) => ({ ...file, stagedAt: tablePath(rebuilt, table, file.path) }));
    const add: StagedFile[] = keepsRows
      ? await stage(table, selectOld(table))
      : table === 'runs'
        ? await stage(table, await selectLedger(rebuild))
        : moved;
    const { run: _run, itemsVersion, ...others } = after.applied;
    const newItems = swapped.find((done) => done.table === 'items')?.version ?? 0n;
    const applied = { ...others, itemsVersion: itemsVersion === undefined ? undefined : newItems };
    // Commits the table. The commit point is inside `commitTable`.
    const change = { table, add, remove: before.files, applied };
    const version = await commitTable(lake, change, { runId, operation: 'REBUILD', at: io.now() });
    io.log('debug', 'rebuilt', { table, version });
    swapped.push({ table, version, rowsBefore: countRows(before.files), rowsAfter: countRows(add) });
  }
  await publishAgain(rebuild, lake, await readPointer(lake));
  return swapped;
}

/** Deletes the checkpoints that readers don't need, because only `verify` notices damage to some of them. */
async function dropCheckpoints(lake: Lake, table: TableName): Promise<void> {
  const names = await listLog(lake, table);
  const checkpoints = findVersions(names, 'checkpoint.parquet');
  // A log without its first entries starts with a checkpoint.
  if (findVersions(names, 'json')[0] !== 0n) checkpoints.shift();
  await rm(tablePath(lake, table, '_delta_log', '_last_checkpoint'), { force: true });
  for (const version of checkpoints) await rm(logPath(lake, table, version, 'checkpoint.parquet'));
}

/**
 * Replaces the tables and logs of a damaged lake with the rebuilt ones. A crash before the swap leaves the lake
 * unchanged. After a crash during the swap, the next writing command finishes the swap.
 * @param openRun a run that isn't replayed, because the next sync continues it
 */
export async function replaceTables(rebuild: Rebuild, openRun: string | undefined): Promise<SwappedTable[]> {
  const { old, rebuilt, plan, io } = rebuild;
  const others = `run_id IS DISTINCT FROM ${openRun === undefined ? 'NULL' : quoteLiteral(openRun)}`;
  // If a replayed run changed nothing, no table records its number, so lake.json may have the last used number.
  const numbers = [plan.runs.at(-1)?.runNumber ?? 0n, old.inspection.pointer?.runNumber ?? 0n];
  const last = { run: numbers.reduce((most, number) => (number > most ? number : most)) };
  const replace = async (table: 'runs' | 'check_results', rows: string, applied: Partial<Applied>) => {
    const { files: remove } = await readTable(rebuilt, table);
    await commitKept(rebuild, { table, select: `SELECT * FROM (${rows}) WHERE ${others}`, applied, remove });
  };
  await replace('runs', await selectLedger(rebuild), last);
  if ((await old.open('check_results')) === 'whole') await replace('check_results', selectOld('check_results'), {});
  await publishAgain(rebuild, rebuilt, old.inspection.pointer);
  const swapped: SwappedTable[] = [];
  for (const table of TABLE_NAMES) {
    const { version, files } = await readTable(rebuilt, table);
    if (version < 0n) continue;
    swapped.push({ table, version, rowsBefore: old.countRows(table), rowsAfter: countRows(files) });
  }
  io.log('debug', 'rebuilt', { tables: swapped.length });
  await swapLake(old.lake);
  return swapped;
}

const COUNTED_ANEW = [
  'received',
  'written',
  'rejected',
  'deduplicated',
  'items',
  'pricelake_version',
  'duckdb_version',
];

const selectOld = (table: TableName) => `SELECT ${columnsOf(table).text} FROM ${quoteIdentifier(table)}`;

/** Selects the rows of the runs table. Each run keeps its recorded cost and comparisons, but gets new row counts. */
async function selectLedger({ old, rebuilt }: Rebuild): Promise<string> {
  await createTableView(old.db, rebuilt, 'runs', 'rebuilt_runs');
  const columns = columnsOf('runs').text;
  const merged = loadTableSchema('runs').columns.map(({ name }) => {
    const column = quoteIdentifier(name);
    const value = COUNTED_ANEW.includes(name)
      ? `n.${column}`
      : `CASE WHEN o.run_id IS NULL THEN n.${column} ELSE o.${column} END`;
    return `${value} AS ${column}`;
  });
  return (await old.open('runs')) === 'whole'
    ? `SELECT ${merged.join(', ')} FROM rebuilt_runs AS n LEFT JOIN runs AS o ON o.run_id = n.run_id
       UNION ALL SELECT ${columns} FROM runs WHERE run_id NOT IN (SELECT run_id FROM rebuilt_runs)`
    : `SELECT ${columns} FROM rebuilt_runs`;
}

/** Publishes the rebuilt lake. Takes the newest run's details from lake.json, or else from the run's journal. */
async function publishAgain({ old, plan, io }: Rebuild, lake: Lake, before: Pointer | undefined): Promise<void> {
  const last = plan.runs.at(-1);
  const state = last?.state;
  const commit = { runId: last?.runId ?? '', operation: 'REBUILD', at: io.now() };
  const attributions = await readAttributions(old.db, await relateTable(old.db, lake, 'sites'));
  await fillEmptyTables(old.db, lake, { commit, metadata: describeAttributions(attributions) });
  const facts = before ?? {
    pipeline: state?.begin.pipeline ?? '',
    runId: last?.runId ?? '',
    runNumber: last?.runNumber ?? 0n,
    cursor: state?.feed.done?.cursor ?? state?.begin.cursorFrom ?? null,
    at: new Date(state?.endedAt ?? 0),
  };
  await publishPointer(lake, { ...facts, attributions });
}
