import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { realIo } from '../io/real-io.js';
import { runSideBySide, settleAll } from '../io/side-by-side.js';
import type { RelationGraph } from '../sql/graph.js';
import type { CheckResult, Severity } from '../tables/table.js';
import type { Check, CheckSettings } from './check.js';
import { type CheckedTables, countRows, type Violations } from './count-rows.js';
import { type ConfiguredCheck, configureChecks } from './settings.js';

/** Counts the violations of some checks without reading all rows. */
export interface CheckCounts {
  /** True if `count` can count this check's violations. All other checks run in parallel with `count`. */
  mayCount(check: Check): boolean;
  /** Returns violations by check name. A check that isn't in the result must read all rows. */
  count(
    graph: RelationGraph,
    checked: CheckedTables,
    all: readonly ConfiguredCheck[],
  ): Promise<ReadonlyMap<string, Violations>>;
  /** Records a check's violations, so that the next run can update their number. */
  note(configured: ConfiguredCheck, found: Violations): void;
  /** Saves the recorded numbers for the next run. Call this after the run has published. */
  keep(): Promise<void>;
}

/**
 * Runs checks, and returns their results in the same order: the exact number of violations, and the first of them as a
 * sample. A check reads rows only if `counts` doesn't return its number. If its SQL fails, its result has the error.
 * @throws PricelakeError `config` for settings that don't match a check, and if the SQL of a gate fails
 */
export async function runChecks(
  graph: RelationGraph,
  checked: CheckedTables,
  checks: readonly Check[],
  settings: CheckSettings,
  counts?: CheckCounts,
  { progress }: Pick<Io, 'progress'> = realIo,
): Promise<CheckResult[]> {
  const all = configureChecks(checks, settings);
  const outcomes = new Map<ConfiguredCheck, CheckResult>();
  const report = (done: boolean) =>
    progress({
      step: 'prove',
      part: 'checks',
      rows: BigInt(outcomes.size),
      totalRows: BigInt(all.length),
      bytes: 0,
      unit: 'checks',
      done,
    });
  const count = async (some: readonly ConfiguredCheck[], known = NONE_KNOWN) => {
    const countOne = async (configured: ConfiguredCheck) => {
      report(false);
      outcomes.set(configured, await runCheck(graph, checked, configured, known, counts));
    };
    await runSideBySide(1, some, countOne);
  };
  const isCounted = ({ check }: ConfiguredCheck) => counts?.mayCount(check) === true;
  const [known] = await settleAll([
    counts?.count(graph, checked, all) ?? Promise.resolve(NONE_KNOWN),
    count(all.filter((configured) => !isCounted(configured))),
  ]);
  await count(all.filter(isCounted), known);
  report(true);
  return all.map((configured) => outcomes.get(configured) as CheckResult);
}

const NONE_KNOWN: ReadonlyMap<string, Violations> = new Map();

async function runCheck(
  graph: RelationGraph,
  checked: CheckedTables,
  configured: ConfiguredCheck,
  known: ReadonlyMap<string, Violations>,
  counts: CheckCounts | undefined,
): Promise<CheckResult> {
  const { severity, check } = configured;
  const { name, description } = check;
  const startedAt = performance.now();
  const counted = async () => {
    const violations = known.get(name) ?? (await countRows(graph, configured, checked));
    counts?.note(configured, violations);
    return violations;
  };
  const found = await counted().catch((error) => recordFailure(error, severity, startedAt));
  const { violations, rows, seconds } = found;
  return { name, severity, description, violations, waived: false, sample: `[${rows.join(',')}]`, seconds };
}

/** Returns a failed result whose sample is the SQL's error. Rethrows errors of gates, and errors with other causes. */
function recordFailure(error: unknown, severity: Severity, startedAt: number): Violations {
  if (severity === 'gate' || !(error instanceof PricelakeError) || error.code !== 'config') throw error;
  const seconds = (performance.now() - startedAt) / 1000;
  return { violations: 1n, rows: [JSON.stringify({ error: error.message })], seconds };
}
