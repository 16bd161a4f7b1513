import { PricelakeError } from '../io/errors.js';
import { type Io, realIo } from '../io/io.js';
import { runSideBySide, settleAll } from '../io/side-by-side.js';
import type { RelationGraph } from '../sql/graph.js';
import type { CheckResult, Severity } from '../tables/table.js';
import type { Check, CheckSettings } from './check.js';
import { type ChangedItems, type CheckedTables, countRows, type Violations } from './count-rows.js';
import type { KeptCounts } from './kept-counts.js';
import { type ConfiguredCheck, configureChecks } from './settings.js';
import { countWithinRun } from './within-run.js';

export interface RunScope {
  kept: KeptCounts;
  /** The items that the run changed, before and after it; undefined if they are too many. */
  changed: ChangedItems | undefined;
  changedTables: ReadonlySet<string>;
}

/**
 * Runs checks in their order. Returns exact counts, and the first violations as a sample. A check whose SQL fails
 * counts as failed, except for a gate, which throws. With `run`, checks that allow it read only rows that the run
 * changed.
 * @throws PricelakeError `config` for settings that fit no check, and if the SQL of a gate fails
 */
export async function runChecks(
  graph: RelationGraph,
  checked: CheckedTables,
  checks: readonly Check[],
  settings: CheckSettings,
  run?: RunScope,
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
      outcomes.set(configured, await runCheck(graph, checked, configured, known, run));
    };
    await runSideBySide(1, some, countOne);
  };
  const isLocal = ({ check }: ConfiguredCheck) => check.scope !== undefined || check.withinRun !== undefined;
  const [known] = await settleAll([
    run === undefined ? Promise.resolve(NONE_KNOWN) : countLocally(graph, checked, run, all),
    count(all.filter((configured) => !isLocal(configured))),
  ]);
  await count(all.filter(isLocal), known);
  report(true);
  return all.map((configured) => outcomes.get(configured) as CheckResult);
}

const NONE_KNOWN: ReadonlyMap<string, Violations> = new Map();

async function countLocally(
  graph: RelationGraph,
  checked: CheckedTables,
  { kept, changed, changedTables }: RunScope,
  all: readonly ConfiguredCheck[],
): Promise<ReadonlyMap<string, Violations>> {
  if (changed === undefined) return NONE_KNOWN;
  const known = await countWithinRun(graph, checked, changed, all);
  for (const [name, counted] of await kept.countOn(graph, checked, changed, all, changedTables))
    known.set(name, counted);
  return known;
}

async function runCheck(
  graph: RelationGraph,
  checked: CheckedTables,
  configured: ConfiguredCheck,
  known: ReadonlyMap<string, Violations>,
  { kept }: Partial<RunScope> = {},
): Promise<CheckResult> {
  const { severity, check } = configured;
  const { name, description } = check;
  const startedAt = performance.now();
  const counted = async () => {
    const violations = known.get(name) ?? (await countRows(graph, configured, checked));
    kept?.note(configured, violations);
    return violations;
  };
  const found = await counted().catch((error) => recordFailure(error, severity, startedAt));
  const { violations, rows, seconds } = found;
  return { name, severity, description, violations, waived: false, sample: `[${rows.join(',')}]`, seconds };
}

/** Records a check whose SQL failed as failed, with the reason in its sample. Only a gate stops the run. */
function recordFailure(error: unknown, severity: Severity, startedAt: number): Violations {
  if (severity === 'gate' || !(error instanceof PricelakeError) || error.code !== 'config') throw error;
  const seconds = (performance.now() - startedAt) / 1000;
  return { violations: 1n, rows: [JSON.stringify({ error: error.message })], seconds };
}
