import type { Io } from '../../io/io.js';
import { commitTable } from '../../lake/commit.js';
import type { Lake } from '../../lake/lake.js';
import { readTable } from '../../lake/read.js';
import { stageTable } from '../../lake/stage.js';
import { swapLake } from '../../lake/swap-lake.js';
import { quoteLiteral } from '../../sql/quote.js';
import { columnsOf } from '../../sql/sql.js';
import { type Applied, TABLE_NAMES } from '../../tables/table.js';
import type { OldTables } from './old-tables.js';
import type { RebuildPlan } from './plan-rebuild.js';
import { publishAgain, type SwappedTable, selectLedger } from './replace-tables.js';

/**
 * Replaces a damaged lake's tables, with their logs, by the rebuilt ones. A crash before the swap leaves the lake as it
 * was; after a crash in the swap, the next command that writes completes it.
 * @param openRun a run that is not replayed, because the next sync continues it
 */
export async function replaceTables(
  old: OldTables,
  rebuilt: Lake,
  plan: RebuildPlan,
  openRun: string | undefined,
  io: Io,
): Promise<SwappedTable[]> {
  const { db, lake } = old;
  const others = `run_id IS DISTINCT FROM ${openRun === undefined ? 'NULL' : quoteLiteral(openRun)}`;
  // A replayed run without work leaves no number, so lake.json also says which numbers are taken.
  const numbers = [plan.runs.at(-1)?.runNumber ?? 0n, old.inspection.pointer?.runNumber ?? 0n];
  const last = { run: numbers.reduce((most, number) => (number > most ? number : most)) };
  const ledger = `SELECT * FROM (${await selectLedger(old, rebuilt)}) WHERE ${others}`;
  await replaceRows(old, rebuilt, { table: 'runs', select: ledger, applied: last }, io);
  if ((await old.open('check_results')) === 'whole') {
    const select = `SELECT ${columnsOf('check_results').text} FROM check_results WHERE ${others}`;
    await replaceRows(old, rebuilt, { table: 'check_results', select, applied: {} }, io);
  }
  const commit = { runId: plan.runs.at(-1)?.runId ?? '', operation: 'REBUILD', at: io.now() };
  await publishAgain({ db, lake: rebuilt }, plan, commit, old.inspection.pointer);
  const swapped: SwappedTable[] = [];
  for (const table of TABLE_NAMES) {
    const { version, files } = await readTable(rebuilt, table);
    const rowsAfter = files.reduce((sum, { rows }) => sum + rows, 0n);
    if (version >= 0n) swapped.push({ table, version, rowsBefore: old.countRows(table), rowsAfter });
  }
  io.log('debug', 'rebuilt', { tables: swapped.length });
  await swapLake(lake);
  return swapped;
}

async function replaceRows(
  { db }: OldTables,
  rebuilt: Lake,
  { table, select, applied }: { table: 'runs' | 'check_results'; select: string; applied: Partial<Applied> },
  io: Io,
): Promise<void> {
  const { files } = await readTable(rebuilt, table);
  const add = await stageTable(db, rebuilt, { table, runId: 'rebuild', select });
  const change = { table, add, remove: files, applied };
  await commitTable(rebuilt, change, { runId: 'rebuild', operation: 'KEEP', at: io.now() });
}
