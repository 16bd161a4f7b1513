import { removeBackfill } from '../backfill/land-histories.js';
import { listLandedEvents } from '../extract/events.js';
import { settleAll } from '../io/settle-all.js';
import { pruneLandings } from '../journal/landings.js';
import type { Publishable } from '../journal/run-state.js';
import { describeAttributions } from '../lake/attribution.js';
import { type CommitInfo, commitTable } from '../lake/commit.js';
import { fillEmptyTables } from '../lake/fill-empty-tables.js';
import { publishPointer } from '../lake/publish.js';
import { stageTable } from '../lake/stage.js';
import { selectColumns } from '../merge/batch.js';
import { loadRows, type RunRow } from '../run/ledger.js';
import type { Run } from '../run/open-run.js';
import { type CheckResult, COMMIT_STEPS, TABLE_NAMES, type TableName } from '../tables/table.js';
import { removeEvents } from '../webhook/event-files.js';
import type { Staged } from './stage.js';

/**
 * Commits the tables in COMMIT_STEPS, those of a step side by side: a commit mostly waits for the disk.
 * Each commit is a version of its table or nothing; a crash between two is continued by the next run.
 */
export async function publishRun(
  run: Run,
  { begin: { runId, runNumber } }: Publishable,
  staged: Staged,
  rows: RunRow[],
  checks: CheckResult[],
): Promise<void> {
  const { lake, io, landing, pipeline } = run;
  const info = { runId, operation: 'SYNC', at: io.now(), retentionMs: pipeline.lake.retention };
  await stageLedger(run, staged, checks);
  const totalRows = BigInt(Object.keys(staged.candidate).length);
  let committed = 0n;
  const commit = async (table: TableName) => {
    const change = staged.candidate[table];
    // The commit point of each table is inside commitTable.
    if (change === undefined) return;
    const version = await commitTable(lake, change, { ...info, since: run.tables[table].version });
    io.log('debug', 'committed', { table, version });
    committed += 1n;
    io.progress({
      step: 'commit',
      rows: committed,
      totalRows,
      bytes: 0,
      unit: 'tables',
      done: committed === totalRows,
    });
  };
  for (const tables of COMMIT_STEPS) await settleAll(tables.map(commit));
  await fillTables(run, staged, info);
  await run.memory.append({ type: 'published', runNumber });
  await publishPointer(lake, {
    pipeline: pipeline.name,
    runId,
    runNumber,
    cursor: rows.at(-1)?.cursor_to ?? null,
    at: info.at,
    attributions: staged.attributions,
  });
  io.log('debug', 'pointed', { runId });
  // Before the end: a run that is killed here does it again.
  await removeEvents(lake.root, listLandedEvents(landing), runId, io);
  await removeBackfill(landing, lake.root, run.memory);
  await landing.journal.append({ type: 'end', at: io.now().toISOString() });
  await pruneLandings(lake.root, pipeline.landing.keep, io);
}

/** Of the tables that may have no rows; each log takes some milliseconds to read. */
async function fillTables({ db, lake, pipeline, tables }: Run, staged: Staged, commit: CommitInfo): Promise<void> {
  await fillEmptyTables(db, lake, {
    commit,
    metadata: describeAttributions(staged.attributions),
    tables: TABLE_NAMES.filter((table) => (staged.candidate[table] ?? { add: tables[table].files }).add.length === 0),
    partitionBy: { items: pipeline.lake.tables.items?.partitionBy },
  });
}

/** Stages the tables that describe the run itself: check results and the ledger (table `next_runs`, which the audit leaves). */
async function stageLedger(run: Run, staged: Staged, checks: CheckResult[]): Promise<void> {
  const { db, lake, landing, io } = run;
  const { runId, runNumber } = landing;
  const checked = checks.map((check) => ({
    ...check,
    let_through: check.waived,
    run_id: runId,
    checked_at: io.now().toISOString(),
  }));
  await loadRows(db, 'next_check_results', 'check_results', checked);
  const stage = async (table: TableName) => {
    if (run.standing[table] === 'committed') return;
    const select = `SELECT ${selectColumns(table)} FROM next_${table}`;
    const add = await stageTable(db, lake, { table, runId, select });
    staged.candidate[table] = { table, add, remove: [], applied: { run: runNumber } };
  };
  await settleAll([stage('check_results'), stage('runs')]);
}
