import { PricelakeError } from '../io/errors.js';
import { listEnded } from '../journal/exports.js';
import type { RunMode } from '../tables/table.js';
import { findBrokenCopy, refuseBroken } from './broken-exports.js';
import { chooseCopy } from './choose-copy.js';
import { findAdded, nameDatasets, type WaitingDatasets } from './find-added.js';
import type { AccountFacts, RunFacts } from './run-facts.js';

export interface ModeChoice {
  mode: RunMode;
  reason: string;
  added?: bigint[] | undefined;
  /** A cursor below the lake's cursor. The feed is read again from here, to find changes that became visible late. */
  overlap?: bigint | undefined;
}

interface ModeDecision {
  decision: ModeChoice;
  /** True if the decision isn't in the journal yet. */
  isNew: boolean;
  waiting: WaitingDatasets | undefined;
  /** True if the decision needs the list of readable datasets, which hasn't been requested yet. */
  lacksReadable: boolean;
}

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** True if the feed no longer reaches back to the previous attempt (API §8, historyDays), so changes may be missing. */
export function hasOutlastedHistory({ landed: { triedAt }, isAtWork, account, now }: RunFacts): boolean {
  const days = account?.historyDays ?? null;
  const tried = isAtWork ? triedAt.before : triedAt.last;
  return days !== null && tried !== undefined && now.getTime() - Date.parse(tried) > days * DAY_MS;
}

/**
 * Decides how the run updates the lake. A later attempt changes the decision if the service refuses the cursor, or if
 * the feed is no longer available, incomplete or too short. It also does so if another program has changed the tables,
 * or if a complete comparison has become impossible.
 * @throws PricelakeError `plan_refuses` if `feed` is required and the plan doesn't include it
 */
export function decideMode(facts: RunFacts): ModeDecision {
  const { account, landed, cursorRefused, unnamed } = facts;
  const decision = landed.decision && pickChoice(landed.decision);
  if (decision?.mode === 'feed' && cursorRefused !== undefined) {
    // The feed no longer has all changes that the lake needs, so the run makes a complete copy instead.
    const reason = `the service rejects the feed cursor: ${cursorRefused}`;
    const { overlap: _, ...kept } = decision;
    return { ...keep({ ...kept, mode: 'snapshot', reason }), isNew: true };
  }
  if (decision?.mode === 'feed' && unnamed !== undefined) {
    const changes =
      unnamed === 1n ? "a change that doesn't name its item" : `${unnamed} changes that don't name their items`;
    const reason = `the feed has ${changes}`;
    return { ...keep({ ...decision, mode: 'poll', reason }), isNew: true };
  }
  if (account === undefined) return keep(decision ?? { mode: 'feed', reason: '' });
  const isDecidedNow = facts.isAtWork && landed.decision?.isOfThisTry === true;
  if (decision !== undefined && (isDecidedNow || isStillGood(facts, account, decision))) return keep(decision);
  const after = facts.lake.overlap?.after;
  const choice = { ...chooseMode(facts, account), ...(after === undefined ? {} : { overlap: after }) };
  const found = findAdded(facts, (items) => explainNoCopy(facts, account, items));
  const { added = [], waiting } = found ?? {};
  const are = added.length === 1 ? 'is' : 'are';
  return {
    decision:
      added.length === 0
        ? choice
        : { ...choice, reason: `${choice.reason}; ${nameDatasets(added)} ${are} new to the lake`, added },
    isNew: true,
    waiting,
    lacksReadable: found === undefined,
  };
}

function pickChoice({ mode, reason, added, overlap }: ModeChoice): ModeChoice {
  return { mode, reason, ...(added === undefined ? {} : { added }), ...(overlap === undefined ? {} : { overlap }) };
}

function keep(decision: ModeChoice): ModeDecision {
  return { decision, isNew: false, waiting: undefined, lacksReadable: false };
}

function isStillGood(facts: RunFacts, account: AccountFacts, { mode }: ModeChoice): boolean {
  const { landed, lake } = facts;
  // If another program has committed to the tables, only a complete copy repairs the tables.
  if (lake.isDamaged) return mode === 'snapshot';
  if (mode === 'feed') return landed.feed.done !== undefined || (account.hasFeed && !hasOutlastedHistory(facts));
  return mode !== 'snapshot' || !isCopyStuck(facts, account);
}

