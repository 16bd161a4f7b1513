import { test } from 'vitest';
import { drawLife } from './draw-life.js';
import { PLAIN } from './habits.js';
import { liveThrough } from './live-through.js';

/** `npm run sim -- --trouble power-loss --seeds 300` lives through others. */
test.each([8, 13, 21, 137])('what a power loss leaves is gone on with, in the life of seed %i', (seed) =>
  liveThrough({ ...drawLife(seed), trouble: 'power-loss' }),
);

test('what a power loss leaves is gone on with, in a plain life', () =>
  liveThrough({ seed: 5, habits: PLAIN, items: 12, rounds: 2, trouble: 'power-loss' }));
