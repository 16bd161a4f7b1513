import { afterEach, expect, test } from 'vitest';
import { renameSite, step } from './life.js';
import { openSimulation, type Simulation } from './simulation.js';

let simulation: Simulation;
afterEach(() => simulation.close());

const STEPS = ['landed', 'settled', 'staged', 'audited', 'committed', 'pointed'];

/** Runs until step number `stopAt`. True if it came to an end before that. */
async function runUntil(stopAt: number): Promise<boolean> {
  let steps = 0;
  const log = (_level: string, event: string) => {
    if (STEPS.includes(event) && ++steps === stopAt) throw new Error('stopped here');
  };
  try {
    await simulation.expectCopy(await simulation.sync({ log }), false);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message === 'stopped here') return false;
    throw error;
  }
}

test('a run that is stopped again and again while the world goes on ends in an exact copy', async () => {
  simulation = await openSimulation({ seed: 11, items: 80, habits: { moving: true, chunkBytes: 4096 } });
  const { world } = simulation;
  for (const run of ['first', 'second']) {
    let stops = 0;
    while (!(await runUntil(stops + 1))) {
      stops++;
      for (let n = 0; n < 6; n++) step(world);
      if (stops === 4) renameSite(world, 1);
    }
    expect(stops, `${run} run`).toBeGreaterThan(5);
    renameSite(world, 2);
  }
  simulation.still = true;
  world.settle();
  await simulation.expectCopy(await simulation.sync(), true);
});
