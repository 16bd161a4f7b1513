import { PricelakeError } from '../io/errors.js';
import type { RunMode } from '../tables/table.js';

export interface ModeFacts {
  /** From `source.mode` or the command line. */
  wanted: 'auto' | RunMode;
  hasItems: boolean;
  hasCursor: boolean;
  /** True if the plan includes the feed (section 8, `changeFeed`). */
  hasFeed: boolean;
  /** The plan's `historyDays`; null is unlimited. */
  historyDays: number | null;
  /** Last time that the feed was read to its end; undefined if never. */
  caughtUpAt: Date | undefined;
  /** Time of the last complete copy; undefined if never. */
  snapshotAt: Date | undefined;
  /** Milliseconds between two complete comparisons; undefined if none is wanted. */
  reconcileEvery: number | undefined;
  /** Items whose listing earlier runs could not establish. */
  unknownListing: UnknownListing | undefined;
  /** Reason why budget or plan allow no complete copy now; undefined if they do. */
  copyRefusal: string | undefined;
  now: Date;
}

/** Items that may no longer be listed, because runs could not find out. */
export interface UnknownListing {
  /** An upper bound. */
  items: bigint;
  /** Start of the first run that could not find out. */
  since: Date;
  /** Start of the last run that read items to find out; undefined if none did. */
  lookedAt: Date | undefined;
}

export interface ModeChoice {
  mode: RunMode;
  reason: string;
  /** Datasets that are new to the lake, and copied whole. */
  added?: bigint[] | undefined;
}

const DAY_MS = 24 * 3600 * 1000;

/** Throws `plan_refuses` if `feed` is wanted and the plan has none. */
export function chooseMode(facts: ModeFacts): ModeChoice {
  const { wanted, hasFeed } = facts;
  if (wanted === 'feed' && !hasFeed) {
    throw new PricelakeError('plan_refuses', 'source.mode is feed, and the plan has no change feed', {
      limit: 'changeFeed',
      hint: 'Set source.mode: auto to continue without the feed, or change the plan.',
    });
  }
  if (!facts.hasItems) return { mode: 'snapshot', reason: 'the lake holds no items yet' };
  if (wanted === 'snapshot') return { mode: 'snapshot', reason: 'a complete copy was requested' };
  const isDue = isReconcileDue(facts);
  const { copyRefusal } = facts;
  if (isDue && copyRefusal === undefined) return { mode: 'snapshot', reason: 'a complete comparison is due' };
  const later = isDue ? `; a complete comparison is due, but ${copyRefusal}` : '';
  if (wanted === 'poll') return { mode: 'poll', reason: `source.mode is poll${later}` };
  if (!hasFeed) return { mode: 'poll', reason: `the plan has no change feed${later}` };
  if (!facts.hasCursor) return { mode: 'poll', reason: `the lake has no cursor of the feed yet${later}` };
  const lost = explainGap(facts);
  if (lost === undefined && isLookDue(facts)) {
    const reason = `which of ${facts.unknownListing?.items} items are still listed is not known`;
    return { mode: 'poll', reason: `${reason}${later}` };
  }
  if (lost === undefined) return { mode: 'feed', reason: `the feed continues from the cursor${later}` };
  if (copyRefusal === undefined) return { mode: 'snapshot', reason: lost };
  return { mode: 'poll', reason: `${lost}, and ${copyRefusal}` };
}

function isReconcileDue({ reconcileEvery, snapshotAt, now }: ModeFacts): boolean {
  if (reconcileEvery === undefined) return false;
  return snapshotAt === undefined || now.getTime() - snapshotAt.getTime() >= reconcileEvery;
}

const HOUR_MS = 3600 * 1000;

/**
 * For an hour, every run looks for items that nothing named, because answers may lag behind the feed. After that, one
 * run a day does, so that a service whose counts never agree with its pages does not cost a reading in every run.
 */
function isLookDue({ unknownListing, now }: ModeFacts): boolean {
  if (unknownListing === undefined) return false;
  const { since, lookedAt } = unknownListing;
  if (now.getTime() - since.getTime() <= HOUR_MS || lookedAt === undefined) return true;
  // An hour less than a day, so that a daily schedule does not miss it by seconds.
  return now.getTime() - lookedAt.getTime() >= DAY_MS - HOUR_MS;
}

/** Changes from before the last `historyDays` are not in the feed (section 8). */
function explainGap({ historyDays, caughtUpAt, now }: ModeFacts): string | undefined {
  if (historyDays === null || caughtUpAt === undefined) return undefined;
  const days = (now.getTime() - caughtUpAt.getTime()) / DAY_MS;
  if (days <= historyDays) return undefined;
  return `the feed was last read ${days.toFixed(1)} days ago and reaches back ${historyDays}: changes between may be missing`;
}
