import type { PricelakeError } from '../io/errors.js';
import type { BrokenExport } from '../journal/memory.js';
import { type Allowance, countCallsLeft, countRowsLeft } from './allowance.js';
import { explainBroken, refuseBroken } from './broken-exports.js';

/** Means for whole reads of changed items. */
export interface HydrationMeans {
  /** Undefined: no export may be taken, and calls are unlimited. */
  allowance: Allowance | undefined;
  /** Calls since `allowance` was read. */
  callsMade: bigint;
  ratePerSecond: number | null;
  /** An export of these items that broke off in earlier runs and must wait. */
  broken: BrokenExport | undefined;
  /** True if the run has taken that export, which would lack the same items again. */
  isTaken?: boolean;
}

/** Way to read the needed items, once a page of changed items shows how many there are. */
interface HydrationPlan {
  choice: HydrationChoice;
  /** Set if there are too few calls and the export must wait. */
  refusal: PricelakeError | undefined;
}

/** Never takes overage, because the items can be read in other ways. */
export function planHydration(
  changed: Pick<HydrationFacts, 'needed' | 'pages' | 'rows'>,
  { allowance, callsMade, ratePerSecond, broken, isTaken = false }: HydrationMeans,
): HydrationPlan {
  const callsLeft = allowance === undefined ? null : countCallsLeft(allowance, callsMade);
  const rowsLeft = allowance === undefined ? 0n : countRowsLeft(allowance);
  const withoutExport = isTaken ? 'the export that was taken lacks the rest' : broken && explainBroken(broken);
  const choice = chooseHydration({ ...changed, callsLeft, rowsLeft, ratePerSecond, withoutExport });
  const isShort = callsLeft !== null && BigInt(choice.calls) > callsLeft;
  return { choice, refusal: broken !== undefined && isShort ? refuseBroken(broken) : undefined };
}

/** Counts that the first page of changed items shows. */
export interface HydrationFacts {
  /** Needed items that are still unread. */
  needed: number;
  /** Unread pages of changed items. */
  pages: number;
  /** Rows of an export of the changed items. */
  rows: bigint;
  /** Calls that the run may still make; null is unlimited. */
  callsLeft: bigint | null;
  /** Export rows that it may still take unbilled; null is unlimited. */
  rowsLeft: bigint | null;
  /** Requests a second; null is unlimited. */
  ratePerSecond: number | null;
  /** Reason to take no export, at any cost; absent if one may be taken. */
  withoutExport?: string | undefined;
}

export interface HydrationChoice {
  way: 'none' | 'items' | 'pages' | 'export';
  /** An upper bound, as `rows`. */
  calls: number;
  rows: bigint;
  reason: string;
}

/** A page takes about 20 ms. 50,000 rows of an export arrive and are typed in a second. */
const ASSUMED_RATE = 50;
const EXPORT_ROWS_PER_SECOND = 50_000;

/**
 * Chooses the cheapest way to read the needed items (section 4): single items, pages of 500 changed items, or one
 * export of them. The cheapest takes the smallest share of the calls and rows left, or the least time if neither is
 * limited.
 */
export function chooseHydration(facts: HydrationFacts): HydrationChoice {
  const { needed, pages, rows, rowsLeft } = facts;
  const withoutExport = facts.withoutExport ?? (pages > 0 ? undefined : 'an export has no row that no page showed');
  if (needed === 0) return { way: 'none', calls: 0, rows: 0n, reason: 'no item is needed' };
  const single: HydrationChoice = { way: 'items', calls: needed, rows: 0n, reason: '' };
  const paged: HydrationChoice = { way: 'pages', calls: pages, rows: 0n, reason: '' };
  const byCalls = pages > 0 && pages < needed ? paged : single;
  if (withoutExport !== undefined) return { ...byCalls, reason: `${byCalls.calls} calls, since ${withoutExport}` };
  const exported: HydrationChoice = { way: 'export', calls: 1, rows, reason: '' };
  const isAffordable = rowsLeft === null || rows <= rowsLeft;
  const chosen = isAffordable && isCheaper(exported, byCalls, facts) ? exported : byCalls;
  return { ...chosen, reason: explain(chosen, chosen === exported ? byCalls : exported, facts, isAffordable) };
}

function isCheaper(a: HydrationChoice, b: HydrationChoice, facts: HydrationFacts): boolean {
  const difference = shareOf(a, facts) - shareOf(b, facts);
  return difference === 0 ? secondsOf(a, facts) < secondsOf(b, facts) : difference < 0;
}

function shareOf({ calls, rows }: HydrationChoice, { callsLeft, rowsLeft }: HydrationFacts): number {
  const ofCalls = callsLeft === null ? 0 : calls / Number(callsLeft || 1n);
  const ofRows = rowsLeft === null ? 0 : Number(rows) / Number(rowsLeft || 1n);
  return ofCalls + ofRows;
}

function secondsOf({ calls, rows }: HydrationChoice, { ratePerSecond }: HydrationFacts): number {
  return calls / (ratePerSecond ?? ASSUMED_RATE) + Number(rows) / EXPORT_ROWS_PER_SECOND;
}

function explain(
  chosen: HydrationChoice,
  other: HydrationChoice,
  facts: HydrationFacts,
  isAffordable: boolean,
): string {
  const take = ({ calls, rows }: HydrationChoice) => `${calls} calls${rows > 0n ? ` and ${rows} export rows` : ''}`;
  const left = `${facts.callsLeft ?? 'unlimited'} calls and ${facts.rowsLeft ?? 'unlimited'} export rows are left`;
  const why =
    chosen.way === 'export' || isAffordable ? `instead of ${take(other)}` : 'an export is beyond the rows left';
  return `${take(chosen)} ${why}; ${left}`;
}
