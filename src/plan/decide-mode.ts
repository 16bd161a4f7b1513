import { PricelakeError } from '../io/errors.js';
import { findBrokenCopy, refuseBroken } from './broken-exports.js';
import { chooseCopy } from './choose-copy.js';
import { chooseMode, type ModeChoice } from './choose-mode.js';
import { findAdded, nameDatasets, type WaitingDatasets } from './find-added.js';
import type { AccountFacts, RunFacts } from './run-facts.js';

interface ModeDecision {
  decision: ModeChoice;
  /** True if the journal does not hold it yet. */
  isNew: boolean;
  waiting: WaitingDatasets | undefined;
  /** True if the decision needs the key's datasets, which are unknown. */
  lacksReadable: boolean;
}

const DAY_MS = 24 * 3600 * 1000;

/** True if the last try was longer ago than the feed reaches back (section 8, historyDays). */
export function hasOutlastedHistory({ landed: { triedAt }, account, now }: RunFacts): boolean {
  const days = account?.historyDays ?? null;
  return days !== null && triedAt !== undefined && now.getTime() - triedAt.getTime() > days * DAY_MS;
}

/**
 * Decides how the run brings the lake up to date. A decision holds for all tries, with two exceptions: the feed is
 * lost, too short, incomplete or refuses the cursor; or a complete comparison can't be had now.
 */
export function decideMode(facts: RunFacts): ModeDecision {
  const { account, landed, cursorRefused } = facts;
  const { decision, isDecidedNow } = landed;
  if (cursorRefused !== undefined && decision?.mode === 'feed') {
    // The feed has forgotten changes that the lake lacks, and only a complete copy brings them.
    const reason = `the service refuses the cursor of the feed: ${cursorRefused}`;
    const { added } = decision;
    return { ...keep({ mode: 'snapshot', reason, ...(added === undefined ? {} : { added }) }), isNew: true };
  }
  if (facts.unnamed !== undefined && decision?.mode === 'feed') {
    const changes = facts.unnamed === 1n ? 'a change' : `${facts.unnamed} changes`;
    const reason = `the feed tells of ${changes} without naming the items`;
    const { added } = decision;
    return { ...keep({ mode: 'poll', reason, ...(added === undefined ? {} : { added }) }), isNew: true };
  }
  if (account === undefined) return keep(decision ?? { mode: 'feed', reason: '' });
  if (decision !== undefined && (isDecidedNow || isStillGood(facts, account, decision))) return keep(decision);
  const choice = chooseKnownMode(facts, account);
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

function keep(decision: ModeChoice): ModeDecision {
  return { decision, isNew: false, waiting: undefined, lacksReadable: false };
}

function isStillGood(facts: RunFacts, account: AccountFacts, { mode }: ModeChoice): boolean {
  const { landed, lake } = facts;
  // Only a complete copy repairs changes of another program.
  if (lake.isDamaged) return mode === 'snapshot';
  if (mode === 'feed') return landed.isFeedDone || (account.hasFeed && !hasOutlastedHistory(facts));
  return mode !== 'snapshot' || !isCopyStuck(facts, account);
}

/** A complete comparison can be dropped if nothing has landed and its export must wait. */
function isCopyStuck(facts: RunFacts, account: AccountFacts): boolean {
  const { lake, landed, now } = facts;
  if (!lake.hasItems || landed.hasCopy || findBrokenCopy(account.broken, now) === undefined) return false;
  return explainNoCopy(facts, account, lake.rows) !== undefined;
}

function chooseKnownMode(facts: RunFacts, account: AccountFacts): ModeChoice {
  const { settings, lake, now } = facts;
  const { hasFeed, historyDays, name, upgradeUrl } = account;
  try {
    return chooseMode({
      wanted: settings.mode,
      hasItems: lake.hasItems,
      hasCursor: lake.hasCursor,
      hasFeed,
      historyDays,
      caughtUpAt: lake.caughtUpAt,
      snapshotAt: lake.snapshotAt,
      unknownListing: lake.unknownListing,
      reconcileEvery: settings.reconcileEvery,
      copyRefusal: explainNoCopy(facts, account, lake.rows),
      now,
    });
  } catch (error) {
    if (!(error instanceof PricelakeError)) throw error;
    throw new PricelakeError(error.code, `${error.message} (plan "${name}")`, { ...error.facts, upgradeUrl });
  }
}

/** Explains why neither exports nor pages can bring the items this month; undefined if they can. */
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
