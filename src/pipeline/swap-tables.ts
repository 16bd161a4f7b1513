import { quoteIdentifier } from '../duckdb/quote.js';
import type { Io } from '../io.js';
import { describeAttributions, readAttributions } from '../lake/attribution.js';
import { type CommitInfo, commitTable } from '../lake/commit.js';
import { fillEmptyTables } from '../lake/fill-empty-tables.js';
import type { Lake } from '../lake/lake.js';
import { tablePath } from '../lake/layout.js';
import { publishPointer, readPointer } from '../lake/publish.js';
import { readTable } from '../lake/read.js';
import { stageTable } from '../lake/stage.js';
import { createTableView } from '../lake/views.js';
import { type StagedFile, TABLE_NAMES, type TableName, TXN_ITEMS, TXN_RUN } from '../model.js';
import { selectColumns } from '../normalize/batch.js';
import { loadTableSchema } from '../schemas.js';
import { isReadable } from './keep-rows.js';
import type { LockedLake } from './locked-lake.js';
import type { RebuildPlan } from './plan-rebuild.js';

/** A table whose files were replaced. */
export interface SwappedTable {
  table: TableName;
  version: bigint;
  rowsBefore: bigint;
  rowsAfter: bigint;
}

/**
 * Puts the rebuilt files in the place of the old ones, a commit a table in the order of TABLE_NAMES; then `lake.json`
 * and its kin. A crash between two commits leaves whole tables, and a rebuild or a sync puts the rest right.
 */
export async function swapTables(
  locked: LockedLake,
  rebuilt: Lake,
  plan: RebuildPlan,
  io: Io,
): Promise<SwappedTable[]> {
  const { lake } = locked;
  const last = plan.runs.at(-1);
  const runId = last?.runId ?? '';
  const swapped: SwappedTable[] = [];
  for (const table of TABLE_NAMES) {
    // What the checks of a run found then is no more than that: it stays, if it can be read.
    if (table === 'check_results' && (await isReadable(locked, table))) continue;
    const before = await readTable(lake, table);
    const after = await readTable(rebuilt, table);
    if (before.version < 0n && after.version < 0n) continue;
    const moved = after.files.map((file) => ({ ...file, stagedAt: tablePath(rebuilt, table, file.path) }));
    const add: StagedFile[] = table === 'runs' ? await stageLedger(locked, rebuilt) : moved;
    const { [TXN_RUN]: _run, ...txn } = after.txn;
    if (TXN_ITEMS in txn) txn[TXN_ITEMS] = swapped.find((done) => done.table === 'items')?.version ?? 0n;
    // The commit point of each table is inside commitTable.
    const change = { table, add, remove: before.files, txn };
    const version = await commitTable(lake, change, { runId, operation: 'REBUILD', at: io.now() });
    io.log('debug', 'rebuilt', { table, version });
    swapped.push({ table, version, rowsBefore: countRows(before.files), rowsAfter: countRows(add) });
  }
  await publishAgain(locked, plan, { runId, operation: 'REBUILD', at: io.now() });
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

/** What a run took and found by comparing stays as it was written down; what became of its rows is counted anew. */
async function stageLedger(locked: LockedLake, rebuilt: Lake): Promise<StagedFile[]> {
  const { db, lake } = locked;
  await createTableView(db, rebuilt, 'runs', 'rebuilt_runs');
  const columns = selectColumns('runs');
  const merged = loadTableSchema('runs').columns.map(({ name }) => {
    const column = quoteIdentifier(name);
    const value = COUNTED_ANEW.includes(name)
      ? `n.${column}`
      : `CASE WHEN o.run_id IS NULL THEN n.${column} ELSE o.${column} END`;
    return `${value} AS ${column}`;
  });
  const select = (await isReadable(locked, 'runs'))
    ? `SELECT ${merged.join(', ')} FROM rebuilt_runs AS n LEFT JOIN runs AS o ON o.run_id = n.run_id
       UNION ALL SELECT ${columns} FROM runs WHERE run_id NOT IN (SELECT run_id FROM rebuilt_runs)`
    : `SELECT ${columns} FROM rebuilt_runs`;
  return stageTable(db, lake, { table: 'runs', runId: 'rebuild', select });
}

async function publishAgain({ db, lake }: LockedLake, { runs }: RebuildPlan, commit: CommitInfo): Promise<void> {
  await createTableView(db, lake, 'sites', 'sites');
  const attributions = await readAttributions(db, 'sites');
  await fillEmptyTables(db, lake, { commit, metadata: describeAttributions(attributions) });
  const last = runs.at(-1);
  const begin = last?.journal.last('begin');
  const facts = (await readPointer(lake)) ?? {
    pipeline: begin?.pipeline ?? '',
    runId: last?.runId ?? '',
    runNumber: last?.runNumber ?? 0n,
    cursor: last?.journal.last('feed.done')?.cursor ?? begin?.cursorFrom ?? null,
    at: new Date(last?.journal.last('end')?.at ?? 0),
  };
  await publishPointer(lake, { ...facts, attributions });
}

function countRows(files: readonly { rows: bigint }[]): bigint {
  return files.reduce((sum, file) => sum + file.rows, 0n);
}
