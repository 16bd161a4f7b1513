import { test } from 'vitest';
import type { Habits } from './habits.js';
import { liveThrough } from './live-through.js';

/** Services that read the document in ways that once made a copy wrong, or a proof of it. */
const FOUND: [string, Partial<Habits>][] = [
  ['lists and exports that lag behind the feed lose no change', { lagItems: 120, lagExport: 600 }],
  [
    'a first copy that lags gets the changes before its watermark, without the past of the feed',
    { lagExport: 600, history: 'none' },
  ],
  [
    'replicas that answer older states after newer ones, single items included, end in an exact copy',
    { replicas: 300 },
  ],
  [
    'an event stands in history once, though a complete copy showed it before the feed told it',
    { stateTimes: 'kept', mode: 'snapshot', moving: true },
  ],
  ['verify finds nothing where removals and relistings leave lastChangedAt alone', { stateTimes: 'kept' }],
];

for (const [name, habits] of FOUND) test(name, () => liveThrough({ seed: 7, habits, items: 16, rounds: 1 }));
