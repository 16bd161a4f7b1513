import { expect, test } from 'vitest';
import { drawLife } from './draw-life.js';
import { PLAIN } from './habits.js';
import { liveThrough } from './live-through.js';
import { Script } from './script.js';

/** `npm run sim -- --trouble power-loss --seeds 300` lives through others. */
test.each([8, 13])('a run continues from what a power loss leaves, in the life of seed %i', (seed) =>
  liveThrough({ ...drawLife(seed), trouble: 'power-loss' }),
);

test('all work happens in the order of the seed: two lives of one seed are alike, power losses and all', async () => {
  const life = { seed: 5, habits: PLAIN, items: 12, rounds: 1, trouble: 'power-loss' } as const;
  const scripts = [new Script(life), new Script(life)] as const;
  for (const script of scripts) await liveThrough(life, script);
  const [first, second] = scripts;
  expect(first.faults.length).toBeGreaterThan(3);
  expect(second).toEqual(first);
});
