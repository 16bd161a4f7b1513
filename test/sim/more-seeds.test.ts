import { describe, test } from 'vitest';
import { drawLife } from './draw-life.js';
import { liveThrough } from './live-through.js';

/** Seeds beside those of seeds.test.ts. */
const SEEDS = [7];

describe('never stale, every event once, never more claimed than is known', () => {
  for (const seed of SEEDS) test(`in the life of seed ${seed}`, () => liveThrough(drawLife(seed)));
});
