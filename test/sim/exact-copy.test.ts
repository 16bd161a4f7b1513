import { afterEach, describe, expect, test } from 'vitest';
import { hideSome, renameSite, step } from './life.js';
import { openSimulation, type Simulation, type SimulationOptions } from './simulation.js';

let simulation: Simulation | undefined;
afterEach(async () => {
  await simulation?.close();
  simulation = undefined;
});

/** A first run and rounds of change, with the world moving in between; then all at rest, and all compared. */
async function liveThrough(options: SimulationOptions, rounds = 1): Promise<void> {
  simulation = await openSimulation(options);
  const { world } = simulation;
  await simulation.expectCopy(await simulation.sync(), false);
  for (let round = 1; round <= rounds; round++) {
    for (let n = 0; n < 40; n++) step(world);
    if (round === 1) hideSome(world);
    renameSite(world, round);
    world.settle();
    simulation.still = false;
    await simulation.expectCopy(await simulation.sync(), false);
    simulation.still = true;
    world.settle();
    await simulation.expectCopy(await simulation.sync(), true);
  }
  const idle = await simulation.sync();
  expect(idle.published).toBe(false);
  await simulation.expectSound();
}

describe('the copy of a service with habits of its own is exact', () => {
  test('in world 1, for two rounds', () => liveThrough({ seed: 1 }, 2));
  for (const seed of [2, 3]) {
    test(`in world ${seed}`, () => liveThrough({ seed }));
  }

  test('without a feed, by polling what changed', () => liveThrough({ seed: 4, habits: { feed: false } }));
  test('of two datasets, one within the other', () => liveThrough({ seed: 6, habits: { scope: 'two', moving: true } }));
  test('by a complete copy on every run', () => liveThrough({ seed: 5, habits: { mode: 'snapshot' } }));
});
