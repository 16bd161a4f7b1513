import { expect, test } from 'vitest';
import { delayStatements } from '../late-statements.js';
import { createSeeded } from '../seeded.js';
import { drawLife } from './draw-life.js';
import { liveThrough } from './live-through.js';

/** The habits of these worlds are far apart. */
const SEEDS = [3, 4, 5, 6];

test.each(SEEDS)('the life of seed %i is as it should be where statements begin late at random', async (seed) => {
  const random = createSeeded(seed);
  const late = delayStatements(() => random.fraction() < 0.1);
  await liveThrough(drawLife(seed)).finally(late.end);
  expect(late.held).toBeGreaterThan(2);
});
