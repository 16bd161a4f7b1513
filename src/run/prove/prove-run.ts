import { type Check, findReadTables } from '../../check/check.js';
import type { CheckedTables } from '../../check/count-rows.js';
import { KeptCounts, type ListFiles } from '../../check/kept-counts.js';
import { loadChecks } from '../../check/load.js';
import { type RunScope, runChecks } from '../../check/run.js';
import { PricelakeError } from '../../io/errors.js';
import { type Io, reportStep } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import { listIdleRuns } from '../../journal/memory.js';
import type { Publishable } from '../../journal/run-state.js';
import { type Attribution, describeAttributions } from '../../lake/attribution.js';
import { readTable } from '../../lake/read.js';
import { replaceAll } from '../../lake/table-change.js';
import { FEW_ROWS, type RelationGraph } from '../../sql/graph.js';
import type { Source } from '../../sql/model.js';
import { columnsOf, sql } from '../../sql/sql.js';
import type { CheckResult, TableName } from '../../tables/table.js';
import type { Merge } from '../apply/merge.js';
import { type DerivedRun, describeNext } from '../derive/derive-run.js';
import { type NextLake, type StagedTable, Staging } from '../derive/stage.js';
import { countUsage } from '../open/account.js';
import type { Tables } from '../open/open-tables.js';
import type { Engine, FoundLake, Ledger, World } from '../open/run-parts.js';
import type { Findings, NextVersion, Testimony, Watch } from '../open/wings.js';
import { describeRun, type RunRow } from './run-record.js';

export interface ProvedRun extends Audit {
  settled: Publishable;
  /** The lake after the run, except the tables that describe the run itself. */
  next: NextLake;
  attributions: Attribution[];
  row: RunRow;
  /** The rows that the ledger gets: those of idle runs since the last publication, and the run's own. */
  rows: readonly RunRow[];
}

interface Audit {
  checks: CheckResult[];
  /** Keeps the checks' counts, which the next run continues. Call it after the publication. */
  keepCounts: () => Promise<void>;
}

/**
 * Compares the lake as this run would publish it with a sample of the service's items and with its counts and products,
 * and checks it.
 * @param isWaived true if a person lets the batch pass whatever the gates report
 * @throws PricelakeError `gate_failed` if a gate holds the batch
 */
export async function proveRun(
  world: World,
  found: FoundLake,
  ledger: Ledger,
  engine: Engine,
  { derived, isWaived }: { derived: DerivedRun; isWaived: boolean },
): Promise<ProvedRun> {
  const { applied, settled, attributions } = derived;
  const { landing, memory } = ledger;
  const { graph } = engine;
  return derived.next.guard(async () => {
    const hear = () => hearWitnesses(world.watches, describeNext(applied, derived.next));
    const testimonies = await reportStep(world.io, { step: 'prove', part: 'compare' }, hear);
    const staging = new Staging({ ...world, found, graph, landing }, describeAttributions(attributions));
    const next = derived.next.with(...(await stageTestimonies(staging, testimonies)));
    const items = await graph.count(await next.rows('items'));
    const usage = await countUsage({ ...world, landing });
    const witnessed = Object.assign({}, ...testimonies.map((one) => one.findings)) as Findings;
    const findings = { ...applied.comparison, witnessed, usage, items };
    const outcome = { tally: settled.tally, applied, findings };
    const row = await describeRun(world, found, landing, applied.landed, outcome);
    const rows = [...listIdleRuns(memory.state, found.tables.runs.applied.run), row];
    const audit = await auditRun(world.io, found, ledger, graph, { next, merge: applied.merge, rows, isWaived });
    return { settled, next, attributions, row, rows, ...audit };
  });
}

async function hearWitnesses(watches: readonly Watch[], next: NextVersion): Promise<Testimony[]> {
  const testimonies: Testimony[] = [];
  for (const { judge } of watches) if (judge !== undefined) testimonies.push(await judge(next));
  return testimonies;
}

function stageTestimonies(staging: Staging, testimonies: readonly Testimony[]): Promise<StagedTable[]> {
  const { tables } = staging.found;
  return Promise.all(
    testimonies.flatMap(({ table }) => {
      if (table === undefined) return [];
      const { name, rows } = table;
      return staging.stage(name, replaceAll(tables[name], sql`SELECT ${columnsOf(name)} FROM ${rows}`));
    }),
  );
}

interface Audited {
  next: NextLake;
  merge: Merge;
  rows: readonly RunRow[];
  isWaived: boolean;
}

