import type { RunEntry } from './run-entry.js';

export const RUN_STAGES = ['none', 'begun', 'asked', 'landed', 'complete', 'settled', 'held', 'ended'] as const;
export type RunStage = (typeof RUN_STAGES)[number];

const ofKind = <Kind extends string, Type extends RunEntry['type']>(kind: Kind, ...types: Type[]) =>
  Object.fromEntries(types.map((type) => [type, kind])) as Record<Type, Kind>;

/** The kind of each entry. All entries of a kind are allowed in the same stages. */
const KINDS = {
  begin: 'begin',
  ...ofKind('note', 'try', 'calls', 'usage.before', 'usage.after', 'decision', 'chosen'),
  ...ofKind('ask', 'watermark', 'feed.bound', 'feed.part', 'feed.page', 'feed.done', 'probe.site', 'probe.done'),
  ...ofKind('land', 'source.rows', 'source.done', 'poll.round', 'poll.page', 'poll.done'),
  ...ofKind('land', 'shards', 'export.begin', 'export.segment', 'export.cut', 'export.done'),
  datasets: 'datasets',
  ...ofKind('read', 'normalize', 'listing.counts', 'listing.plan', 'listing.page', 'listing.read'),
  ...ofKind('read', 'listing.gone', 'listing.acted', 'listing.done'),
  ...ofKind('read', 'hydrate.export', 'hydrate.page', 'hydrate.again', 'partial'),
  'hydrate.done': 'hydrate.done',
  ...ofKind('compare', 'facets', 'products.page', 'products.done', 'sample.page', 'sample.done'),
  tally: 'tally',
  waived: 'waived',
  held: 'held',
  end: 'end',
} as const satisfies Record<RunEntry['type'], string>;

export type EntryKind = (typeof KINDS)[RunEntry['type']];
export const ENTRY_KINDS: readonly EntryKind[] = [...new Set(Object.values(KINDS))];

type Transitions = Partial<Record<EntryKind, RunStage>>;

const stay = (stage: RunStage, ...kinds: EntryKind[]): Transitions =>
  Object.fromEntries(kinds.map((kind) => [kind, stage]));

/**
 * Maps each stage and kind of entry to the next stage. A stage doesn't allow a kind of entry that it doesn't list. Runs
 * follow this table, and SPEC.md shows it.
 */
export const RUN_TRANSITIONS: Record<RunStage, Transitions> = {
  none: { begin: 'begun' },
  begun: { ...stay('begun', 'note', 'land', 'compare'), ask: 'asked' },
  asked: { ...stay('asked', 'note', 'ask', 'land', 'compare'), datasets: 'landed' },
  landed: { ...stay('landed', 'note', 'ask', 'land', 'read', 'compare'), 'hydrate.done': 'complete' },
  // A rebuild that replays a run writes the entry `waived` before the row counts.
  complete: { ...stay('complete', 'note', 'ask', 'land', 'read', 'compare', 'waived'), tally: 'settled' },
  settled: { ...stay('settled', 'note', 'ask', 'land', 'compare', 'waived'), held: 'held', end: 'ended' },
  held: { ...stay('held', 'note', 'ask', 'land', 'compare', 'waived', 'held'), end: 'ended' },
  ended: {},
};

/** Returns the stage after an entry, or undefined if the entry isn't allowed. */
export function findNext(stage: RunStage, { type }: Pick<RunEntry, 'type'>): RunStage | undefined {
  return RUN_TRANSITIONS[stage][KINDS[type]];
}
