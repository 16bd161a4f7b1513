import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import { type Io, realIo } from '../io/io.js';
import type { CheckResult, Severity } from '../tables/table.js';
import type { Check, CheckSettings } from './check.js';
import { countRows, type Violations } from './count-rows.js';
import type { KeptCounts } from './kept-counts.js';
import { planChecks } from './settings.js';

export type { CheckSettings } from './check.js';

/**
 * Runs checks over the views named as the tables, in their order: exact counts and the first rows as a sample.
 * With the DuckDB variable `run_id` set, checks of `history` look at what that run wrote.
 * A check that does not run is a failed one, unless it is a gate. With `kept`, checks that have a scope count on.
 * @throws PricelakeError `config` for settings that fit no check, and when a gate's SQL does not run.
 */
export async function runChecks(
  db: Database,
  checks: readonly Check[],
  settings: CheckSettings,
  kept?: KeptCounts,
  { progress }: Pick<Io, 'progress'> = realIo,
): Promise<CheckResult[]> {
  const all = planChecks(checks, settings);
  const known = await kept?.countOn(db, all);
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
      const violations = known?.get(name) ?? (await countRows(db, planned));
      kept?.note(planned, violations);
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