/** True if a complete comparison can't start soon. It has downloaded nothing, and a failed export must wait. */
function isCopyStuck(facts: RunFacts, account: AccountFacts): boolean {
  const { lake, landed, now } = facts;
  const hasCopy = listEnded(landed.exports).length > 0 || landed.pages.poll.pages > 0;
  if (!lake.hasItems || hasCopy || findBrokenCopy(account.broken, now) === undefined) return false;
  return explainNoCopy(facts, account, lake.rows) !== undefined;
}

function chooseMode(facts: RunFacts, account: AccountFacts): ModeChoice {
  const { settings, lake } = facts;
  const { hasFeed, name, upgradeUrl } = account;
  if (settings.mode === 'feed' && !hasFeed) {
    throw new PricelakeError(
      'plan_refuses',
      `source.mode is feed, but the "${name}" plan doesn't include the change feed`,
      {
        limit: 'changeFeed',
        hint: 'Set source.mode: auto to continue without the feed, or change the plan.',
        upgradeUrl,
      },
    );
  }
  if (!lake.hasItems) return { mode: 'snapshot', reason: 'the lake has no items yet' };
  if (settings.mode === 'snapshot') return { mode: 'snapshot', reason: 'a complete copy was requested' };
  const isDue = isReconcileDue(facts);
  const copyRefusal = explainNoCopy(facts, account, lake.rows);
  if (isDue && copyRefusal === undefined) return { mode: 'snapshot', reason: 'a complete comparison is due' };
  const later = isDue ? `; a complete comparison is due, but ${copyRefusal}` : '';
  if (settings.mode === 'poll') return { mode: 'poll', reason: `source.mode is poll${later}` };
  if (!hasFeed) return { mode: 'poll', reason: `the plan has no change feed${later}` };
  if (!lake.hasCursor) return { mode: 'poll', reason: `the lake has no feed cursor yet${later}` };
  const lost = explainGap(facts, account);
  if (lost === undefined && isLookDue(facts)) {
    const reason = `it is unknown which of ${lake.unknownListing?.items} items are still listed`;
    return { mode: 'poll', reason: `${reason}${later}` };
  }
  if (lost === undefined) return { mode: 'feed', reason: `the feed continues from the cursor${later}` };
  if (copyRefusal === undefined) return { mode: 'snapshot', reason: lost };
  return { mode: 'poll', reason: `${lost}, and ${copyRefusal}` };
}

function isReconcileDue({ settings: { reconcileEvery }, lake: { snapshotAt }, now }: RunFacts): boolean {
  if (reconcileEvery === undefined) return false;
  return snapshotAt === undefined || now.getTime() - snapshotAt.getTime() >= reconcileEvery;
}

/**
 * True if the run should read items to find those that are no longer listed. In the first hour, every run does this,
 * because responses may lag behind the feed. Later, one run a day does this. It may read all items each time, because a
 * service's counts may never match its pages.
 */
function isLookDue({ lake: { unknownListing }, now }: RunFacts): boolean {
  if (unknownListing === undefined) return false;
  const { since, lookedAt } = unknownListing;
  if (now.getTime() - since.getTime() <= HOUR_MS || lookedAt === undefined) return true;
  // An hour less than a day is enough, because a daily run might otherwise be a few seconds too early.
  return now.getTime() - lookedAt.getTime() >= DAY_MS - HOUR_MS;
}

/** Describes the missing time if the feed doesn't reach back to when the lake was last current (API §8). */
function explainGap({ lake: { caughtUpAt }, now }: RunFacts, { historyDays }: AccountFacts): string | undefined {
  if (historyDays === null || caughtUpAt === undefined) return undefined;
  const days = (now.getTime() - caughtUpAt.getTime()) / DAY_MS;
  if (days <= historyDays) return undefined;
  return `the feed was last read ${days.toFixed(1)} days ago and reaches back ${historyDays} days, so changes in between may be missing`;
}

/** Explains why neither exports nor pages can return the items this month. Returns undefined if one of them can. */
function explainNoCopy({ now }: RunFacts, { broken, allowance }: AccountFacts, items: bigint): string | undefined {
  const waiting = findBrokenCopy(broken, now);
  const choice = chooseCopy({
    items,
    exportRows: items,
    allowance,
    callsMade: 0n,
    pagesLanded: 0n,
    broken: waiting && refuseBroken(waiting),
  });
  if (choice.route === 'wait') return choice.refusal.message;
  return choice.thisMonth ? undefined : choice.reason;
}
