import { expect, onTestFinished, test } from 'vitest';
import { events } from '../sim/events.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';
import type { Item } from '../sim/world.js';

/** Changes price and stock of some listed items at once. The feed only contains the price. */
function changeSome({ world }: Simulation): Item[] {
  const some = world.visibleItems().filter(({ removedAt, price }) => removedAt === null && price !== null);
  const changed = some.slice(0, 5);
  for (const item of changed) events.changePriceAndStock(world, item);
  world.settle();
  return changed;
}

test('a sample finds that `changes` omits values; then changed items are read completely, in later runs immediately', async () => {
  const simulation = await openSimulation({ seed: 7, items: 30, habits: { namedValues: 'the price alone' } });
  onTestFinished(() => simulation.close());
  const { pipeline, sync, expectCopy, service } = simulation;
  pipeline.proof.sample = 4;
  await sync();
  for (const hasLearned of [false, true]) {
    const changed = changeSome(simulation);
    service.requests.length = 0;
    const { row } = await sync();
    expect(row).toMatchObject({ mode: 'feed', sample_mismatches: 0n });
    await expectCopy({ published: true, resumed: false, row, checks: [] }, true);
    const singles = service.requests.filter((request) => /^\/items\/\d+$/.test(request));
    const ofChanged = singles.filter((request) => changed.some(({ id }) => request === `/items/${id}`));
    // Until this habit is known, two items in the sample are changed items.
    if (!hasLearned) expect(ofChanged.length).toBeGreaterThanOrEqual(2);
  }
});

test('if changes contain all values, no more requests are made than for the sample', async () => {
  const simulation = await openSimulation({ seed: 7, items: 30 });
  onTestFinished(() => simulation.close());
  const { pipeline, sync, service, world } = simulation;
  pipeline.proof.sample = 4;
  await sync();
  const items = world.visibleItems().filter(({ removedAt, price }) => removedAt === null && price !== null);
  for (const item of items.slice(0, 5)) events.changePrice(world, item);
  world.settle();
  service.requests.length = 0;
  expect((await sync()).row).toMatchObject({ mode: 'feed', sample_mismatches: 0n });
  expect(service.requests.filter((request) => request.startsWith('/items'))).toHaveLength(4);
});
