import { createHash } from 'node:crypto';
import type { Fold } from '../../src/journal/journal.js';
import { type RunEntry, runEntry } from '../../src/journal/run-entry.js';
import { RUN_FOLD, type RunState, START_AGAIN } from '../../src/journal/run-state.js';

/** A journal whose state is the list of its entries. It allows every entry. */
export const LIST: Fold<RunEntry, readonly RunEntry[]> = {
  entry: runEntry,
  start: [],
  step: (entries, entry) => [...entries, entry],
  seal: 'chain',
  advice: START_AGAIN,
};

/** The state of a run with these entries. @throws the reason if an entry is refused */
export function foldRun(entries: readonly RunEntry[]): RunState {
  return entries.reduce<RunState>((state, entry) => {
    const refusal = RUN_FOLD.refuse?.(state, entry);
    if (refusal !== undefined) throw new Error(refusal);
    return RUN_FOLD.step(state, entry);
  }, RUN_FOLD.start);
}

const AT = '2026-11-20T06:00:00.000Z';

/** The entries between the begin and the end of a run that finds no changes. */
export const TO_END: readonly RunEntry[] = [
  { type: 'feed.done', cursor: 0n, complete: true, at: AT, calls: 0 },
  { type: 'datasets', readAt: AT, answer: '[]', calls: 0 },
  { type: 'hydrate.done', calls: 0 },
  { type: 'tally', received: 1n, written: 1n, rejected: 0n, deduplicated: 0n },
];

/** The text of a journal, with the checksums of its lines. */
export function sealLines(entries: readonly object[]): string {
  let sum = '';
  const lines = entries.map((entry) => {
    sum = createHash('sha256')
      .update(`${sum}${JSON.stringify(entry)}`)
      .digest('hex')
      .slice(0, 16);
    return `${JSON.stringify({ ...entry, sum })}\n`;
  });
  return lines.join('');
}
