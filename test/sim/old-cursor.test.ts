import { expect, onTestFinished, test } from 'vitest';
import { events } from './events.js';
import { openSimulation } from './simulation.js';
import { SECOND } from './world.js';

test.each(['400', '410'] as const)(
  'a cursor that the service refuses with %s for its age is followed by a complete copy in the same run',
  async (oldCursor) => {
    const habits = { oldCursor, historyDays: 7 } as const;
    const simulation = await openSimulation({ seed: 3, items: 8, habits });
    onTestFinished(() => simulation.close());
    const { world } = simulation;
    await simulation.sync();
    // It happens before the feed is read to its end, shows 30 seconds later, and is out of the history before the next run.
    for (const item of world.visibleItems()) if (item.removedAt === null) events.changeStock(world, item);
    world.now += 20n * SECOND;
    await simulation.sync();
    world.now += (7n * 86_400n - 10n) * SECOND;
    const { row } = await simulation.sync();
    expect(row).toMatchObject({
      mode: 'snapshot',
      reason: expect.stringContaining('refuses the cursor'),
      caught_up: true,
    });
    world.settle();
    await simulation.expectCopy(await simulation.sync(), true);
  },
);
