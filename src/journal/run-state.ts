import type { DatasetSelection } from '../tables/table.js';
import { type Calls, foldCalls, foldUsage, NO_CALLS, type UsageCounts } from './calls.js';
import { type Exports, foldExports, listEnded, NO_EXPORTS } from './exports.js';
import { type Events, type Feed, foldEvents, foldFeed, NO_EVENTS, NO_FEED } from './feed.js';
import { countBytes, foldPages, NO_PAGES, type PagesByKind } from './item-pages.js';
import type { Fold } from './journal.js';
import { foldListing, type Listing, NO_LISTING } from './listing.js';
import { foldPolls, type Polls } from './polls.js';
import {
  type Comparisons,
  foldComparisons,
  foldHydration,
  type Hydration,
  type LowWatermark,
  NO_COMPARISONS,
  NO_HYDRATION,
  readWatermark,
} from './reads.js';
import { type EntryOf, type RunEntry, runEntry } from './run-entry.js';
import { findNext, type RunStage } from './transitions.js';

/** The progress of a run, at any stage. */
export interface RunProgress {
  calls: Calls;
  usage: UsageCounts;
  /** Start of its last try and of the one before, ISO 8601. */
  triedAt: { last: string | undefined; before: string | undefined };
  /** Its mode, and why. */
  decision: (Pick<EntryOf<'decision'>, 'mode' | 'reason' | 'added'> & { isOfThisTry: boolean }) | undefined;
  events: Events;
  /** Histories of chosen items that it has taken over. */
  histories: EntryOf<'backfill'> | undefined;
  watermark: LowWatermark | undefined;
  exports: Exports;
  polls: Polls;
  feed: Feed;
  listing: Listing;
  hydration: Hydration;
  pages: PagesByKind;
  comparisons: Comparisons;
  /** The moment that dates what it finds. */
  moment: Pick<EntryOf<'normalize'>, 'at' | 'serviceAt'> | undefined;
  /** True when another program has typed and committed its items. */
  isMerged: boolean;
  /** Gates that a person waived. */
  waived: readonly string[];
}

const NOTHING: RunProgress = {
  calls: NO_CALLS,
  usage: { before: undefined, after: undefined },
  triedAt: { last: undefined, before: undefined },
  decision: undefined,
  events: NO_EVENTS,
  histories: undefined,
  watermark: undefined,
  exports: NO_EXPORTS,
  polls: new Map(),
  feed: NO_FEED,
  listing: NO_LISTING,
  hydration: NO_HYDRATION,
  pages: NO_PAGES,
  comparisons: NO_COMPARISONS,
  moment: undefined,
  isMerged: false,
  waived: [],
};

/** Nothing has been written down. */
export interface NoRun extends RunProgress {
  stage: 'none';
}

interface Known extends RunProgress {
  begin: EntryOf<'begin'>;
}

/** It has asked for nothing that depends on its datasets. */
export interface Begun extends Known {
  stage: 'begun';
}

/** It has asked for something that depends on its datasets, which now can't change. */
export interface Asked extends Known {
  stage: 'asked';
}

interface WithDatasets extends Known {
  /** Datasets as the service described them last. */
  datasets: EntryOf<'datasets'>;
}

/** All has landed, except items about which its changes say too little. */
export interface Landed extends WithDatasets {
  stage: 'landed';
}

/** These have landed too, so no call is needed any more. */
export interface Complete extends WithDatasets {
  stage: 'complete';
}

/** The row equation is written down. */
export interface Settled extends WithDatasets {
  stage: 'settled';
  tally: EntryOf<'tally'>;
}

/** A gate failed. */
export interface Held extends WithDatasets {
  stage: 'held';
  tally: EntryOf<'tally'>;
  /** Gates that hold the batch. */
  checks: readonly string[];
}

export interface Ended extends WithDatasets {
  stage: 'ended';
  tally: EntryOf<'tally'>;
  /** When, ISO 8601. */
  endedAt: string;
}

/** A run whose landed bytes may be typed and applied. */
export type Applicable = Landed | Complete | Settled | Held;
/** A run whose tables may be committed. */
export type Publishable = Settled | Held;
/** A run that its journal names. */
export type AnyRun = Begun | Asked | Applicable | Ended;
/** The stage of a run, with the facts that it guarantees. */
export type RunState = NoRun | AnyRun;

/** Advice for the damaged journal of an unpublished run. */
export const START_AGAIN =
  "Move this run's folder away. The next `pricelake sync` begins a new run, and fetches again what this one had not published.";

/** A run's journal, as the state of the run. */
export const RUN_FOLD: Fold<RunEntry, RunState> = {
  entry: runEntry,
  start: { ...NOTHING, stage: 'none' },
  refuse: ({ stage }, entry) => {
    if (findNext(stage, entry) !== undefined) return undefined;
    return stage === 'none'
      ? 'its first line is gone: a journal begins with the beginning of a run'
      : `${entry.type} can't follow: the run is ${stage}`;
  },
  step: (state, entry) => advance(state, foldProgress(state, entry), findNext(state.stage, entry), entry),
  isSealed: true,
  advice: START_AGAIN,
};

