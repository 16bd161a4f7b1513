import { settleAll } from '../../io/side-by-side.js';
import { pruneLandings } from '../../journal/landings.js';
import { describeAttributions } from '../../lake/attribution.js';
import { commitTable } from '../../lake/commit.js';
import { publishPointer } from '../../lake/publish.js';
import { append } from '../../lake/table-change.js';
import type { LoadedValue, RelationGraph } from '../../sql/graph.js';
import { columnsOf, sql } from '../../sql/sql.js';
import { type CheckResult, COMMIT_STEPS, TABLE_NAMES, type TableName } from '../../tables/table.js';
import { settleSources } from '../open/open-run.js';
import type { FoundLake, Ledger, World } from '../open/run-parts.js';
import { type StagedTable, Staging } from '../open/stage.js';
import type { ProvedRun } from '../prove/prove-run.js';
import type { RunRow } from '../prove/run-record.js';

/**
 * Commits the tables in the order of COMMIT_STEPS. Commits the tables of a step in parallel, because a commit mostly
 * waits for the disk. Each commit creates one version of its table. Commits of a later step get a later time, because a
 * remote store replays commits in the order of their times. After a crash between two commits, the next run continues
 * with the remaining tables.
 */
export async function publishRun(
  { io, sources, upkeep }: Pick<World, 'io' | 'sources' | 'upkeep'>,
  found: FoundLake,
  ledger: Ledger,
  graph: RelationGraph,
  { settled, next, row, rows, checks, attributions, keep }: ProvedRun,
): Promise<void> {
  const { lake, pipeline, tables } = found;
  const { landing, memory } = ledger;
  const { runId, runNumber } = settled.begin;
  const info = { runId, operation: 'SYNC', retentionMs: pipeline.lake.retention };
  let at = io.now();
  const staging = new Staging({ found, graph, landing, io }, describeAttributions(attributions));
  const own = await stageLedger(staging, io.now(), rows, checks);
  const changes = await next.with(...own).seal();
  const totalRows = BigInt(changes.length);
  const waiting = new Set(changes);
  let committed = 0n;
  const commit = async (table: TableName) => {
    const change = [...waiting].find((one) => one.table === table);
    if (change === undefined) return;
    waiting.delete(change);
    // Commits the table. The commit point is inside `commitTable`.
    const version = await commitTable(lake, change, { ...info, at, since: tables[table].version });
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
  for (const together of COMMIT_STEPS) {
    await settleAll(together.map(commit));
    at = new Date(at.getTime() + 1);
  }
  const findAdded = (table: TableName) =>
    (changes.findLast((one) => one.table === table) ?? { add: tables[table].files }).add;
  const empty = TABLE_NAMES.filter((table) => findAdded(table).length === 0);
  const metadata = describeAttributions(attributions);
  const partitionBy = { items: pipeline.lake.tables.items?.partitionBy };
  for (const { complete } of upkeep)
    await complete(graph.db, lake, { empty, commit: { ...info, at }, metadata, partitionBy });
  await memory.append({ type: 'published', runNumber });
  await publishPointer(lake, {
    pipeline: pipeline.name,
    runId,
    runNumber,
    cursor: row.cursor_to,
    at,
    attributions,
  });
  io.log('debug', 'pointed', { runId });
  // Lets sources delete stored changes before the journal ends, so that the next run repeats this after a crash.
  await settleSources({ io, sources }, lake, ledger);
  await landing.journal.append({ type: 'end', at: io.now().toISOString() });
  await pruneLandings(lake.root, pipeline.landing.keep, io);
  await keep();
}

/** Writes the files of the tables that describe the run itself: `check_results` and `runs`. */
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
