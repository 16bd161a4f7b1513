import { expect, onTestFinished, test } from 'vitest';
import { addItem, events } from '../sim/events.js';
import { openSimulation } from '../sim/simulation.js';
import { SECOND } from '../sim/world.js';

test("a copy without an item from the last hour isn't caught up if the item's removal doesn't name it", async () => {
  const simulation = await openSimulation({
    seed: 3,
    items: 30,
    habits: { mode: 'snapshot', removedItem: 'null', removedItems: 'none' },
  });
  onTestFinished(() => simulation.close());
  const { world, sync, expectCopy } = simulation;
  world.now += 7200n * SECOND;
  await sync();
  const item = addItem(world);
  world.settle();
  expect((await sync()).row).toMatchObject({ caught_up: true });
  events.remove(world, item);
  world.settle();
  const { row } = await sync();
  expect(row).toMatchObject({ caught_up: false, listing_unknown: 1n });
  expect(row.reason).toContain('1 item that first appeared within the last hour is missing from the copy');
  world.now += 3600n * SECOND;
  const later = await sync();
  expect(later.row).toMatchObject({ caught_up: true, listing_unknown: 0n });
  await expectCopy(later, true);
});