function foldProgress(run: RunProgress, entry: RunEntry): RunProgress {
  return {
    calls: foldCalls(run.calls, entry),
    usage: foldUsage(run.usage, entry),
    triedAt: foldTries(run.triedAt, entry),
    decision: foldDecision(run.decision, entry),
    events: foldEvents(run.events, entry),
    histories: entry.type === 'backfill' ? entry : run.histories,
    watermark: entry.type === 'watermark' ? readWatermark(entry) : run.watermark,
    exports: foldExports(run.exports, entry),
    polls: foldPolls(run.polls, entry),
    feed: foldFeed(run.feed, entry),
    listing: foldListing(run.listing, entry),
    hydration: foldHydration(run.hydration, entry),
    pages: foldPages(run.pages, entry),
    comparisons: foldComparisons(run.comparisons, entry),
    moment: entry.type === 'normalize' ? entry : run.moment,
    isMerged: run.isMerged || entry.type === 'merged',
    waived: entry.type === 'waived' ? [...run.waived, ...entry.checks] : run.waived,
  };
}

function foldTries(tried: RunProgress['triedAt'], entry: RunEntry): RunProgress['triedAt'] {
  return entry.type === 'begin' || entry.type === 'try' ? { last: entry.at, before: tried.last } : tried;
}

function foldDecision(decision: RunProgress['decision'], entry: RunEntry): RunProgress['decision'] {
  if (entry.type === 'try') return decision && { ...decision, isOfThisTry: false };
  if (entry.type !== 'decision') return decision;
  const { mode, reason, added } = entry;
  return { mode, reason, ...(added === undefined ? {} : { added }), isOfThisTry: true };
}

/** Adds the facts that the next stage guarantees. */
function advance(state: RunState, progress: RunProgress, to: RunStage | undefined, entry: RunEntry): RunState {
  if (to === 'begun' && entry.type === 'begin') return { ...progress, stage: to, begin: entry };
  if (to === 'asked' && state.stage === 'begun') return { ...state, ...progress, stage: to };
  if (to === 'landed' && state.stage === 'asked' && entry.type === 'datasets')
    return { ...state, ...progress, stage: to, datasets: entry };
  if (to === 'complete' && state.stage === 'landed') return { ...state, ...progress, stage: to };
  if (to === 'settled' && state.stage === 'complete' && entry.type === 'tally')
    return { ...state, ...progress, stage: to, tally: entry };
  if (state.stage === 'settled' || state.stage === 'held') {
    if (to === 'held' && entry.type === 'held') return { ...state, ...progress, stage: to, checks: entry.checks };
    if (to === 'ended' && entry.type === 'end') return { ...state, ...progress, stage: to, endedAt: entry.at };
  }
  if (to === state.stage) return { ...state, ...progress };
  throw new Error(`${entry.type} does not lead from ${state.stage} to ${to}`);
}

/** True if the service was asked for something that depends on the run's datasets, which then can't change. */
export function hasAsked(state: RunState): state is Exclude<AnyRun, Begun> {
  return state.stage !== 'none' && state.stage !== 'begun';
}

/** True when the run has what it types and applies. */
export function isApplicable(state: RunState): state is Applicable {
  return state.stage === 'landed' || isComplete(state);
}

/** True when the run has made all calls that it needs. */
export function isComplete(state: RunState): state is Exclude<Applicable, Landed> {
  return state.stage === 'complete' || isPublishable(state);
}

export function isPublishable(state: RunState): state is Publishable {
  return state.stage === 'settled' || state.stage === 'held';
}

/** The datasets that a run copies, chosen when it began. */
export function readSelection({ datasets }: Pick<EntryOf<'begin'>, 'datasets'>): DatasetSelection {
  return datasets ?? 'all';
}

/** Rows by what brought them. */
export const LANDED_KINDS = ['exports', 'feed', 'events', 'histories', 'polled', 'listed', 'hydrated'] as const;
export type LandedKind = (typeof LANDED_KINDS)[number];

/** Rows and bytes that have landed. */
export interface LandedRows {
  rows: bigint;
  bytes: number;
}

/** Counts whole exports and those that the service cut, but no lost ones. */
export function countLanded({ exports, feed, events, histories, pages }: RunProgress): Record<LandedKind, LandedRows> {
  const ended = listEnded(exports);
  const segments = ended.flatMap((one) => one.segments);
  const ofPages = (kind: 'poll' | 'listing' | 'hydrate') => ({
    rows: pages[kind].rows,
    bytes: countBytes(pages[kind]),
  });
  return {
    exports: {
      rows: ended.reduce((sum, { landed }) => sum + landed, 0n),
      bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    feed: { rows: BigInt(feed.changes), bytes: feed.bytes },
    events: { rows: BigInt(events.changes), bytes: events.bytes },
    histories: { rows: BigInt(histories?.rows ?? 0), bytes: histories?.bytes ?? 0 },
    polled: ofPages('poll'),
    listed: ofPages('listing'),
    hydrated: ofPages('hydrate'),
  };
}

/** Rows and bytes of some kinds together. */
export function sumLanded(progress: RunProgress, kinds: readonly LandedKind[] = LANDED_KINDS): LandedRows {
  const landed = countLanded(progress);
  return {
    rows: kinds.reduce((sum, kind) => sum + landed[kind].rows, 0n),
    bytes: kinds.reduce((sum, kind) => sum + landed[kind].bytes, 0),
  };
}
