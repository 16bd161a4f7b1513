import type { Dataset } from '../journal/run-entry.js';
import type { FeedOverlap } from '../tables/cursor-window.js';
import { decideMode, type ModeChoice } from './decide-mode.js';
import type { WaitingDatasets } from './find-added.js';
import { type CopyPlan, type PollPlan, planCopy, planPolls } from './plan-copy.js';
import { type ProofPlan, planProofs } from './plan-proofs.js';
import type { RunFacts } from './run-facts.js';

/** The work of a run. `sync` carries it out, and `pricelake plan` estimates its cost. */
export interface RunPlan {
  decision: ModeChoice;
  /** True if the decision isn't in the run's journal yet. */
  isDecisionNew: boolean;
  /** New datasets that the run can't copy yet, because of the account's plan or the budget; undefined if none. */
  waiting: WaitingDatasets | undefined;
  lacks: Lack | undefined;
  /** The datasets to keep in sync. A list with only undefined means all datasets that the key can read. */
  parts: Dataset[];
  copied: Dataset[];
  /** True if the run checks that the key can read the listed datasets, before it pays for anything. */
  checksDatasets: boolean;
  /** The datasets and the feed that the low watermark covers; undefined if the run reads only the feed. */
  lowWatermark: { parts: Dataset[]; feed: 'none' | 'known' | 'new' } | undefined;
  /** The plan for copying items; undefined if no dataset is copied. */
  copy: CopyPlan | undefined;
  /** The polls that follow the copy, in order. */
  polls: PollPlan[];
  feed: FeedPlan;
  /** The maximum number of items whose listing state earlier runs couldn't determine. */
  unknownListing: bigint;
  comparisons: ProofPlan;
}

/** The facts that a plan may be waiting for, in the order in which the planner needs them. */
export type Lack = 'readable' | 'polledAt' | 'counts' | 'listed';

interface FeedPlan {
  /** True if the run reads the feed; false if the account's plan doesn't include it. */
  isRead: boolean;
  starts: FeedStart[];
}

export interface FeedStart {
  dataset: Dataset;
  /** The cursor after which to read; undefined if the feed starts at a low watermark that isn't known yet. */
  from: bigint | undefined;
  /** The changes before `from` to read again; undefined if there are none. */
  overlap?: FeedOverlap | undefined;
  /** Changes up to this id happened before complete rows were read; undefined in mode `feed`. */
  watermark?: bigint;
}

/**
 * Plans a run. The same facts always result in the same plan. The journal is among the facts, so a resumed run keeps
 * its decisions. Call the function again when facts are added.
 * @throws PricelakeError `plan_refuses` if `feed` is required and the account's plan doesn't include it
 */
export function planRun(facts: RunFacts): RunPlan {
  const { account, settings, landed } = facts;
  const { decision, isNew, waiting, lacksReadable } = decideMode(facts);
  const { mode, added = [] } = decision;
  const parts: Dataset[] = settings.selection === 'all' ? [undefined] : [...settings.selection];
  const copied = mode === 'snapshot' ? parts : [...added];
  const isRead = mode !== 'feed' || added.length > 0;
  const copy = copied.length === 0 ? undefined : planCopy(facts, copied);
  const polled = parts.filter((dataset) => dataset === undefined || !added.includes(dataset));
  const polls = isRead ? planPolls(facts, { mode, parts, polled }) : [];
  const lacksPolledAt = mode === 'poll' && facts.polledAt === undefined;
  return {
    decision,
    isDecisionNew: isNew,
    waiting,
    lacks: lacksReadable ? 'readable' : lacksPolledAt ? 'polledAt' : copy?.lacks,
    parts,
    copied,
    checksDatasets: isRead && account !== undefined && settings.selection !== 'all' && landed.watermark === undefined,
    lowWatermark: isRead ? { parts: [...new Set([...parts, ...copied])], feed: chooseFeedMark(facts) } : undefined,
    copy,
    polls,
    feed: { isRead: account?.hasFeed ?? false, starts: planFeed(facts, decision, parts) },
    unknownListing: facts.lake.unknownListing?.items ?? 0n,
    comparisons: planProofs(facts, mode, parts),
  };
}

/** Returns `new` if the feed starts shortly before the watermark, `none` without a feed, or else `known`. */
function chooseFeedMark({ account, lake, settings }: RunFacts): 'none' | 'known' | 'new' {
  if (account?.hasFeed !== true) return 'none';
  return lake.cursor === undefined && settings.history !== 'feed' ? 'new' : 'known';
}

/** Returns where the feed of each dataset starts: after the lake's cursor, or at the start of the wanted history. */
function planFeed(
  { lake, settings, landed: { watermark } }: RunFacts,
  { mode, added = [], overlap }: ModeChoice,
  parts: readonly Dataset[],
): FeedStart[] {
  const isWanted = settings.history === 'feed';
  const mark = watermark && (watermark.from ?? watermark.cursor ?? 0n);
  const first = isWanted ? 0n : mark;
  const begin = (dataset: Dataset) => {
    if (lake.cursor === undefined) return first;
    // There is only one feed for all datasets. If a dataset is new, this feed is read again from its beginning.
    if (dataset === undefined) return added.length > 0 && isWanted ? 0n : lake.cursor;
    return added.includes(dataset) ? first : lake.cursor;
  };
  const rows = mode === 'feed' ? {} : { watermark: watermark?.cursor ?? 0n };
  const again = overlap === undefined ? {} : { overlap: lake.overlap };
  return parts.map((dataset) => {
    const from = begin(dataset);
    return { dataset, from, ...(from === lake.cursor ? again : {}), ...rows };
  });
}
