import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import { type Io, realIo } from '../io/io.js';
import { settleAll } from '../io/side-by-side.js';
import type { CheckResult, Severity } from '../tables/table.js';
import type { Check, CheckSettings } from './check.js';
import { countRows, type Violations } from './count-rows.js';
import type { KeptCounts } from './kept-counts.js';
import { type PlannedCheck, planChecks } from './settings.js';
import { countWithinRun } from './within-run.js';

export type { CheckSettings } from './check.js';

/** A run whose next state is checked. */
export interface RunScope {
  /** A session beside: it counts on from the run before while the other checks look at all rows. */
  side: Database;
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
  const outcomes = new Map<PlannedCheck, CheckResult>();
  const report = (done: boolean) =>
    progress({
      step: 'checks',
      rows: BigInt(outcomes.size),
      totalRows: BigInt(all.length),
      bytes: 0,
      unit: 'checks',
      done,
    });
  const count = async (some: readonly PlannedCheck[], known = NONE_KNOWN) => {
    for (const planned of some) {
      report(false);
      outcomes.set(planned, await runCheck(db, planned, known, run?.kept));
    }
  };
  const isLocal = ({ check }: PlannedCheck) => check.scope !== undefined || check.withinRun !== undefined;
  const [known] = await settleAll([
    run === undefined ? Promise.resolve(NONE_KNOWN) : countLocally(run, all),
    count(all.filter((planned) => !isLocal(planned))),
  ]);
  await count(all.filter(isLocal), known);
  report(true);
  return all.map((planned) => outcomes.get(planned) as CheckResult);
}

const NONE_KNOWN: ReadonlyMap<string, Violations> = new Map();

/** Of what the run changed, or from what was counted before. */
async function countLocally(
  { side, kept, hasFewChanges, changedTables }: RunScope,
  all: readonly PlannedCheck[],
): Promise<ReadonlyMap<string, Violations>> {
  const known = hasFewChanges ? await countWithinRun(side, all) : new Map<string, Violations>();
  for (const [name, counted] of await kept.countOn(side, all, changedTables)) known.set(name, counted);
  return known;
}

async function runCheck(
  db: Database,
  planned: PlannedCheck,
  known: ReadonlyMap<string, Violations>,
  kept: KeptCounts | undefined,
): Promise<CheckResult> {
  const { severity, check } = planned;
  const { name, description } = check;
  const startedAt = performance.now();
  const counted = async () => {
    const violations = known.get(name) ?? (await countRows(db, planned));
    kept?.note(planned, violations);
    return violations;
  };
  const found = await counted().catch((error) => recordFailure(error, severity, startedAt));
  const { violations, rows, seconds } = found;
  return { name, severity, description, violations, waived: false, sample: `[${rows.join(',')}]`, seconds };
}

/** Only a gate may stop a run: any other check that does not run is a failed one, and its sample says why. */
function recordFailure(error: unknown, severity: Severity, startedAt: number): Violations {
  if (severity === 'gate' || !(error instanceof PricelakeError) || error.code !== 'config') throw error;
  const seconds = (performance.now() - startedAt) / 1000;
  return { violations: 1n, rows: [JSON.stringify({ error: error.message })], seconds };
}
