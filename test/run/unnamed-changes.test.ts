import { expect, onTestFinished, test } from 'vitest';
import { events } from '../sim/events.js';
import type { Habits } from '../sim/habits.js';
import { readLakeRows } from '../sim/lake-rows.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';
import { type Item, SECOND } from '../sim/world.js';

const HOUR = 3600n * SECOND;

async function openCopied(habits: Partial<Habits> = {}): Promise<Simulation> {
  const simulation = await openSimulation({ seed: 9, items: 30, habits: { removedItem: 'null', ...habits } });
  onTestFinished(() => simulation.close());
  await simulation.sync();
  return simulation;
}

const listed = ({ world }: Simulation): Item[] => world.visibleItems().filter(({ removedAt }) => removedAt === null);

function removeOne(simulation: Simulation): Item {
  const [item] = listed(simulation) as [Item];
  simulation.world.now += 5n * HOUR;
  events.remove(simulation.world, item);
  return item;
}

async function runAfter(simulation: Simulation, nanoseconds = 0n) {
  simulation.world.now += nanoseconds;
  simulation.world.settle();
  return simulation.sync();
}

test.each<Partial<Habits>>([{}, { stateTimes: 'kept' }, { scope: 'two' }])(
  'a removal that the feed tells without its item is found in the same run, and is in history, in a world with %o',
  async (habits) => {
    const simulation = await openCopied(habits);
    const { id } = removeOne(simulation);
    const report = await runAfter(simulation);
    expect(report.row).toMatchObject({ mode: 'poll', caught_up: true, listing_unknown: 0n });
    expect(report.row.reason).toBe('the feed tells of a change without naming the items');
    const { items, history } = await readLakeRows(simulation.lakePath);
    expect(items.find((row) => row.item_id === String(id))?.is_listed).toBe('false');
    expect(history.filter((row) => row.item_id === String(id) && row.kind === 'REMOVED')).toMatchObject([
      { origin: 'diff', change_id: null },
    ]);
    await simulation.expectCopy(report, true);
    await simulation.expectSound();
    expect((await runAfter(simulation)).row).toMatchObject({ mode: 'feed', caught_up: true });
  },
);

test('an item that left the data is marked gone when the feed tells a change of it without its name', async () => {
  const simulation = await openCopied();
  const { world } = simulation;
  const [item] = listed(simulation) as [Item];
  events.changeStock(world, item);
  item.sight = 'gone';
  item.hasLeft = true;
  world.keep(item);
  expect((await runAfter(simulation)).row).toMatchObject({ mode: 'poll', caught_up: true });
  const { items } = await readLakeRows(simulation.lakePath);
  expect(items.find((row) => row.item_id === String(item.id))?.gone_at).not.toBeNull();
});

test('while the counts contradict what was found, each run looks again, and none says that it caught up', async () => {
  // The counts show the removal ten minutes late.
  const simulation = await openCopied({ lagFacets: 600 });
  removeOne(simulation);
  const modes: string[] = [];
  const run = async (after: bigint) => {
    const { row } = await runAfter(simulation, after);
    modes.push(`${row.mode} ${row.caught_up} ${row.listing_unknown}`);
  };
  await run(0n);
  await run(120n * SECOND);
  await run(900n * SECOND);
  await run(60n * SECOND);
  expect(modes).toEqual(['poll false 1', 'poll false 1', 'poll true 0', 'feed true 0']);
});
