import type { Merge } from '../../apply/merge.js';
import { type Check, findReadTables } from '../../check/check.js';
import type { CheckedTables } from '../../check/count-rows.js';
import { KeptCounts, type ListFiles } from '../../check/kept-counts.js';
import { loadChecks } from '../../check/load.js';
import { type RunScope, runChecks } from '../../check/run.js';
import { PricelakeError } from '../../io/errors.js';
import { type Io, reportStep } from '../../io/io.js';
import { listIdleRuns } from '../../journal/memory.js';
import type { Attribution } from '../../lake/attribution.js';
import { readTable } from '../../lake/read.js';
import { countUsage } from '../../source/account.js';
import { FEW_ROWS } from '../../sql/graph.js';
import type { Source } from '../../sql/model.js';
import { columnsOf, sql } from '../../sql/sql.js';
import type { CheckResult, TableName } from '../../tables/table.js';
import type { AppliedRun } from '../apply/apply-run.js';
import { type DerivedRun, stageServiceProducts } from '../derive/derive-run.js';
import type { NextLake } from '../derive/stage.js';
import type { LandedInput } from '../land/land-run.js';
import type { Run } from '../open/open-run.js';
import type { Tables } from '../open/open-tables.js';
import { proveFacets } from './prove-facets.js';
import { proveProducts } from './prove-products.js';
import { proveRunSample } from './prove-sample.js';
import { describeRun, type RunRow } from './run-record.js';

/** A batch that no gate holds: what will be published. */
export interface ProvedRun {
  /** The lake as it will be, but for the tables that describe the run itself. */
  next: NextLake;
  attributions: Attribution[];
  /** The run's row of the ledger. */
  row: RunRow;
  /** Rows that the ledger gets: those of runs that found nothing new since the last publication, and the run's own. */
  rows: readonly RunRow[];
  checks: CheckResult[];
  /** Notes the checks' counts, from which the next run counts on. Call it after the publication. */
  keepCounts: () => Promise<void>;
}

/**
 * Compares the lake as it would be with a sample of the service's items and its own counts and products, and checks it.
 * @throws PricelakeError `gate_failed` where a gate holds the batch
 */
export async function proveRun(
  run: Run,
  landed: LandedInput,
  applied: AppliedRun,
  derived: DerivedRun,
  { waived }: { waived: boolean },
): Promise<ProvedRun> {
  return derived.next.guard(async () => {
    const { attributions, settled } = derived;
    const compare = () => compareWithService(run, landed, applied, derived);
    const { compared, products, facets } = await reportStep(run.io, 'comparing', compare);
    const next = derived.next.with(...(await stageServiceProducts(run, products.rows, attributions)));
    const items = await run.graph.count(await next.rows('items'));
    const usage = await countUsage(run);
    const found = { ...applied.comparison, compared, products: products.found, facets, usage, items };
    const row = await describeRun(run, landed, settled.tally, applied, found);
    const rows = [...listIdleRuns(run.memory.state, run.tables.runs.applied.run), row];
    const audit = await auditRun(run, { next, merge: applied.merge, rows, waived });
    return { next, attributions, row, rows, ...audit };
  });
}

async function compareWithService(
  run: Run,
  { window, lowWatermark }: LandedInput,
  { facets, names, skew, datasetPattern }: AppliedRun,
  { next, sampled, products }: DerivedRun,
) {
  const lake = { history: await next.rows('history'), stale_items: await next.rows('stale_items') };
  const until = { cursor: window.to, lowWatermark: lowWatermark?.changedAt ?? null };
  const own = { products: await next.rows('products'), product_prices: await next.rows('product_prices') };
  return {
    compared: await proveRunSample(run, sampled, { ...lake, ...until, skew, datasetPattern }),
    products: await proveProducts(run, own, products),
    facets: await proveFacets(run, await next.rows('items'), facets, names.readable),
  };
}

/**
 * Runs the checks over the lake as it would be, this run's row of the ledger included. If a gate fails, the batch is
 * held: `gate_failed`, nothing is published, and the raw bytes stay, so that the next try costs no call. If a person has
 * waived it, that is journaled, and marked in the results.
 */
async function auditRun(
  run: Run,
  { next, merge, rows, waived }: { next: NextLake; merge: Merge; rows: readonly RunRow[]; waived: boolean },
): Promise<Pick<ProvedRun, 'checks' | 'keepCounts'>> {
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
    keepCounts: async () => {
      const states = await Promise.all(scope.kept.tables.map((table) => readTable(run.lake, table)));
      const text = scope.kept.write(listFiles(Object.fromEntries(states.map((state) => [state.table, state]))));
      if (text !== run.memory.state.counts) await run.memory.append({ type: 'counts', text });
    },
  };
}

/**
 * The tables that checks read. If checks read only the rows of a table that the run writes, its other files need not be
 * there.
 */
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
      hint: `Nothing was published. The data is in ${landing.folder}. If it is right, change checks: in ${pipeline.file} and sync again, or waive the gate with sync --publish-held. No call is repeated.`,
      checks: failed.map(({ name, violations, sample }) => ({ name, violations: String(violations), sample })),
      runId: landing.runId,
    },
  );
}
