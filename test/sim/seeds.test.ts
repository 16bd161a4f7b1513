import { describe, test } from 'vitest';
import { drawLife } from './draw-life.js';
import { liveThrough } from './live-through.js';

/** The long tests run other seeds, and `npm run sim -- --seeds 3000` runs many. */
const SEEDS = [3024, 3025, 3026, 3027, 3028, 3029];

describe('never stale, every event once, never more claimed than is known', () => {
  for (const seed of SEEDS) test(`in the life of seed ${seed}`, () => liveThrough(drawLife(seed)));
});
