import { describe, test } from 'vitest';
import { drawLife } from './draw-life.js';
import { liveThrough } from './live-through.js';

const FIRST = 7;
const COUNT = 40;

describe('never stale, every event once, never more claimed than is known', () => {
  for (let seed = FIRST; seed < FIRST + COUNT; seed++)
    test(`in the life of seed ${seed}`, () => liveThrough(drawLife(seed)));
});
