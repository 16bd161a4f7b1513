import { describe, expect, test } from 'vitest';
import { drawLife } from './draw-life.js';
import type { Habits } from './habits.js';
import { avoidKnownDefects, KNOWN_DEFECTS } from './known-defects.js';
import { liveThrough } from './live-through.js';

/** A fixed part of the seeds; `npm run sim -- --seeds 3000` lives through the others. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

describe('never stale, every event once, never more claimed than is known', () => {
  for (const seed of SEEDS) {
    test(`in the life of seed ${seed}`, () => {
      const life = drawLife(seed);
      return liveThrough({ ...life, habits: avoidKnownDefects(life.habits as Habits) });
    });
  }
});

test('each known defect names the readings that show it, and why', () => {
  for (const { habits, why } of KNOWN_DEFECTS) {
    expect(Object.keys(habits).length).toBeGreaterThan(0);
    expect(why).not.toBe('');
  }
});
