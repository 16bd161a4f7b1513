import type { JournalEntry } from '../landing/journal-entry.js';

/** How far a run is, as its journal and the tables say (SPEC.md). */
export const RUN_STATES = ['none', 'begun', 'asked', 'landed', 'settled', 'held', 'publishing', 'ended'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** What can happen to a run and to its tables. */
export const EVENTS = [
  'call answered',
  'bytes synced',
  'entry journaled',
  'file staged',
  'entry committed',
  'process killed',
  'budget spent',
  'plan changed',
  'foreign commit',
  'run dropped',
] as const;
export type Event = (typeof EVENTS)[number];

/** The states that may follow; none where the event can't happen. */
export type Next<State> = readonly State[] | 'stays' | 'impossible';

/** Every cell is demanded by the compiler. SPEC.md shows the same table. */
export const RUN_TRANSITIONS: Record<RunState, Record<Event, Next<RunState>>> = {
  none: {
    'call answered': 'impossible',
    'bytes synced': 'impossible',
    'entry journaled': ['begun'],
    'file staged': 'impossible',
    'entry committed': 'impossible',
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': 'impossible',
  },
  begun: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': ['begun', 'asked'],
    'file staged': 'impossible',
    'entry committed': 'impossible',
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': ['none'],
  },
  asked: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': ['asked', 'landed'],
    'file staged': 'impossible',
    'entry committed': 'impossible',
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': ['none'],
  },
  landed: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': ['landed', 'settled'],
    'file staged': 'impossible',
    'entry committed': 'impossible',
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': ['none'],
  },
  settled: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': ['settled', 'held'],
    'file staged': 'stays',
    'entry committed': ['publishing'],
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': 'impossible',
  },
  held: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': ['held'],
    'file staged': 'stays',
    'entry committed': ['publishing'],
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': 'impossible',
  },
  publishing: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': ['publishing', 'ended'],
    'file staged': 'stays',
    'entry committed': 'stays',
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': 'impossible',
  },
  ended: {
    'call answered': 'impossible',
    'bytes synced': 'impossible',
    'entry journaled': 'impossible',
    'file staged': 'impossible',
    'entry committed': 'impossible',
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': 'impossible',
  },
};

/** Entries that depend on what is copied: from then on the run keeps to it. */
const ASKED: readonly JournalEntry['type'][] = ['watermark', 'feed.bound', 'feed.page', 'feed.done'];

/**
 * How far a run is.
 * @param hasCommitted true where a table notes the run's number
 */
export function readRunState(
  { entries }: { entries: readonly { type: JournalEntry['type'] }[] },
  hasCommitted = false,
): RunState {
  const types = new Set(entries.map(({ type }) => type));
  if (!types.has('begin')) return 'none';
  if (types.has('end')) return 'ended';
  if (hasCommitted) return 'publishing';
  if (types.has('held')) return 'held';
  if (types.has('tally')) return 'settled';
  // Nothing is missing that a publication needs: no call has to be made any more.
  if (types.has('datasets') && types.has('hydrate.done')) return 'landed';
  return ASKED.some((type) => types.has(type)) ? 'asked' : 'begun';
}
