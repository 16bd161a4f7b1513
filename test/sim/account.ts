/** What the service knows beside the world, and what `/plan` tells of it (section 2, PlanInfo; section 8). */
import type { Habits } from './habits.js';
import { writeTime } from './views.js';
import type { Wire } from './wire-json.js';
import type { View, World } from './world.js';

/** Answers that are each behind the feed by an amount of their own. */
export type Source = 'items' | 'export' | 'facets' | 'products' | 'single';

/** What the service knows beside the world. */
export interface Account {
  world: World;
  /** The world as answers of this kind show it. */
  view(source: Source): View;
  /** Calls and export rows that it has counted. */
  used: { calls: number; rows: number };
  /** Ids of the changes that `/changes` has shown. */
  delivered: Set<bigint>;
}

/** Rows of a small quota: fewer than any world has. */
const ROWS = 10;

/** Export rows that `/plan` tells of, and those that are left: others of the account may have taken them meanwhile. */
export function countQuota({ world, used }: Pick<Account, 'world' | 'used'>): { told: number | null; left: number } {
  const { quota } = world.habits;
  const left = Math.max(0, ROWS - used.rows);
  if (quota === 'small') return { told: ROWS, left };
  if (quota === 'none') return { told: 0, left: 0 };
  if (quota === 'unlimited') return { told: null, left: Number.POSITIVE_INFINITY };
  return { told: 100_000, left: quota === 'cut' ? left : 0 };
}

function nameStatus({ planStatus, quota, rate }: Habits): string | null {
  if (planStatus === 'other') return 'PAUSED';
  if (quota !== 'unlimited') return 'TRIALING';
  return rate === 'null' ? null : 'ACTIVE';
}

export function viewPlan(account: Account): Wire {
  const { world, used } = account;
  const { habits, now } = world;
  const rate = { null: { ratePerSecond: null }, absent: {}, fraction: { ratePerSecond: 12.5 } }[habits.rate];
  const delay = { absent: {}, '0': { delayHours: 0 }, '24': { delayHours: 24 } }[habits.delayHours];
  const resetsAt = writeTime(now + 10n ** 15n, { fraction: 0, utc: 'Z' });
  return {
    plan: habits.feed ? 'pro' : 'free',
    name: 'Pro',
    status: nameStatus(habits),
    trialEndsAt: habits.quota !== 'unlimited' ? resetsAt : null,
    limits: {
      datasets: 5,
      apiCallsPerMonth: habits.usage === 'told' ? 100_000 : null,
      ...rate,
      ...delay,
      exportRowsPerMonth: countQuota(account).told,
      historyDays: habits.historyDays,
      changeFeed: habits.feed,
      seats: 3,
      sso: true,
    },
    lockedDatasets: 0,
    upgradeUrl: 'https://shop.example/plans',
    usage: habits.usage === 'null' ? null : { apiCalls: used.calls, exportRows: used.rows, resetsAt },
  };
}
