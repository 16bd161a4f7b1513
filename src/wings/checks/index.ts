import { type Check, findReadTables } from '../../check/check.js';
import type { CheckedTables } from '../../check/count-rows.js';
import { loadChecks } from '../../check/load.js';
import { runChecks } from '../../check/run.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Audit, AuditedRun } from '../../run/open/wings.js';
import type { Source } from '../../sql/model.js';
import { sql } from '../../sql/sql.js';
import type { CheckResult, TableName } from '../../tables/table.js';
import type { Wing } from '../wing.js';
import { countChanges } from './count-changes.js';

/**
 * Runs the checks on the lake as this run would publish it, including the run's own row in the runs table. If a gate
 * check fails, nothing is published. The raw data is kept, so that the checks can be repeated without calls. If the
 * user waives a gate, the waiver is recorded in the journal and in the results of the checks.
 * @throws PricelakeError `gate_failed` if a gate check fails and isn't waived
 */
const audit: Audit = async (run) => {
  const { io, found, landing, graph, rows, isWaived } = run;
  const { pipeline } = found;
  const checks = await loadChecks(pipeline.checksFolder);
  const tables = await readCheckedTables(run, checks);
  const before = await found.before.rows('runs');
  const runs = sql`FROM ${before} UNION ALL FROM ${graph.load('next_runs', 'runs', rows)}`;
  const checked = { tables: { ...tables, runs }, runId: landing.runId };
  const counts = await countChanges(run);
  const results = await runChecks(graph, checked, checks, pipeline.checks, counts, io);
  io.log('debug', 'audited', { checks: results.length });
  const failed = results.filter((result) => result.severity === 'gate' && result.violations > 0n);
  const names = failed.map(({ name }) => name);
  if (isWaived && failed.length > 0) {
    await landing.journal.append({ type: 'waived', at: io.now().toISOString(), checks: names });
    io.log('warn', 'gate.waived', { checks: names });
  }
  // The journal also contains the waivers of earlier attempts of this run, which remain valid.
  const passed = new Set(landing.journal.state.waived);
  const holding = failed.filter(({ name }) => !passed.has(name));
  logResults(results, holding, checks, io);
  if (holding.length > 0) await holdBatch(landing, pipeline.file, holding);
  return {
    checks: results.map((result) => ({ ...result, waived: failed.includes(result) })),
    keep: () => counts.keep(),
  };
};

export const checks: Wing = { audit };

/**
 * Returns the tables that the checks read. If the checks of a table need only the rows that this run writes, only these
 * rows are returned, so the table's other files needn't be on this machine.
 */
async function readCheckedTables(
  { found: { standing }, next }: AuditedRun,
  checks: readonly Check[],
): Promise<CheckedTables['tables']> {
  const read = (some: readonly Check[]) => some.flatMap(({ sql }) => findReadTables(sql));
  const whole = new Set(read(checks.filter(({ withinRun }) => withinRun !== 'run_id')));
  const tables: Partial<Record<TableName, Source>> = {};
  for (const table of new Set(read(checks))) {
    // If an earlier attempt of this run has committed the table, its new rows are among the committed files.
    const isWhole = whole.has(table) || standing[table] === 'committed';
    tables[table] = isWhole ? await next.rows(table) : next.added(table);
  }
  return tables;
}

/** Logs the results of the checks. A failed check is a warning, or an error if it is a gate that holds the batch. */
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
  const gates = failed.length === 1 ? 'a gate' : `${failed.length} gates`;
  throw new PricelakeError('gate_failed', `the batch is held, because ${gates} failed: ${names}`, {
    hint: `Nothing was published. The data is in ${landing.folder}. If the data is right, change \`checks\` in ${pipelineFile} and sync again, or waive the gate with \`pricelake sync --publish-held\`. Neither calls the service.`,
    checks: failed.map(({ name, violations, sample }) => ({ name, violations: String(violations), sample })),
    runId: landing.runId,
  });
}
