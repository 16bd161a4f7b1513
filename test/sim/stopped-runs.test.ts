import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { step } from './life.js';
import { openSimulation, type Simulation } from './simulation.js';

let simulation: Simulation;
afterEach(() => simulation.close());

test('a run that stopped between two tables and lost its landing is made good by the next', async () => {
  simulation = await openSimulation({ seed: 12, items: 40, habits: { shuffledRows: true } });
  const { world, lakePath } = simulation;
  for (const committed of [1, 2]) {
    await stopAfterCommits(committed);
    await rm(path.join(lakePath, '_pricelake', 'landing'), { recursive: true });
    for (let n = 0; n < 20; n++) step(world);
    world.settle();
    await simulation.expectCopy(await simulation.sync(), true);
    for (let n = 0; n < 20; n++) step(world);
    world.settle();
  }
});

async function stopAfterCommits(count: number): Promise<void> {
  let commits = 0;
  const log = (_level: string, event: string) => {
    if (event === 'committed' && ++commits === count) throw new Error('stopped here');
  };
  await expect(simulation.sync({ log })).rejects.toThrow('stopped here');
}
