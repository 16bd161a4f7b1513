import { PricelakeError } from '../errors/errors.js';
import type { RunMode } from '../tables/table.js';

/** What the choice of a run's mode rests on. */
export interface ModeFacts {
  /** `source.mode`, or what the command line asks for. */
  wanted: 'auto' | RunMode;
  /** True when the lake holds items. */
  hasItems: boolean;
  /** True when the lake holds a cursor of the feed. */
  hasCursor: boolean;
  /** Whether the plan lets the key read the feed (section 8, `changeFeed`). */
  hasFeed: boolean;
  /** The plan's `historyDays`; null is unlimited. */
  historyDays: number | null;
  /** When the feed was last read to its end; undefined when it never was. */
  caughtUpAt: Date | undefined;
  /** When a complete copy was last compared with the lake; undefined when never. */
  snapshotAt: Date | undefined;
  /** Milliseconds between two complete comparisons; undefined when none is wanted. */
  reconcileEvery: number | undefined;
  /** Items of which the runs before did not establish whether they are listed; undefined when there are none. */
  unknownListing: UnknownListing | undefined;
  /** Why the budget or the plan allows no complete copy now; undefined when it does. */
  copyRefusal: string | undefined;
  now: Date;
}

/** What the runs before could not establish: which items are still listed. */
export interface UnknownListing {
  /** Items at most. */
  items: bigint;
  /** When the first run began that could not establish it. */
  since: Date;
  /** When the last run began that read items to find them; undefined when none did. */
  lookedAt: Date | undefined;
}

export interface ModeChoice {
  mode: RunMode;
  reason: string;
  /** Datasets that are new to the lake: these are copied whole. */
  added?: bigint[] | undefined;
}

const DAY_MS = 24 * 3600 * 1000;

/**
 * How a run brings the lake up to date, and why. Throws `plan_refuses` when `feed` is wanted and the plan has none.
 */
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
 * Items that nothing named are looked for by each run of an hour, since answers may lag behind the feed, and then once a
 * day: a service whose counts never agree with its pages must not cost a reading in every run.
 */
function isLookDue({ unknownListing, now }: ModeFacts): boolean {
  if (unknownListing === undefined) return false;
  const { since, lookedAt } = unknownListing;
  if (now.getTime() - since.getTime() <= HOUR_MS || lookedAt === undefined) return true;
  // A daily schedule must not miss the day by some seconds.
  return now.getTime() - lookedAt.getTime() >= DAY_MS - HOUR_MS;
}

/** Section 8: the feed reaches back `historyDays`; what changed before that may be missing. */
function explainGap({ historyDays, caughtUpAt, now }: ModeFacts): string | undefined {
  if (historyDays === null || caughtUpAt === undefined) return undefined;
  const days = (now.getTime() - caughtUpAt.getTime()) / DAY_MS;
  if (days <= historyDays) return undefined;
  return `the feed was last read ${days.toFixed(1)} days ago and reaches back ${historyDays}: changes between may be missing`;
}
