import type { DatasetSelection } from '../tables/table.js';
import { CALLS, USAGE } from './calls.js';
import { EXPORTS, listEnded } from './exports.js';
import { FEED } from './feed.js';
import type { Fold } from './journal.js';
import { LISTING } from './listing.js';
import { COMPARISONS, countBytes, HYDRATION, PAGES, POLLS, PROBES, WATERMARK } from './reads.js';
import { type EntryOf, type Part, type RunEntry, runEntry } from './run-entry.js';
import { SOURCES, sumSources } from './sources.js';
import { findNext, type RunStage } from './transitions.js';

type Decision = Pick<EntryOf<'decision'>, 'mode' | 'reason' | 'added' | 'overlap'> & { isOfThisTry: boolean };

const DECISION: Part<Decision | undefined> = {
  start: undefined,
  step(decision, entry) {
    if (entry.type === 'try') return decision && { ...decision, isOfThisTry: false };
    if (entry.type !== 'decision') return decision;
    const { type: _, calls: __, ...decided } = entry;
    return { ...decided, isOfThisTry: true };
  },
};

const TRIED: Part<{ last: string | undefined; before: string | undefined }> = {
  start: { last: undefined, before: undefined },
  step: (tried, entry) => {
    return entry.type === 'begin' || entry.type === 'try' ? { last: entry.at, before: tried.last } : tried;
  },
};

function keepLast<Type extends RunEntry['type']>(type: Type): Part<EntryOf<Type> | undefined> {
  return { start: undefined, step: (last, entry) => (entry.type === type ? (entry as EntryOf<Type>) : last) };
}

const WAIVED: Part<readonly string[]> = {
  start: [],
  step: (waived, entry) => (entry.type === 'waived' ? [...waived, ...entry.checks] : waived),
};

const PARTS = {
  calls: CALLS,
  usage: USAGE,
  /** The times at which the current process and the previous process started working on the run (ISO 8601). */
  triedAt: TRIED,
  decision: DECISION,
  sources: SOURCES,
  watermark: WATERMARK,
  exports: EXPORTS,
  polls: POLLS,
  feed: FEED,
  probes: PROBES,
  listing: LISTING,
  hydration: HYDRATION,
  pages: PAGES,
  comparisons: COMPARISONS,
  moment: keepLast('normalize'),
  waived: WAIVED,
};

export type RunProgress = { [Name in keyof typeof PARTS]: (typeof PARTS)[Name]['start'] };

function makeProgress(make: <State>(part: Part<State>, name: keyof RunProgress) => State): RunProgress {
  const parts = Object.entries(PARTS) as [keyof RunProgress, Part<unknown>][];
  return Object.fromEntries(parts.map(([name, part]) => [name, make(part, name)])) as RunProgress;
}

interface Begun {
  begin: EntryOf<'begin'>;
}

interface Landed extends Begun {
  datasets: EntryOf<'datasets'>;
}

interface Settled extends Landed {
  tally: EntryOf<'tally'>;
}

interface Guaranteed {
  none: object;
  begun: Begun;
  asked: Begun;
  landed: Landed;
  complete: Landed;
  settled: Settled;
  held: Settled & { checks: readonly string[] };
  ended: Settled & { endedAt: string };
}

export type RunAt<Stage extends RunStage> = { [One in Stage]: RunProgress & Guaranteed[One] & { stage: One } }[Stage];
export type RunState = RunAt<RunStage>;
export type AnyRun = RunAt<Exclude<RunStage, 'none'>>;
/** A run that has downloaded all rows, so that they can be converted and applied. */
export type Applicable = RunAt<'landed' | 'complete' | 'settled' | 'held'>;
type Complete = RunAt<'complete' | 'settled' | 'held'>;
/** A run whose tables may be committed. */
export type Publishable = RunAt<'settled' | 'held'>;
export type Ended = RunAt<'ended'>;

export const START_AGAIN =
  "Move this run's folder away. The next `pricelake sync` starts a new run, and fetches the unpublished data again.";

export const RUN_FOLD: Fold<RunEntry, RunState> = {
  entry: runEntry,
  start: { ...makeProgress(({ start }) => start), stage: 'none' },
  refuse: ({ stage }, entry) => {
    if (findNext(stage, entry) !== undefined) return undefined;
    return stage === 'none'
      ? 'its first line is missing: a journal starts with the beginning of a run'
      : `${entry.type} can't follow: the run is ${stage}`;
  },
  step: advance,
  seal: 'chain',
  advice: START_AGAIN,
};

/** Returns the state after an entry. The facts that a stage guarantees come from the entry that begins this stage. */
function advance(state: RunState, entry: RunEntry): RunState {
  const progress = makeProgress((part, name) => part.step(state[name] as typeof part.start, entry));
  return { ...state, ...progress, ...readFacts(entry), stage: findNext(state.stage, entry) } as RunState;
}

function readFacts(entry: RunEntry): Partial<Guaranteed['held'] & Guaranteed['ended']> {
  if (entry.type === 'begin') return { begin: entry };
  if (entry.type === 'datasets') return { datasets: entry };
  if (entry.type === 'tally') return { tally: entry };
  if (entry.type === 'held') return { checks: entry.checks };
  return entry.type === 'end' ? { endedAt: entry.at } : {};
}

/** True if a call has used the run's list of datasets. From then on, the list must stay the same. */
export function hasAsked(state: RunState): state is RunAt<Exclude<RunStage, 'none' | 'begun'>> {
  return state.stage !== 'none' && state.stage !== 'begun';
}

/** True if the run has downloaded all rows that it converts and applies. */
export function isApplicable(state: RunState): state is Applicable {
  return state.stage === 'landed' || isComplete(state);
}

/** True if the run has all data that it publishes. It then needs no more calls. */
export function isComplete(state: RunState): state is Complete {
  return state.stage === 'complete' || isPublishable(state);
}

export function isPublishable(state: RunState): state is Publishable {
  return state.stage === 'settled' || state.stage === 'held';
}

export function readSelection({ datasets }: Pick<EntryOf<'begin'>, 'datasets'>): DatasetSelection {
  return datasets ?? 'all';
}

export const LANDED_KINDS = ['exports', 'feed', 'sources', 'polled', 'listed', 'hydrated'] as const;
export type LandedKind = (typeof LANDED_KINDS)[number];

/** The number of downloaded rows, and their size in bytes. */
export interface LandedRows {
  rows: bigint;
  bytes: number;
}

/** Counts downloaded rows and bytes of each kind. Includes exports that were cut off, but not interrupted exports. */
export function countLanded({ exports, feed, sources, pages }: RunProgress): Record<LandedKind, LandedRows> {
  const ended = listEnded(exports);
  const segments = ended.flatMap((one) => one.segments);
  const { rows, bytes } = sumSources(sources);
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
    sources: { rows, bytes },
    polled: ofPages('poll'),
    listed: ofPages('listing'),
    hydrated: ofPages('hydrate'),
  };
}

/** Adds up the rows and bytes of the given kinds. */
export function sumLanded(progress: RunProgress, kinds: readonly LandedKind[] = LANDED_KINDS): LandedRows {
  const landed = countLanded(progress);
  return {
    rows: kinds.reduce((sum, kind) => sum + landed[kind].rows, 0n),
    bytes: kinds.reduce((sum, kind) => sum + landed[kind].bytes, 0),
  };
}
