import { expect, onTestFinished, test } from 'vitest';
import type { Progress } from '../../src/io/io.js';
import { events } from './events.js';
import { liveThrough } from './live-through.js';
import { openSimulation } from './simulation.js';
import { type Item, SECOND } from './world.js';

test('a cursor that the service refuses for its age is followed by a complete copy in the same run', async () => {
  const habits = { oldCursor: '410', historyDays: 7 } as const;
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
    reason: expect.stringContaining('rejects the feed cursor'),
    caught_up: true,
  });
  world.settle();
  await simulation.expectCopy(await simulation.sync(), true);
});

// I2 of SPEC.md
test('what the feed of one dataset brings ahead of the common cursor is in history at once, and stays when the service forgets it', async () => {
  const habits = { scope: 'two', mode: 'auto', oldCursor: 'leaves a gap', historyDays: 7 } as const;
  const simulation = await openSimulation({ seed: 3, items: 24, habits });
  onTestFinished(() => simulation.close());
  const { world, service } = simulation;
  await simulation.sync();
  const listed = world.visibleItems().filter((item) => item.removedAt === null && item.datasets.length > 0);
  for (const item of listed) events.changeStock(world, item);
  world.settle();
  // The first dataset is read to its end; what happens then shows in the second one alone.
  let hasHappened = false;
  const progress = ({ part }: Progress) => {
    if (part !== 'feed' || hasHappened) return;
    hasHappened = true;
    for (const item of listed) events.changeStock(world, item);
    world.now += 31n * SECOND;
  };
  const { row } = await simulation.sync({ progress });
  const ahead = world.changes.filter(({ id }) => id > (row.cursor_to ?? 0n) && service.delivered.has(id));
  expect(ahead).not.toEqual([]);
  world.now += 10n * 86_400n * SECOND;
  await simulation.expectCopy(await simulation.sync(), true);
  await simulation.expectSound();
});

test('a complete copy repairs rows that look older only because the feed dates changes later', async () => {
  const habits = { oldCursor: '410', historyDays: 7, skewMs: 90_000, lateChanges: 300 } as const;
  const simulation = await openSimulation({ seed: 3, items: 24, habits });
  onTestFinished(() => simulation.close());
  const { world } = simulation;
  await simulation.sync();
  const listed = world.visibleItems().filter(({ removedAt }) => removedAt === null);
  for (const item of listed) events.changePrice(world, item);
  world.now += 40n * SECOND;
  for (const item of listed) events.changePrice(world, item);
  // The feed doesn't show every second change yet, and forgets it before the next run.
  world.now += 130n * SECOND;
  await simulation.sync({ now: () => new Date(Number(world.now / 1_000_000n)) });
  world.now += 7n * 86_400n * SECOND;
  events.changePrice(world, listed[0] as Item);
  world.settle();
  await simulation.expectCopy(await simulation.sync(), true);
});

test('verify finds nothing if an item comes back within the time by which the feed dates its removal later', () => {
  const habits = {
    oldCursor: '400',
    historyDays: 7,
    skewMs: 90_000,
    lateChanges: 300,
    mode: 'snapshot',
    pause: 10,
  } as const;
  return liveThrough({ seed: 104, habits, items: 10, rounds: 2 });
});
