import { RUN_FOLD, type RunProgress } from '../../src/journal/run-state.js';
import { type Allowance, NO_EXPORTS } from '../../src/plan/allowance.js';
import type { AccountFacts, RunFacts } from '../../src/plan/run-facts.js';

export const NOW = new Date('2026-11-20T08:00:00Z');
export const DAY_MS = 24 * 3600 * 1000;
export const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);

export const UNLIMITED: Allowance = { ...NO_EXPORTS, rows: undefined, bills: true };
export const ACCOUNT: AccountFacts = {
  ...{ name: 'Pro', upgradeUrl: 'https://shop.example', hasFeed: true, historyDays: 30 },
  ...{ allowance: UNLIMITED, callsMade: 1n, broken: [] },
};

/** A lake with 100 items that was in sync with the feed an hour ago, before its next run. */
const KNOWN: RunFacts = {
  now: NOW,
  settings: {
    ...{
      mode: 'auto',
      history: 'feed',
      selection: 'all',
      reconcileEvery: undefined,
      splitAbove: 1_000n,
    },
    ...{ products: 'none', proof: { sample: 5, products: true, facets: true } },
  },
  lake: {
    ...{ hasItems: true, hasCursor: true, cursor: 70n, rows: 100n, selection: 'all', copied: [], seen: [] },
    ...{
      overlap: undefined,
      caughtUpAt: daysAgo(1 / 24),
      snapshotAt: daysAgo(1),
      unknownListing: undefined,
      isDamaged: false,
    },
  },
  account: ACCOUNT,
  landed: RUN_FOLD.start,
  isAtWork: true,
};

type Change = { [K in 'settings' | 'lake' | 'account']?: Partial<RunFacts[K]> } & { landed?: Partial<RunProgress> };

/** The facts of that lake with these changes. */
export function createFacts(change: Change & Partial<Omit<RunFacts, keyof Change>> = {}): RunFacts {
  const { settings, lake, account, landed, ...others } = change;
  return {
    ...KNOWN,
    settings: { ...KNOWN.settings, ...settings },
    lake: { ...KNOWN.lake, ...lake },
    account: { ...ACCOUNT, ...account },
    landed: { ...KNOWN.landed, ...landed },
    ...others,
  };
}
