import type { Merge } from '../../apply/merge.js';
import { type Check, findReadTables } from '../../check/check.js';
import type { CheckedTables } from '../../check/count-rows.js';
import { KeptCounts, type ListFiles } from '../../check/kept-counts.js';
import { loadChecks } from '../../check/load.js';
import { type RunScope, runChecks } from '../../check/run.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { readTable } from '../../lake/read.js';
import { FEW_ROWS } from '../../sql/graph.js';
import type { Source } from '../../sql/model.js';
import { columnsOf, sql } from '../../sql/sql.js';
import type { CheckResult, TableName } from '../../tables/table.js';
import type { NextLake } from '../derive/stage.js';
import type { Run } from '../open/open-run.js';
import type { Tables } from '../open/open-tables.js';
import type { RunRow } from './run-record.js';

/** Results of the checks. */
export interface Audit {
  checks: CheckResult[];
  /** Notes their counts, from which the next run counts on. Call it after the publication. */
  keepCounts: () => Promise<void>;
}

/** A batch before it is published. */
export interface AuditedRun {
  next: NextLake;
  merge: Merge;
  /** Rows of the ledger that the run adds: its own, and those of runs without news before it. */
  rows: readonly RunRow[];
  /** True where a person has decided to publish the batch that a gate holds. */
  waived: boolean;
}

/**
 * Runs the checks over the lake as it would be, this run's row of the ledger included. If a gate fails, the batch is
 * held: `gate_failed`, nothing is published, and the raw bytes stay, so that the next try costs no call. If a person has
 * waived it, that is journaled, and marked in the results.
 */
export async function auditRun(run: Run, { next, merge, rows, waived }: AuditedRun): Promise<Audit> {
  const { graph, io, landing } = run;
  const checks = await loadChecks(run.pipeline.checksFolder);
  const checked = { tables: await readCheckedTables(run, next, checks, rows), runId: landing.runId };
  const scope = await openScope(run, next, merge);
  const results = await runChecks(graph, checked, checks, run.pipeline.checks, scope, io);
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
  return {
    checks: results.map((result) => ({ ...result, waived: failed.includes(result) })),
    keepCounts: () => keepCounts(run, scope.kept),
  };
}

/** The tables that checks read. Of those that are read only as far as the run writes them, the other files need not be there. */
async function readCheckedTables(
  run: Run,
  next: NextLake,
  checks: readonly Check[],
  rows: readonly RunRow[],
): Promise<CheckedTables['tables']> {
  const { graph } = run;
  const read = (some: readonly Check[]) => some.flatMap(({ sql }) => findReadTables(sql));
  const whole = new Set(read(checks.filter(({ withinRun }) => withinRun !== 'run_id')));
  const tables: Partial<Record<TableName, Source>> = {};
  for (const table of new Set(read(checks))) {
    // The rows of an earlier try are in files that are committed already.
    const isWhole = whole.has(table) || run.standing[table] === 'committed';
    tables[table] = isWhole ? await next.rows(table) : next.added(table);
  }
  const before = await run.before.rows('runs');
  return { ...tables, runs: sql`FROM ${before} UNION ALL FROM ${graph.load('next_runs', 'runs', rows)}` };
}

/** Lets checks leave out rows. If many items changed, or another program changed some, checks read all rows. */
async function openScope({ memory, graph, tables, repairs }: Run, next: NextLake, merge: Merge): Promise<RunScope> {
  const { items } = tables;
  const { changes } = next;
  const isItemsChanged = changes.some(({ table }) => table === 'items');
  const changed = await graph.count(merge.merged);
  const hasFewChanges = changed <= FEW_ROWS && repairs.items === undefined && items.version >= 0n && isItemsChanged;
  const others = changes.filter(({ add, remove }) => add.length + remove.length > 0);
  // The tables that describe the run are staged later.
  const changedTables = new Set<TableName>([...others.map(({ table }) => table), 'check_results', 'runs']);
  const kept = new KeptCounts(hasFewChanges ? memory.state.counts : undefined, listFiles(tables));
  const after = sql`SELECT ${columnsOf('items')} FROM ${merge.merged}`;
  return {
    kept,
    changedTables,
    changed: hasFewChanges ? { before: merge.before, after: graph.view('items_after', after) } : undefined,
  };
}

async function keepCounts({ lake, memory }: Pick<Run, 'lake' | 'memory'>, kept: KeptCounts): Promise<void> {
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
