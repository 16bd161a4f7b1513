import { describe, test } from 'vitest';
import { drawLife } from './draw-life.js';
import { liveThrough } from './live-through.js';

/** A fixed part of the seeds; the long tests have another one, and `npm run sim -- --seeds 3000` lives through the others. */
const SEEDS = [3024];

describe('never stale, every event once, never more claimed than is known', () => {
  for (const seed of SEEDS) test(`in the life of seed ${seed}`, () => liveThrough(drawLife(seed)));
});
