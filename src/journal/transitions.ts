import type { RunEntry } from './run-entry.js';

/** Stages of a run by its journal (SPEC.md). */
export const RUN_STAGES = ['none', 'begun', 'asked', 'landed', 'complete', 'settled', 'held', 'ended'] as const;
export type RunStage = (typeof RUN_STAGES)[number];

/** The kind of each entry: entries of a kind are allowed at the same stages. */
const KINDS = {
  begin: 'begin',
  try: 'note',
  calls: 'note',
  'usage.before': 'note',
  'usage.after': 'note',
  decision: 'note',
  chosen: 'note',
  watermark: 'ask',
  'feed.bound': 'ask',
  'feed.part': 'ask',
  'feed.page': 'ask',
  'feed.done': 'ask',
  'events.done': 'land',
  event: 'land',
  backfill: 'land',
  shards: 'land',
  'export.begin': 'land',
  'export.segment': 'land',
  'export.cut': 'land',
  'export.done': 'land',
  'poll.round': 'land',
  'poll.page': 'land',
  'poll.done': 'land',
  datasets: 'datasets',
  normalize: 'read',
  'listing.counts': 'read',
  'listing.plan': 'read',
  'listing.page': 'read',
  'listing.read': 'read',
  'listing.gone': 'read',
  'listing.acted': 'read',
  'listing.done': 'read',
  'hydrate.export': 'read',
  'hydrate.page': 'read',
  'hydrate.again': 'read',
  'hydrate.done': 'hydrate.done',
  facets: 'compare',
  'products.page': 'compare',
  'products.done': 'compare',
  'sample.page': 'compare',
  'sample.done': 'compare',
  merged: 'merged',
  tally: 'tally',
  waived: 'waived',
  held: 'held',
  end: 'end',
} as const satisfies Record<RunEntry['type'], string>;

export type EntryKind = (typeof KINDS)[RunEntry['type']];
export const ENTRY_KINDS: readonly EntryKind[] = [...new Set(Object.values(KINDS))];

/** The next stage after an entry of each kind; an absent kind is not allowed. The fold uses it, and SPEC.md shows it. */
export const RUN_TRANSITIONS: Record<RunStage, Partial<Record<EntryKind, RunStage>>> = {
  none: { begin: 'begun' },
  begun: { note: 'begun', ask: 'asked', land: 'begun', compare: 'begun' },
  asked: { note: 'asked', ask: 'asked', land: 'asked', datasets: 'landed', compare: 'asked' },
  landed: {
    ...{ note: 'landed', ask: 'landed', land: 'landed', read: 'landed', 'hydrate.done': 'complete' },
    ...{ compare: 'landed', merged: 'landed' },
  },
  // A run that is done again from its kept bytes has waived gates here, before its tally.
  complete: {
    ...{ note: 'complete', ask: 'complete', land: 'complete', read: 'complete' },
    ...{ compare: 'complete', merged: 'complete', tally: 'settled', waived: 'complete' },
  },
  settled: {
    ...{ note: 'settled', ask: 'settled', land: 'settled', compare: 'settled' },
    ...{ merged: 'settled', waived: 'settled', held: 'held', end: 'ended' },
  },
  held: {
    ...{ note: 'held', ask: 'held', land: 'held', compare: 'held' },
    ...{ merged: 'held', waived: 'held', held: 'held', end: 'ended' },
  },
  ended: {},
};

/** The next stage after an entry; undefined if it is not allowed. */
export function findNext(stage: RunStage, { type }: Pick<RunEntry, 'type'>): RunStage | undefined {
  return RUN_TRANSITIONS[stage][KINDS[type]];
}