/**
 * Runs the checks over the lake as this run would publish it, including its row of the ledger. If a gate fails, the
 * batch is held: `gate_failed`, nothing is published, and the raw bytes stay, so that the next try needs no calls. If a
 * person has waived the gate, that is journaled and marked in the results.
 */
async function auditRun(
  io: Io,
  found: FoundLake,
  { landing, memory }: Ledger,
  graph: RelationGraph,
  { next, merge, rows, isWaived }: Audited,
): Promise<Audit> {
  const { pipeline, lake } = found;
  const checks = await loadChecks(pipeline.checksFolder);
  const tables = await readCheckedTables(found, next, checks);
  const before = await found.before.rows('runs');
  const runs = sql`FROM ${before} UNION ALL FROM ${graph.load('next_runs', 'runs', rows)}`;
  const checked = { tables: { ...tables, runs }, runId: landing.runId };
  const scope = await openScope(found, graph, memory.state.counts, next, merge);
  const results = await runChecks(graph, checked, checks, pipeline.checks, scope, io);
  io.log('debug', 'audited', { checks: results.length });
  const failed = results.filter((result) => result.severity === 'gate' && result.violations > 0n);
  const names = failed.map(({ name }) => name);
  if (isWaived && failed.length > 0) {
    await landing.journal.append({ type: 'waived', at: io.now().toISOString(), checks: names });
    io.log('warn', 'gate.waived', { checks: names });
  }
  // The journal remembers a waiver, so that a later try continues after the decision.
  const passed = new Set(landing.journal.state.waived);
  const holding = failed.filter(({ name }) => !passed.has(name));
  logResults(results, holding, checks, io);
  if (holding.length > 0) await holdBatch(landing, pipeline.file, holding);
  return {
    checks: results.map((result) => ({ ...result, waived: failed.includes(result) })),
    keepCounts: async () => {
      const states = await Promise.all(scope.kept.tables.map((table) => readTable(lake, table)));
      const text = scope.kept.write(listFiles(Object.fromEntries(states.map((state) => [state.table, state]))));
      if (text !== memory.state.counts) await memory.append({ type: 'counts', text });
    },
  };
}

/**
 * The tables that checks read. If checks read only the rows that the run writes, the table's other files are not
 * needed.
 */
async function readCheckedTables(
  { standing }: FoundLake,
  next: NextLake,
  checks: readonly Check[],
): Promise<CheckedTables['tables']> {
  const read = (some: readonly Check[]) => some.flatMap(({ sql }) => findReadTables(sql));
  const whole = new Set(read(checks.filter(({ withinRun }) => withinRun !== 'run_id')));
  const tables: Partial<Record<TableName, Source>> = {};
  for (const table of new Set(read(checks))) {
    // The rows of an earlier try are already in committed files.
    const isWhole = whole.has(table) || standing[table] === 'committed';
    tables[table] = isWhole ? await next.rows(table) : next.added(table);
  }
  return tables;
}

/** Lets checks skip unchanged rows. If many items changed, or there are foreign commits, checks read all rows. */
async function openScope(
  { tables, repairs }: FoundLake,
  graph: RelationGraph,
  counts: string | undefined,
  next: NextLake,
  merge: Merge,
): Promise<RunScope> {
  const { items } = tables;
  const { changes } = next;
  const isItemsChanged = changes.some(({ table }) => table === 'items');
  const changed = await graph.count(merge.merged);
  const hasFewChanges = changed <= FEW_ROWS && repairs.items === undefined && items.version >= 0n && isItemsChanged;
  const others = changes.filter(({ add, remove }) => add.length + remove.length > 0);
  // The tables that describe the run are staged later.
  const changedTables = new Set<TableName>([...others.map(({ table }) => table), 'check_results', 'runs']);
  const kept = new KeptCounts(hasFewChanges ? counts : undefined, listFiles(tables));
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

/** Logs the results. Only a gate that holds the batch is an error; other findings are for a person to look at. */
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

async function holdBatch(landing: Landing, pipelineFile: string, failed: CheckResult[]): Promise<never> {
  await landing.journal.append({ type: 'held', checks: failed.map((result) => result.name) });
  const names = failed.map((result) => `${result.name} (rows: ${result.violations})`).join(', ');
  throw new PricelakeError(
    'gate_failed',
    `the batch is held: ${failed.length === 1 ? 'a gate' : `${failed.length} gates`} failed: ${names}`,
    {
      hint: `Nothing was published. The data is in ${landing.folder}. If it is right, change checks: in ${pipelineFile} and sync again, or waive the gate with \`pricelake sync --publish-held\`. Neither repeats a call.`,
      checks: failed.map(({ name, violations, sample }) => ({ name, violations: String(violations), sample })),
      runId: landing.runId,
    },
  );
}
