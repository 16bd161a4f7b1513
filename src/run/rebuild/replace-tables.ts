import type { Io } from '../../io/io.js';
import { describeAttributions, readAttributions } from '../../lake/attribution.js';
import { hasDifference } from '../../lake/column-difference.js';
import { type CommitInfo, commitTable } from '../../lake/commit.js';
import { fillEmptyTables } from '../../lake/fill-empty-tables.js';
import type { Lake } from '../../lake/lake.js';
import { type Pointer, readPointer } from '../../lake/pointer.js';
import { publishPointer } from '../../lake/publish.js';
import { readTable } from '../../lake/read.js';
import { stageTable } from '../../lake/stage.js';
import { createTableView, relateTable } from '../../lake/views.js';
import type { Database } from '../../sql/connection.js';
import { quoteIdentifier } from '../../sql/quote.js';
import { columnsOf } from '../../sql/sql.js';
import { tablePath } from '../../tables/layout.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { type StagedFile, TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { OldTables } from './old-tables.js';
import type { RebuildPlan } from './plan-rebuild.js';

/** A table whose files were replaced. */
export interface SwappedTable {
  table: TableName;
  version: bigint;
  rowsBefore: bigint;
  rowsAfter: bigint;
}

/**
 * Replaces files by the rebuilt ones with one commit for each table, then writes `lake.json` and its companions. A
 * crash between two commits leaves whole tables; a rebuild or a sync completes the rest.
 */
export async function swapTables(old: OldTables, rebuilt: Lake, plan: RebuildPlan, io: Io): Promise<SwappedTable[]> {
  const { db, lake } = old;
  const last = plan.runs.at(-1);
  const runId = last?.runId ?? '';
  const swapped: SwappedTable[] = [];
  for (const table of TABLE_NAMES) {
    const before = await readTable(lake, table);
    // Findings of the checks of a run stay as they were, if they can be read.
    const keepsRows = table === 'check_results' && (await old.open(table)) === 'whole';
    if (keepsRows && !hasDifference(before.difference)) continue;
    const after = await readTable(rebuilt, table);
    if (before.version < 0n && after.version < 0n) continue;
    const moved = after.files.map((file) => ({ ...file, stagedAt: tablePath(rebuilt, table, file.path) }));
    const add: StagedFile[] = keepsRows
      ? await stageKept(old, table)
      : table === 'runs'
        ? await stageLedger(old, rebuilt)
        : moved;
    const { run: _run, itemsVersion, ...others } = after.applied;
    const newItems = swapped.find((done) => done.table === 'items')?.version ?? 0n;
    const applied = { ...others, itemsVersion: itemsVersion === undefined ? undefined : newItems };
    // The commit point of each table is inside commitTable.
    const change = { table, add, remove: before.files, applied };
    const version = await commitTable(lake, change, { runId, operation: 'REBUILD', at: io.now() });
    io.log('debug', 'rebuilt', { table, version });
    swapped.push({ table, version, rowsBefore: countRows(before.files), rowsAfter: countRows(add) });
  }
  const commit = { runId, operation: 'REBUILD', at: io.now() };
  await publishAgain({ db, lake }, plan, commit, await readPointer(lake));
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

function stageKept({ db, lake }: OldTables, table: TableName): Promise<StagedFile[]> {
  const select = `SELECT ${columnsOf(table).text} FROM ${quoteIdentifier(table)}`;
  return stageTable(db, lake, { table, runId: 'rebuild', select });
}

async function stageLedger(old: OldTables, rebuilt: Lake): Promise<StagedFile[]> {
  return stageTable(old.db, old.lake, { table: 'runs', runId: 'rebuild', select: await selectLedger(old, rebuilt) });
}

/** Keeps the recorded cost and comparisons of runs, and counts their rows again. */
export async function selectLedger(old: OldTables, rebuilt: Lake): Promise<string> {
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

/** Publishes with the facts of the newest run from lake.json, or from its journal. */
export async function publishAgain(
  { db, lake }: { db: Database; lake: Lake },
  { runs }: RebuildPlan,
  commit: CommitInfo,
  before: Pointer | undefined,
): Promise<void> {
  const attributions = await readAttributions(db, await relateTable(db, lake, 'sites'));
  await fillEmptyTables(db, lake, { commit, metadata: describeAttributions(attributions) });
  const last = runs.at(-1);
  const state = last?.state;
  const facts = before ?? {
    pipeline: state?.begin.pipeline ?? '',
    runId: last?.runId ?? '',
    runNumber: last?.runNumber ?? 0n,
    cursor: state?.feed.done?.cursor ?? state?.begin.cursorFrom ?? null,
    at: new Date(state?.endedAt ?? 0),
  };
  await publishPointer(lake, { ...facts, attributions });
}

function countRows(files: readonly { rows: bigint }[]): bigint {
  return files.reduce((sum, file) => sum + file.rows, 0n);
}
