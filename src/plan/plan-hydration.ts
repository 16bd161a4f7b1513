import type { PricelakeError } from '../errors/errors.js';
import { type Allowance, countCallsLeft, countRowsLeft } from './allowance.js';
import { type BrokenExport, explainBroken, refuseBroken } from './broken-exports.js';

/** What whole reads of changed items may use. */
export interface HydrationMeans {
  /** Undefined where no export may be taken, and calls aren't bounded. */
  allowance: Allowance | undefined;
  /** Calls made since `allowance` was read. */
  callsMade: bigint;
  ratePerSecond: number | null;
  /** An export of these items that broke off in the runs before, and is not to be tried yet. */
  broken: BrokenExport | undefined;
  /** True where the run has taken that export: what it lacks, it lacks again. */
  isTaken?: boolean;
}

/** How the rest of the needed items is read, once a page of the changed ones shows how many there are. */
export interface HydrationPlan {
  choice: HydrationChoice;
  /** Set where the calls don't suffice, and the export is not to be tried yet. */
  refusal: PricelakeError | undefined;
}

/** Overage is never worth it here: the items can be read otherwise. */
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

/** What reading the needed items whole would take, by the first page of changed items. */
export interface HydrationFacts {
  /** Items that are still needed. */
  needed: number;
  /** Pages of changed items that are left. */
  pages: number;
  /** Rows that an export of the changed items has. */
  rows: bigint;
  /** Calls that the run may still make; null is unlimited. */
  callsLeft: bigint | null;
  /** Export rows that it may still take without a bill; null is unlimited. */
  rowsLeft: bigint | null;
  /** Requests a second; null is unlimited. */
  ratePerSecond: number | null;
  /** Why no export is taken, whatever it costs; absent where it may be. */
  withoutExport?: string | undefined;
}

export interface HydrationChoice {
  way: 'none' | 'items' | 'pages' | 'export';
  /** Calls and export rows that it takes, at most. */
  calls: number;
  rows: bigint;
  reason: string;
}

/** A page answers in about 20 ms, and rows of an export arrive and are typed by 50,000 a second. */
const ASSUMED_RATE = 50;
const EXPORT_ROWS_PER_SECOND = 50_000;

/**
 * The cheapest way to read the needed items (section 4): single items, pages of 500 changed items, or one export of
 * them. Cheapest is what takes the smallest share of the calls and export rows that are left; where neither is
 * limited, what takes the least time.
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
