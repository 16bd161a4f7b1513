import type { PricelakeError } from '../errors/errors.js';
import type { BrokenExport } from '../journal/memory.js';
import { type Allowance, countCallsLeft, countRowsLeft } from './allowance.js';
import { explainBroken, refuseBroken } from './broken-exports.js';
import { chooseHydration, type HydrationChoice, type HydrationFacts } from './choose-hydration.js';

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
