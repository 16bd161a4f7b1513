import { test } from 'vitest';
import { drawLife } from './draw-life.js';
import { liveThroughDamage } from './live-through-damage.js';

/** `npm run sim -- --trouble damage --seeds 100` damages others. */
test.each([1, 2])(
  'damaged files are found, not published, and repaired as advised, in the life of seed %i',
  (seed) => liveThroughDamage(drawLife(seed)),
  300_000,
);
