import type { RunMode } from '../tables/table.js';
import type { ModeChoice } from './choose-mode.js';
import { decideMode } from './decide-mode.js';
import type { WaitingDatasets } from './find-added.js';
import { type CopyPlan, planCopy } from './plan-copy.js';
import { type PollPlan, planPolls } from './plan-polls.js';
import type { Dataset } from './plan-shards.js';
import type { RunFacts } from './run-facts.js';

/** What a run does, and what the plan of it still lacks. `sync` executes it, `pricelake plan` prices it. */
export interface RunPlan {
  decision: ModeChoice;
  /** True where the run has to note the decision: it is not the one that its journal holds. */
  isDecisionNew: boolean;
  /** Datasets that would be copied as well if plan and budget allowed it. */
  waiting: WaitingDatasets | undefined;
  /** What the service or the lake is asked next, to plan what depends on it. */
  lacks: Lack | undefined;
  /** What the run keeps in sync: all that the key can read, or datasets one by one. */
  parts: Dataset[];
  /** Parts that are copied whole, new ones included. */
  copied: Dataset[];
  /** True where the datasets of the list are checked before anything is paid for. */
  checksDatasets: boolean;
  /** What the low watermark is taken of; undefined for a run by the feed alone. */
  lowWatermark: { parts: Dataset[]; feed: 'none' | 'known' | 'new' } | undefined;
  /** Undefined where nothing is copied, or its items aren't counted yet. */
  copy: CopyPlan | undefined;
  /** Polls behind the copy, in their order. */
  polls: PollPlan[];
  feed: FeedPlan;
  /** Items of which the runs before did not establish whether they are listed. */
  unknownListing: bigint;
  comparisons: ComparisonPlan;
}

/** Fields of `RunFacts`, in the order in which they are asked for. */
export type Lack = 'readable' | 'polledAt' | 'counts' | 'listed';

export interface FeedPlan {
  /** False where the plan has no feed. */
  isRead: boolean;
  starts: FeedStart[];
}

/** Where the feed of a part begins. */
export interface FeedStart {
  dataset: Dataset;
  /** Undefined until the low watermark is taken: then it begins there. */
  from: bigint | undefined;
  /** What a feed whose cursor is refused begins again for; undefined where that needs a complete copy. */
  beginsAgain?: bigint;
}

/** What a run that publishes asks for beside, to prove the copy. */
export interface ComparisonPlan {
  facets: boolean;
  products: 'all' | 'page' | 'none';
  /** Items that are read again. */
  sample: number;
}

/**
 * What a run does, from what is known. Pure: the same facts give the same plan, and what its journal says is among the
 * facts, so a run that continues keeps its decisions. Call it again when there are new facts.
 * @throws PricelakeError `plan_refuses` when `feed` is asked for and the plan has none
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
    checksDatasets: isRead && account !== undefined && settings.selection !== 'all' && !landed.hasWatermark,
    lowWatermark: isRead ? { parts: [...new Set([...parts, ...copied])], feed: chooseFeedMark(facts) } : undefined,
    copy,
    polls,
    feed: { isRead: account?.hasFeed ?? false, starts: planFeed(facts, mode, parts, added) },
    unknownListing: facts.lake.unknownListing?.items ?? 0n,
    comparisons: planComparisons(facts, mode, parts),
  };
}

/** How the low watermark marks the feed: `new` where the feed is read from about there on, and no further back. */
function chooseFeedMark({ account, lake, settings }: RunFacts): 'none' | 'known' | 'new' {
  if (account?.hasFeed !== true) return 'none';
  return lake.cursor === undefined && settings.history !== 'feed' ? 'new' : 'known';
}

/** Behind what the lake has of each part, or where the history that is wanted begins. */
function planFeed(
  { lake, settings, lowWatermark }: RunFacts,
  mode: RunMode,
  parts: readonly Dataset[],
  added: readonly bigint[],
): FeedStart[] {
  const isWanted = settings.history === 'feed';
  const mark = lowWatermark && (lowWatermark.from ?? lowWatermark.cursor ?? 0n);
  const first = isWanted ? 0n : mark;
  const begin = (dataset: Dataset) => {
    if (lake.cursor === undefined) return first;
    // The feed of all datasets can't be had for the new ones alone.
    if (dataset === undefined) return added.length > 0 && isWanted ? 0n : lake.cursor;
    return added.includes(dataset) ? first : lake.cursor;
  };
  const again = mode === 'feed' ? {} : { beginsAgain: lowWatermark?.cursor ?? 0n };
  return parts.map((dataset) => ({ dataset, from: begin(dataset), ...again }));
}

/** Of several datasets the service counts and groups each by itself, so there is nothing to compare with. */
function planComparisons(
  { settings: { proof, products } }: RunFacts,
  mode: RunMode,
  parts: readonly Dataset[],
): ComparisonPlan {
  const isOne = parts.length === 1;
  return {
    facets: mode === 'snapshot' && proof.facets && isOne,
    products: !isOne ? 'none' : products === 'all' ? 'all' : proof.products ? 'page' : 'none',
    sample: proof.sample,
  };
}
