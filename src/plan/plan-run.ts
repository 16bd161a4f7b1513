import type { Dataset } from '../journal/run-entry.js';
import type { FeedOverlap } from '../tables/cursor-window.js';
import { decideMode, type ModeChoice } from './decide-mode.js';
import type { WaitingDatasets } from './find-added.js';
import { type CopyPlan, type PollPlan, planCopy, planPolls } from './plan-copy.js';
import { type ProofPlan, planProofs } from './plan-proofs.js';
import type { RunFacts } from './run-facts.js';

/** The work of a run. `sync` executes it, and `pricelake plan` estimates its cost. */
export interface RunPlan {
  decision: ModeChoice;
  /** True if the decision isn't in the run's journal yet. */
  isDecisionNew: boolean;
  /** Datasets that the plan or the budget doesn't allow the run to copy. */
  waiting: WaitingDatasets | undefined;
  lacks: Lack | undefined;
  /** The parts that the run keeps in sync: single datasets, or undefined for all that the key can read. */
  parts: Dataset[];
  copied: Dataset[];
  /** True if the run verifies the listed datasets before it pays for anything. */
  checksDatasets: boolean;
  /** The parts and the feed from which the low watermark is read; undefined for a run that reads only the feed. */
  lowWatermark: { parts: Dataset[]; feed: 'none' | 'known' | 'new' } | undefined;
  /** The plan of the copy; undefined if nothing is copied. */
  copy: CopyPlan | undefined;
  /** Polls to make after the copy, in order. */
  polls: PollPlan[];
  feed: FeedPlan;
  /** The number of items whose listing state earlier runs couldn't determine. */
  unknownListing: bigint;
  comparisons: ProofPlan;
}

/** Facts that may be missing, in the order in which the plan needs them. */
export type Lack = 'readable' | 'polledAt' | 'counts' | 'listed';

interface FeedPlan {
  /** True if the feed is read; false if the account's plan doesn't include it. */
  isRead: boolean;
  starts: FeedStart[];
}

export interface FeedStart {
  dataset: Dataset;
  /** The cursor to read from; undefined until the low watermark, where the feed then starts, is known. */
  from: bigint | undefined;
  /** Changes before `from` that are read again; undefined if there are none. */
  overlap?: FeedOverlap | undefined;
  /** Changes up to this id happened before whole rows are read; undefined in `feed` mode. */
  watermark?: bigint;
}

/**
 * Plans a run. A pure function: the same facts give the same plan. The journal is one of the facts, so a resumed run
 * keeps its decisions. Call it again when facts are added.
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

/** Returns `none` without a feed, `new` if it is read only from shortly before the watermark, else `known`. */
function chooseFeedMark({ account, lake, settings }: RunFacts): 'none' | 'known' | 'new' {
  if (account?.hasFeed !== true) return 'none';
  return lake.cursor === undefined && settings.history !== 'feed' ? 'new' : 'known';
}

/** Returns where each part's feed starts: after the lake's cursor, or at the beginning of the wanted history. */
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
    // A single feed serves all datasets, so it starts from the beginning for new datasets.
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
