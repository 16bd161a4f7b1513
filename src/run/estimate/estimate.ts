import { countOf } from '../../formats/count.js';
import { type Allowance, countCallsLeft, countRowsLeft } from '../../plan/allowance.js';
import type { RowsAhead } from '../../plan/disk.js';

export interface Count {
  count: bigint;
  exact: boolean;
  calls: number;
}

/** The estimated work of a run. If the run doesn't need a step, the step's property is undefined. */
export interface Ahead {
  /** True if the run requests the account's plan; false if it has made its calls and only has to publish. */
  plan: boolean;
  /** The calls that request the newest change, the number of items, and the number of items of each website. */
  lowWatermark?: number | undefined;
  exports?: { calls: number; rows: bigint; note?: string | undefined } | undefined;
  /** The calls that read pages of all items instead of exports, and that verify that no item is missing. */
  pages?: { calls: number; items: bigint; reason: string } | undefined;
  /** The number of items that changed since the last run or during a copy, and the calls that read them. */
  changedItems?: Count | undefined;
  /** The calls with which a run without the feed determines which items are listed. */
  listing?: { calls: number; basis: string } | undefined;
  /** The number of changes in the feed that the lake lacks, and the calls that read them. */
  changes?: Count | undefined;
  /** The number of calls that find when items were last seen. Each call is for one website. */
  probes?: number | undefined;
  /** The calls that read items in full if the changes of these items don't contain all values. */
  hydration?: { calls: number; rows: bigint; exact: boolean; reason: string } | undefined;
  /** Calls that sources other than the feed make before and after the run. */
  sources?: readonly Pick<Step, 'step' | 'calls' | 'basis'>[] | undefined;
  /** False if the run may find nothing new and therefore end early. */
  publishes: boolean;
  /** The number of calls that read the datasets. */
  datasets: number;
  facets: number;
  witnesses: readonly Pick<Step, 'step' | 'calls' | 'basis'>[];
  /** True if the run requests the account's plan again at its end, to compare the service's call count with its own. */
  countsUsage: (calls: number, rows: bigint) => boolean;
}

export interface Step {
  /** The step's name, such as `plan`, `feed` or `sample`. */
  step: string;
  calls: number;
  exportRows: bigint;
  /** True if the cost is exact; false if it is an estimate. */
  exact: boolean;
  basis: string;
}

/** Lists the steps of a run that make calls, in order, with the cost of each. */
export function estimateSteps(ahead: Ahead): Step[] {
  const {
    exports,
    pages,
    changedItems: changed,
    listing,
    changes,
    hydration,
    sources = [],
    witnesses,
    publishes,
  } = ahead;
  const steps = [
    price('plan', ahead.plan ? 1 : 0, true, 'limits and usage'),
    price('watermark', ahead.lowWatermark ?? 0, true, 'the newest change before items are read'),
    exports &&
      price('export', exports.calls, true, ['current item count', exports.note ?? []].flat().join('; '), exports.rows),
    pages && price('pages', pages.calls, false, `${countOf(pages.items, 'item')}: ${pages.reason}`),
    changed && price('poll', changed.calls, changed.exact, `${countOf(changed.count, 'item')} changed since`),
    changes && price('feed', changes.calls, changes.exact, explainChanges(changes)),
    price('probe', ahead.probes ?? 0, true, 'when each website was last seen'),
    listing && price('listing', listing.calls, false, listing.basis),
    hydration && price('hydrate', hydration.calls, hydration.exact, hydration.reason, hydration.rows),
    ...sources.map(({ step, calls, basis }) => price(step, calls, false, basis)),
    price('datasets', ahead.datasets, true, 'current descriptions'),
    price('facets', ahead.facets, true, "the service's counts, to compare with the copy"),
    ...witnesses.map(({ step, calls, basis }) => price(step, calls, publishes, basis)),
  ].filter((step) => step !== undefined && step.calls > 0) as Step[];
  const { calls, exportRows } = sumSteps(steps);
  if (!ahead.countsUsage(calls, exportRows)) return steps;
  return [...steps, price('usage', 1, publishes, "the service's count, to compare with the ledger")];
}

function price(step: string, calls: number, exact: boolean, basis: string, exportRows = 0n): Step {
  return { step, calls, exportRows, exact, basis };
}

function explainChanges({ exact, count }: Count): string {
  return `${exact ? '' : 'about '}${countOf(count, 'change')} to apply`;
}

export interface Total {
  calls: number;
  exportRows: bigint;
  exact: boolean;
}

export function sumCounts(counts: readonly Count[]): Count | undefined {
  if (counts.length === 0) return undefined;
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0n),
    calls: counts.reduce((sum, { calls }) => sum + calls, 0),
    exact: counts.every(({ exact }) => exact),
  };
}

export function sumSteps(steps: readonly Step[]): Total {
  return {
    calls: steps.reduce((sum, step) => sum + step.calls, 0),
    exportRows: steps.reduce((sum, step) => sum + step.exportRows, 0n),
    exact: steps.every((step) => step.exact),
  };
}

/** Estimates the total number of changes, assuming that the gaps between ids stay as large as on this page. */
export function extrapolateChanges(page: { first: bigint; last: bigint; rows: bigint }, newest: bigint): bigint {
  const { first, last, rows } = page;
  if (newest <= last || rows < 2n) return rows;
  return rows + ((newest - last) * (rows - 1n) + (last - first) - 1n) / (last - first);
}

/** Returns what remains of the monthly allowance after `total`. Unlimited values are omitted. */
export function countRest(
  allowance: Allowance,
  { calls, exportRows }: Pick<Total, 'calls' | 'exportRows'>,
): { calls?: bigint; exportRows?: bigint } {
  const callsLeft = countCallsLeft(allowance, BigInt(calls));
  const rowsLeft = countRowsLeft(allowance);
  return {
    ...(callsLeft === null ? {} : { calls: callsLeft }),
    ...(rowsLeft === null ? {} : { exportRows: rowsLeft > exportRows ? rowsLeft - exportRows : 0n }),
  };
}

/** Counts the rows that the run is expected to receive. */
export function countAhead({ exports, pages, changedItems, changes, hydration }: Ahead): RowsAhead {
  const items = [exports?.rows, pages?.items, changedItems?.count, hydration?.rows];
  return { items: items.reduce<bigint>((sum, count = 0n) => sum + count, 0n), changes: changes?.count ?? 0n };
}

/**
 * Returns the duration in seconds of a first copy of this many rows, according to the benchmarks (`bench/README.md`).
 * The benchmarks run on a machine with two cores together with the service, so other environments may differ.
 */
export function countBenchSeconds(rows: bigint): number {
  return 2 + Number(rows) / 52_000;
}

/** Returns the minimum duration of this many calls in seconds, or undefined if the rate is unlimited. */
export function countSeconds(calls: number, ratePerSecond: number | null): number | undefined {
  return ratePerSecond === null || ratePerSecond <= 0 ? undefined : calls / ratePerSecond;
}
