import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import { type Io, realIo } from '../io/io.js';
import type { CheckResult, Severity } from '../tables/table.js';
import type { Check, CheckSettings } from './check.js';
import { countRows, type Violations } from './count-rows.js';
import type { KeptCounts } from './kept-counts.js';
import { planChecks } from './settings.js';
import { countWithinRun } from './within-run.js';

export type { CheckSettings } from './check.js';

/** A run whose next state is checked. */
export interface RunScope {
  /** What checks found in the run before. */
  kept: KeptCounts;
  /** True where tables `items_before` and `items_after` have the items that the run changed. */
  hasFewChanges: boolean;
  /** Tables that the run gives other rows. */
  changedTables: ReadonlySet<string>;
}

/**
 * Runs checks over the views named as the tables, in their order: exact counts and the first rows as a sample.
 * With the DuckDB variable `run_id` set, checks of `history` look at what that run wrote.
 * A check that does not run is a failed one, unless it is a gate. Of a `run`, only what it changed is looked at where that will do.
 * @throws PricelakeError `config` for settings that fit no check, and when a gate's SQL does not run.
 */
export async function runChecks(
  db: Database,
  checks: readonly Check[],
  settings: CheckSettings,
  run?: RunScope,
  { progress }: Pick<Io, 'progress'> = realIo,
): Promise<CheckResult[]> {
  const all = planChecks(checks, settings);
  const known = run?.hasFewChanges ? await countWithinRun(db, all) : new Map<string, Violations>();
  for (const [name, counted] of (await run?.kept.countOn(db, all, run.changedTables)) ?? []) known.set(name, counted);
  const results: CheckResult[] = [];
  const report = (done: boolean) =>
    progress({
      step: 'checks',
      rows: BigInt(results.length),
      totalRows: BigInt(all.length),
      bytes: 0,
      unit: 'checks',
      done,
    });
  for (const planned of all) {
    report(false);
    const { name, description } = planned.check;
    const startedAt = performance.now();
    const counted = async () => {
      const violations = known.get(name) ?? (await countRows(db, planned));
      run?.kept.note(planned, violations);
      return violations;
    };
    const { severity } = planned;
    const found = await counted().catch((error) => recordFailure(error, severity, startedAt));
    const { violations, rows, seconds } = found;
    results.push({ name, severity, description, violations, waived: false, sample: `[${rows.join(',')}]`, seconds });
  }
  report(true);
  return results;
}

/** Only a gate may stop a run: any other check that does not run is a failed one, and its sample says why. */
function recordFailure(error: unknown, severity: Severity, startedAt: number): Violations {
  if (severity === 'gate' || !(error instanceof PricelakeError) || error.code !== 'config') throw error;
  const seconds = (performance.now() - startedAt) / 1000;
  return { violations: 1n, rows: [JSON.stringify({ error: error.message })], seconds };
}
