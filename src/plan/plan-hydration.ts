import { countOf, formatCount } from '../formats/count.js';
import type { PricelakeError } from '../io/errors.js';
import type { BrokenExport } from '../journal/memory.js';
import { type Allowance, countCallsLeft, countRowsLeft } from './allowance.js';
import { explainBroken, refuseBroken } from './broken-exports.js';

export interface HydrationFacts {
  /** The calls and rows that the run may still use. If undefined, exports aren't allowed, and calls are unlimited. */
  allowance: Allowance | undefined;
  /** The number of calls made since `allowance` was read. */
  callsMade: bigint;
  ratePerSecond: number | null;
  /** The export of the changed items, if it failed in an earlier run and must wait for its next attempt. */
  broken: BrokenExport | undefined;
  /** True if the run has already exported the changed items. Another export would lack the same items. */
  isTaken?: boolean;
}

export interface ChangedItems {
  needed: number;
  pages: number;
  rows: bigint;
}

export interface HydrationChoice {
  way: 'none' | 'items' | 'pages' | 'export';
  /** The maximum number of calls. `rows` is the maximum number of export rows. */
  calls: number;
  rows: bigint;
  reason: string;
}

/**
 * The assumed number of calls per second if the rate is unlimited. Reading a page takes about 20 ms, and an export
 * downloads and types about 50,000 rows per second.
 */
const ASSUMED_RATE = 50;
const EXPORT_ROWS_PER_SECOND = 50_000;

/** The calls that the run may still make, and the export rows that it may use without overage; null means unlimited. */
interface Limits {
  callsLeft: bigint | null;
  rowsLeft: bigint | null;
  ratePerSecond: number | null;
}

/**
 * Chooses the cheapest way to read the needed items (API §4): one by one, by pages of 500 changed items, or by an
 * export of the changed items. The cheapest way uses the smallest share of the remaining calls and rows. If the shares
 * are equal, it is the fastest way. Never uses overage, because items can also be read by calls. Returns a refusal if
 * too few calls are left and the export must wait.
 */
export function planHydration(
  changed: ChangedItems,
  { allowance, callsMade, ratePerSecond, broken, isTaken = false }: HydrationFacts,
): { choice: HydrationChoice; refusal: PricelakeError | undefined } {
  const callsLeft = allowance === undefined ? null : countCallsLeft(allowance, callsMade);
  const rowsLeft = allowance === undefined ? 0n : countRowsLeft(allowance);
  const withoutExport = isTaken
    ? 'the export that was downloaded lacks the remaining items'
    : broken && explainBroken(broken);
  const choice = chooseWay(changed, { callsLeft, rowsLeft, ratePerSecond }, withoutExport);
  const isShort = callsLeft !== null && BigInt(choice.calls) > callsLeft;
  return { choice, refusal: broken !== undefined && isShort ? refuseBroken(broken) : undefined };
}

/** @param withoutExport the reason why no export is possible, whatever it would cost */
function chooseWay(
  { needed, pages, rows }: ChangedItems,
  limits: Limits,
  withoutExport = pages > 0 ? undefined : 'an export would contain only rows that the pages have shown',
): HydrationChoice {
  if (needed === 0) return { way: 'none', calls: 0, rows: 0n, reason: 'no items are needed' };
  const single: HydrationChoice = { way: 'items', calls: needed, rows: 0n, reason: '' };
  const byCalls = pages > 0 && pages < needed ? { ...single, way: 'pages' as const, calls: pages } : single;
  if (withoutExport !== undefined)
    return { ...byCalls, reason: `${countOf(byCalls.calls, 'call')}, because ${withoutExport}` };
  const exported: HydrationChoice = { way: 'export', calls: 1, rows, reason: '' };
  const isAffordable = limits.rowsLeft === null || rows <= limits.rowsLeft;
  const [chosen, other] =
    isAffordable && isCheaper(exported, byCalls, limits) ? [exported, byCalls] : [byCalls, exported];
  const why =
    chosen === exported || isAffordable
      ? `instead of ${showCost(other)}`
      : 'because an export needs more rows than are left';
  const left = `left: ${showLeft(limits.callsLeft)} calls and ${showLeft(limits.rowsLeft)} export rows`;
  return { ...chosen, reason: `${showCost(chosen)} ${why}; ${left}` };
}

const showLeft = (count: bigint | null) => (count === null ? 'unlimited' : formatCount(count));

function showCost({ calls, rows }: HydrationChoice): string {
  return `${countOf(calls, 'call')}${rows > 0n ? ` and ${countOf(rows, 'export row')}` : ''}`;
}

function isCheaper(a: HydrationChoice, b: HydrationChoice, facts: Limits): boolean {
  const difference = shareOf(a, facts) - shareOf(b, facts);
  return difference === 0 ? secondsOf(a, facts) < secondsOf(b, facts) : difference < 0;
}

function shareOf({ calls, rows }: HydrationChoice, { callsLeft, rowsLeft }: Limits): number {
  const ofCalls = callsLeft === null ? 0 : calls / Number(callsLeft || 1n);
  const ofRows = rowsLeft === null ? 0 : Number(rows) / Number(rowsLeft || 1n);
  return ofCalls + ofRows;
}

function secondsOf({ calls, rows }: HydrationChoice, { ratePerSecond }: Limits): number {
  return calls / (ratePerSecond ?? ASSUMED_RATE) + Number(rows) / EXPORT_ROWS_PER_SECOND;
}
