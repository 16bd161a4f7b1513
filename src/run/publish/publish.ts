import { settleAll } from '../../io/side-by-side.js';
import { pruneLandings } from '../../journal/landings.js';
import { type Attribution, describeAttributions } from '../../lake/attribution.js';
import { type CommitInfo, commitTable } from '../../lake/commit.js';
import { fillEmptyTables } from '../../lake/fill-empty-tables.js';
import { publishPointer } from '../../lake/publish.js';
import { append } from '../../lake/table-change.js';
import type { Database } from '../../sql/connection.js';
import type { LoadedValue, RelationGraph } from '../../sql/graph.js';
import { columnsOf, sql } from '../../sql/sql.js';
import { type CheckResult, COMMIT_STEPS, type FileChange, TABLE_NAMES, type TableName } from '../../tables/table.js';
import { type StagedTable, Staging } from '../derive/stage.js';
import { settleSources } from '../open/open-run.js';
import type { FoundLake, Ledger, World } from '../open/run-parts.js';
import type { ProvedRun } from '../prove/prove-run.js';
import type { RunRow } from '../prove/run-record.js';

/**
 * Commits the tables by COMMIT_STEPS, those of a step side by side, because a commit mostly waits for the disk. Each
 * commit is one version of its table; the next run continues after a crash between two.
 */
export async function publishRun(
  { io, sources }: Pick<World, 'io' | 'sources'>,
  found: FoundLake,
  ledger: Ledger,
  graph: RelationGraph,
  { settled, next, row, rows, checks, attributions, keepCounts }: ProvedRun,
): Promise<void> {
  const { lake, pipeline, tables } = found;
  const { landing, memory } = ledger;
  const { runId, runNumber } = settled.begin;
  const info = { runId, operation: 'SYNC', at: io.now(), retentionMs: pipeline.lake.retention };
  const staging = new Staging({ found, graph, landing, io }, describeAttributions(attributions));
  const own = await stageLedger(staging, io.now(), rows, checks);
  const changes = await next.with(...own).seal();
  const totalRows = BigInt(changes.length);
  let committed = 0n;
  const commit = async (table: TableName) => {
    const change = changes.find((one) => one.table === table);
    // The commit point of each table is inside commitTable.
    if (change === undefined) return;
    const version = await commitTable(lake, change, { ...info, since: tables[table].version });
    io.log('debug', 'committed', { table, version });
    committed += 1n;
    io.progress({
      step: 'publish',
      rows: committed,
      totalRows,
      bytes: 0,
      unit: 'tables',
      done: committed === totalRows,
    });
  };
  for (const together of COMMIT_STEPS) await settleAll(together.map(commit));
  await fillTables(found, graph.db, changes, attributions, info);
  await memory.append({ type: 'published', runNumber });
  await publishPointer(lake, {
    pipeline: pipeline.name,
    runId,
    runNumber,
    cursor: row.cursor_to,
    at: info.at,
    attributions,
  });
  io.log('debug', 'pointed', { runId });
  // This comes before the end, because a run that is killed here repeats it.
  await settleSources({ io, sources }, lake, ledger);
  await landing.journal.append({ type: 'end', at: io.now().toISOString() });
  await pruneLandings(lake.root, pipeline.landing.keep, io);
  await keepCounts();
}

/**
 * Gives tables without rows an empty file. Only tables that may have no rows are read, because reading a log takes some
 * milliseconds.
 */
async function fillTables(
  { lake, pipeline, tables }: FoundLake,
  db: Database,
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
async function stageLedger(
  staging: Staging,
  now: Date,
  rows: readonly RunRow[],
  checks: readonly CheckResult[],
): Promise<StagedTable[]> {
  const { graph, runId: run_id } = staging;
  const checked_at = now.toISOString();
  const checked = checks.map((check) => ({ ...check, let_through: check.waived, run_id, checked_at }));
  const stage = (table: TableName, own: readonly Record<string, LoadedValue>[]) =>
    staging.stage(table, append(sql`SELECT ${columnsOf(table)} FROM ${graph.load(table, table, own)}`));
  return settleAll([stage('check_results', checked), stage('runs', rows)]);
}
