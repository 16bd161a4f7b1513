import type { Dataset } from './landed-entry.js';
import type { EntryOf, RunEntry } from './run-entry.js';

/** Items of a part that were polled. */
export interface PolledPart {
  /** Pages of the last round of all its items. */
  wholePages: number;
  /** The round that was begun last. Of all items `since` is null. */
  round: { since: string | null; newest: string | null; pages: number; rows: bigint };
  /** False again when a round was begun since. */
  isDone: boolean;
  /** Files that hold its pages. */
  files: readonly string[];
}

export type Polls = ReadonlyMap<Dataset, PolledPart>;

export function foldPolls(polls: Polls, entry: RunEntry): Polls {
  if (entry.type !== 'poll.round' && entry.type !== 'poll.page' && entry.type !== 'poll.done') return polls;
  const part = foldPart(polls.get(entry.dataset) ?? NO_POLL, entry);
  return new Map(polls).set(entry.dataset, part);
}

const NO_POLL: PolledPart = {
  wholePages: 0,
  round: { since: null, newest: null, pages: 0, rows: 0n },
  isDone: false,
  files: [],
};

function foldPart(part: PolledPart, entry: EntryOf<'poll.round' | 'poll.page' | 'poll.done'>): PolledPart {
  const { round, files } = part;
  if (entry.type === 'poll.done') return { ...part, isDone: true };
  if (entry.type === 'poll.round') {
    const { since, newest } = entry;
    const wholePages = since === null ? 0 : part.wholePages;
    return { ...part, wholePages, round: { since, newest, pages: 0, rows: 0n }, isDone: false };
  }
  return {
    wholePages: part.wholePages + (round.since === null ? 1 : 0),
    round: { ...round, pages: round.pages + 1, rows: round.rows + BigInt(entry.rows) },
    isDone: false,
    files: files.includes(entry.file) ? files : [...files, entry.file],
  };
}
