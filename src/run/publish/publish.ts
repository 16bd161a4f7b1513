import { settleAll } from '../../io/side-by-side.js';
import { pruneLandings } from '../../journal/landings.js';
import type { Publishable } from '../../journal/run-state.js';
import { type Attribution, describeAttributions } from '../../lake/attribution.js';
import { type CommitInfo, commitTable } from '../../lake/commit.js';
import { fillEmptyTables } from '../../lake/fill-empty-tables.js';
import { publishPointer } from '../../lake/publish.js';
import { append } from '../../lake/table-change.js';
import { listLandedEvents } from '../../source/events.js';
import { removeBackfill } from '../../source/land-histories.js';
import type { LoadedValue } from '../../sql/graph.js';
import { columnsOf, sql } from '../../sql/sql.js';
import { type CheckResult, COMMIT_STEPS, type FileChange, TABLE_NAMES, type TableName } from '../../tables/table.js';
import { removeEvents } from '../../webhook/event-files.js';
import { type StagedTable, Staging } from '../derive/stage.js';
import type { Run } from '../open/open-run.js';
import type { ProvedRun } from '../prove/prove-run.js';
import type { RunRow } from '../prove/run-record.js';

/**
 * Commits the tables in COMMIT_STEPS, those of a step side by side: a commit mostly waits for the disk.
 * Each commit is a version of its table or nothing; a crash between two is continued by the next run.
 */
export async function publishRun(
  run: Run,
  { begin: { runId, runNumber } }: Publishable,
  { next, row, rows, checks, attributions, keepCounts }: ProvedRun,
): Promise<void> {
  const { lake, io, landing, pipeline } = run;
  const info = { runId, operation: 'SYNC', at: io.now(), retentionMs: pipeline.lake.retention };
  const changes = await next.with(...(await stageLedger(run, rows, checks))).seal();
  const totalRows = BigInt(changes.length);
  let committed = 0n;
  const commit = async (table: TableName) => {
    const change = changes.find((one) => one.table === table);
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
  await fillTables(run, changes, attributions, info);
  await run.memory.append({ type: 'published', runNumber });
  await publishPointer(lake, {
    pipeline: pipeline.name,
    runId,
    runNumber,
    cursor: row.cursor_to,
    at: info.at,
    attributions,
  });
  io.log('debug', 'pointed', { runId });
  // Before the end: a run that is killed here does it again.
  await removeEvents(lake.root, listLandedEvents(landing), runId, io);
  await removeBackfill(landing, lake.root, run.memory);
  await landing.journal.append({ type: 'end', at: io.now().toISOString() });
  await pruneLandings(lake.root, pipeline.landing.keep, io);
  await keepCounts();
}

/** Gives tables without rows a file. Only tables that may have none are read: each log takes some milliseconds. */
async function fillTables(
  { db, lake, pipeline, tables }: Run,
  changes: readonly FileChange[],
  attributions: Attribution[],
  commit: CommitInfo,
): Promise<void> {
  const find = (table: TableName) => changes.find((change) => change.table === table);
  await fillEmptyTables(db, lake, {
    commit,
    metadata: describeAttributions(attributions),
    tables: TABLE_NAMES.filter((table) => (find(table) ?? { add: tables[table].files }).add.length === 0),
    partitionBy: { items: pipeline.lake.tables.items?.partitionBy },
  });
}

/** Stages the tables that describe the run itself: check results and the ledger. */
async function stageLedger(run: Run, rows: readonly RunRow[], checks: readonly CheckResult[]): Promise<StagedTable[]> {
  const { graph, landing, io } = run;
  const checked_at = io.now().toISOString();
  const checked = checks.map((check) => ({ ...check, let_through: check.waived, run_id: landing.runId, checked_at }));
  const staging = new Staging(run, {});
  const stage = (table: TableName, own: readonly Record<string, LoadedValue>[]) =>
    staging.stage(table, append(sql`SELECT ${columnsOf(table)} FROM ${graph.load(table, table, own)}`));
  return settleAll([stage('check_results', checked), stage('runs', rows)]);
}
