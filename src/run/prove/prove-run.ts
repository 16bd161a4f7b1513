import { reportStep } from '../../io/io.js';
import { listIdleRuns } from '../../journal/memory.js';
import type { Attribution } from '../../lake/attribution.js';
import { countUsage } from '../../source/read-plan.js';
import type { CheckResult } from '../../tables/table.js';
import type { AppliedRun } from '../apply/apply-run.js';
import { type DerivedRun, stageServiceProducts } from '../derive/derive-run.js';
import type { NextLake } from '../derive/stage.js';
import type { LandedInput } from '../land/landed-run.js';
import type { Run } from '../open/open-run.js';
import { auditRun } from './audit.js';
import { compareFacets } from './compare-facets.js';
import { compareProducts } from './compare-products.js';
import type { RunRow } from './ledger.js';
import { describeRun } from './run-record.js';

/** A batch that no gate holds: what will be published. */
export interface ProvedRun {
  /** The lake as it will be, but for the tables that describe the run itself. */
  next: NextLake;
  attributions: Attribution[];
  /** The run's row of the ledger. */
  row: RunRow;
  /** Rows that the ledger gets: those of runs without news since the last publication, and the run's own. */
  rows: readonly RunRow[];
  checks: CheckResult[];
  /** Notes the checks' counts, from which the next run counts on. Call it after the publication. */
  keepCounts: () => Promise<void>;
}

/**
 * Compares the lake as it would be with the service's own counts and products, and checks it.
 * @throws PricelakeError `gate_failed` where a gate holds the batch
 */
export async function proveRun(
  run: Run,
  landed: LandedInput,
  applied: AppliedRun,
  derived: DerivedRun,
  { waived }: { waived: boolean },
): Promise<ProvedRun> {
  return derived.next.guard(() => prove(run, landed, applied, derived, waived));
}

async function prove(
  run: Run,
  landed: LandedInput,
  applied: AppliedRun,
  derived: DerivedRun,
  waived: boolean,
): Promise<ProvedRun> {
  const { attributions, compared, settled } = derived;
  const { products, facets } = await reportStep(run.io, 'comparing', () => compareCounts(run, applied, derived));
  const next = derived.next.with(...(await stageServiceProducts(run, products.rows, attributions)));
  const items = await run.graph.count(await next.rows('items'));
  const usage = await countUsage(run);
  const found = { ...applied.comparison, compared, products: products.found, facets, usage, items };
  const row = await describeRun(run, landed, settled.tally, applied, found);
  const rows = [...listIdleRuns(run.memory.state, run.tables.runs.applied.run), row];
  const audit = await auditRun(run, { next, merge: applied.merge, rows, waived });
  return { next, attributions, row, rows, ...audit };
}

async function compareCounts(run: Run, { facets, names }: AppliedRun, { next, products }: DerivedRun) {
  const own = { products: await next.rows('products'), product_prices: await next.rows('product_prices') };
  return {
    products: await compareProducts(run, own, products),
    facets: await compareFacets(run, await next.rows('items'), facets, names.readable),
  };
}
