import { test } from 'vitest';
import { drawLife } from './draw-life.js';
import { liveThroughAnswers } from './live-through-answers.js';

/** `npm run sim -- --trouble answers --seeds 100` changes others. */
test.each([1, 2, 3, 4, 5, 6])(
  'no answer leads to an internal error or stops later runs, in the life of seed %i',
  (seed) => liveThroughAnswers(drawLife(seed)),
);
