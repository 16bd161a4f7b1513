import path from 'node:path';
import type { Check } from '../check/check.js';
import { KeptCounts, type ListFiles } from '../check/kept-counts.js';
import { loadChecks } from '../check/load.js';
import { findReadTables } from '../check/read-tables.js';
import { type RunScope, runChecks } from '../check/run.js';
import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import { readTable } from '../lake/read.js';
import { createTableViews, FEW_ROWS } from '../lake/views.js';
import { selectColumns } from '../merge/batch.js';
import { loadRows, type RunRow } from '../run/ledger.js';
import type { Run } from '../run/open-run.js';
import type { Tables } from '../run/open-tables.js';
import { NEWS_TABLES } from '../run/read-tables.js';
import type { Candidate, CheckResult, TableName } from '../tables/table.js';
import { tableRelation, toRelationFile } from '../tables/table-relation.js';

/** What the checks found, and their counts for the next run. */
export interface Audit {
  checks: CheckResult[];
  kept: KeptCounts;
}

/**
 * Runs the checks over the lake as it would be, this run's row of the ledger included. If a gate fails, the batch is
 * held: `gate_failed`, nothing is published, and the raw bytes stay, so that the next try costs no call. With
 * `waived` a person has decided to publish it all the same: that is journaled, and marked in the results.
 */
export async function auditRun(
  run: Run,
  side: Database,
  candidate: Candidate,
  rows: readonly RunRow[],
  { waived }: { waived: boolean },
): Promise<Audit> {
  const { db, io, landing } = run;
  const checks = await loadChecks(run.pipeline.checksFolder);
  await viewTables(run, candidate, checks);
  await loadRows(db, 'next_runs', 'runs', rows);
  const { runs } = run.tables;
  const files = runs.files.map((file) => toRelationFile(file, path.join(run.lake.root, 'runs', file.path)));
  const before = db.keptRows('runs') ?? `SELECT * FROM ${tableRelation('runs', files, runs)}`;
  await db.define('view', 'runs', `${before} UNION ALL SELECT * FROM next_runs`);
  const scope = { side, ...(await openScope(run, candidate)) };
  const results = await runChecks(db, checks, run.pipeline.checks, scope, io);
  io.log('debug', 'audited', { checks: results.length });
  const failed = results.filter((result) => result.severity === 'gate' && result.violations > 0n);
  const names = failed.map(({ name }) => name);
  if (waived && failed.length > 0) {
    await landing.journal.append({ type: 'waived', at: io.now().toISOString(), checks: names });
    io.log('warn', 'gate.waived', { checks: names });
  }
  // A try that was interrupted after the decision is gone on with: the journal remembers it.
  const passed = new Set(landing.journal.state.waived);
  const holding = failed.filter(({ name }) => !passed.has(name));
  logResults(results, holding, checks, io);
  if (holding.length > 0) await holdBatch(run, holding);
  return { checks: results.map((result) => ({ ...result, waived: failed.includes(result) })), kept: scope.kept };
}

/** Tables that checks read of what the run writes alone are seen so: their other files need not be there. */
async function viewTables(run: Run, candidate: Candidate, checks: readonly Check[]): Promise<void> {
  const { db, lake } = run;
  const read = (some: readonly Check[]) => some.flatMap(({ sql }) => findReadTables(sql));
  const whole = new Set([...NEWS_TABLES, ...read(checks.filter(({ withinRun }) => withinRun !== 'run_id'))]);
  const others = new Set(read(checks).filter((table) => !whole.has(table)));
  // What an earlier try has committed is among its rows.
  const tables = [...whole, ...[...others].filter((table) => run.standing[table] === 'committed')];
  await createTableViews(db, lake, candidate, { readOnce: FEW_ROWS, tables });
  for (const table of others) {
    if (tables.includes(table)) continue;
    const files = candidate[table]?.add.map(({ stagedAt }) => stagedAt) ?? [];
    await db.define('view', table, `SELECT * FROM ${tableRelation(table, files)}`);
  }
}

/** What checks may leave out. Where many items changed, or another program changed them, all rows are looked at. */
async function openScope({ db, memory, tables, repairs }: Run, candidate: Candidate): Promise<Omit<RunScope, 'side'>> {
  const { items } = tables;
  const changed = await db.row('SELECT count(*) AS n FROM merged_items');
  const hasFewChanges =
    (changed?.n as bigint) <= FEW_ROWS &&
    repairs.items === undefined &&
    items.version >= 0n &&
    candidate.items !== undefined;
  const changes = Object.values(candidate).filter(({ add, remove }) => add.length + remove.length > 0);
  // What describes the run itself is not staged yet.
  const changedTables = new Set<TableName>([...changes.map(({ table }) => table), 'check_results', 'runs']);
  if (!hasFewChanges) return { kept: new KeptCounts(undefined, listFiles(tables)), hasFewChanges, changedTables };
  await db.define('view', 'items_after', `SELECT ${selectColumns('items')} FROM merged_items`);
  return { kept: new KeptCounts(memory.state.counts, listFiles(tables)), hasFewChanges, changedTables };
}

/** After the run has published: the next one counts on from here. */
export async function keepCounts({ lake, memory }: Pick<Run, 'lake' | 'memory'>, { kept }: Audit): Promise<void> {
  const states = await Promise.all(kept.tables.map((table) => readTable(lake, table)));
  const text = kept.write(listFiles(Object.fromEntries(states.map((state) => [state.table, state]))));
  if (text !== memory.state.counts) await memory.append({ type: 'counts', text });
}

const listFiles =
  (tables: Partial<Tables>): ListFiles =>
  (table) =>
    tables[table]?.files.map(({ path }) => path);

/** The level follows what the run does: only a gate that holds the batch is an error; the others are for a person to look at. */
function logResults(results: CheckResult[], holding: CheckResult[], checks: Check[], { log }: Io): void {
  const next = new Map(checks.map((check) => [check.name, check.next]));
  for (const result of results) {
    const { name, severity, violations, seconds } = result;
    if (violations === 0n) log('debug', 'check', { name, severity, violations, seconds });
    else {
      const level = holding.includes(result) ? 'error' : 'warn';
      log(level, 'check', { name, severity, violations, seconds, next: next.get(name) });
    }
  }
}

async function holdBatch({ landing, pipeline }: Run, failed: CheckResult[]): Promise<never> {
  await landing.journal.append({ type: 'held', checks: failed.map((result) => result.name) });
  const names = failed.map((result) => `${result.name} (rows: ${result.violations})`).join(', ');
  throw new PricelakeError(
    'gate_failed',
    `the batch is held: ${failed.length === 1 ? 'a gate' : `${failed.length} gates`} failed: ${names}`,
    {
      hint: `Nothing was published. Look at ${landing.folder}. If the data are right, change checks: in ${pipeline.file} and sync again, or waive the gate with sync --publish-held. No call is made twice.`,
      checks: failed.map(({ name, violations, sample }) => ({ name, violations: String(violations), sample })),
      runId: landing.runId,
    },
  );
}
