import { expect, onTestFinished, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import { addItem, events, record } from '../sim/events.js';
import type { Habits } from '../sim/habits.js';
import { readLakeRows } from '../sim/lake-rows.js';
import { step } from '../sim/life.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';
import { type Item, SECOND } from '../sim/world.js';

const HOUR = 3600n * SECOND;
/** A row with half a surrogate pair can't be typed, wherever it is read. */
const HALF = 'half \ud83d';

async function openAtRest(habits: Partial<Habits>, items = 30, seed = 7): Promise<Simulation> {
  const simulation = await openSimulation({ seed, items, habits });
  onTestFinished(() => simulation.close());
  return simulation;
}

async function openCopied(habits: Partial<Habits> = {}, seed = 7): Promise<Simulation> {
  const simulation = await openAtRest(habits, 30, seed);
  await simulation.sync();
  return simulation;
}

const listed = ({ world }: Simulation): Item[] => world.visibleItems().filter(({ removedAt }) => removedAt === null);
const holds = async ({ lakePath }: Simulation, { id }: Item) =>
  (await readLakeRows(lakePath)).items.some((row) => row.item_id === String(id));

async function runAfter(simulation: Simulation, nanoseconds = 0n) {
  simulation.world.now += nanoseconds;
  simulation.world.settle();
  return simulation.sync();
}

test('changes of undocumented kinds are recorded as drift, and their items are read completely', async () => {
  const simulation = await openCopied({ kinds: 'some' });
  delete simulation.pipeline.checks.schema_drift;
  for (let n = 0; n < 40; n++) step(simulation.world);
  const report = await runAfter(simulation);
  expect(report.row).toMatchObject({ rejected: 0n, caught_up: true });
  expect(JSON.parse(report.row.schema_drift)).toContainEqual(
    expect.objectContaining({ answer: '/changes', finding: 'value', field: 'kind' }),
  );
  await simulation.expectCopy(report, true);
});

test("items whose id in an export can't be read are searched by the next run", async () => {
  const simulation = await openAtRest({ badRows: 'in exports', format: 'csv' });
  const first = await simulation.sync();
  expect(first.row).toMatchObject({ caught_up: false, listing_unknown: first.row.rejected, caught_up_at: null });
  const second = await runAfter(simulation);
  expect(second.row).toMatchObject({ mode: 'poll', caught_up: true, listing_unknown: 0n });
  expect(second.row.reason).toBe(`it is unknown which of ${first.row.rejected} items are still listed`);
  await simulation.expectCopy(second, true);
});

test("an item whose row can't be typed is stale, and no run is caught up until its row can be typed", async () => {
  const simulation = await openCopied();
  const { world, service } = simulation;
  const added = addItem(world);
  added.title = HALF;
  world.keep(added);
  expect((await runAfter(simulation)).row).toMatchObject({ caught_up: false, stale_items: 1n });
  const { stale_items: stale } = await readLakeRows(simulation.lakePath);
  expect(stale).toMatchObject([{ item_id: String(added.id), reason: 'its row cannot be typed' }]);

  const readsOf = (requests: string[]) => requests.filter((path) => path.startsWith(`/items/${added.id}`)).length;
  service.requests.length = 0;
  expect((await runAfter(simulation, 5n * HOUR)).row).toMatchObject({ caught_up: false, stale_items: 1n });
  expect(readsOf(service.requests)).toBe(1);

  // After a day, it waits for a change or a complete copy.
  service.requests.length = 0;
  expect((await runAfter(simulation, 48n * HOUR)).row).toMatchObject({ caught_up: false, stale_items: 1n });
  expect(readsOf(service.requests)).toBe(0);

  added.title = 'whole';
  record(world, added, 'CHANGED', { title: [HALF, 'whole'] }, undefined);
  const mended = await runAfter(simulation);
  expect(mended.row).toMatchObject({ caught_up: true, stale_items: 0n });
  expect(await holds(simulation, added)).toBe(true);
});

test('a complete copy adds an item whose row can be typed again, even if no change reports it', async () => {
  const simulation = await openCopied();
  const { world, pipeline } = simulation;
  const added = addItem(world);
  added.title = HALF;
  world.keep(added);
  await runAfter(simulation);
  await runAfter(simulation, 48n * HOUR);
  added.title = 'whole';
  world.keep(added);
  expect(await holds(simulation, added)).toBe(false);
  pipeline.source.mode = 'snapshot';
  expect((await runAfter(simulation)).row).toMatchObject({ caught_up: true, stale_items: 0n });
  expect(await holds(simulation, added)).toBe(true);
});

test('a large share of rejected rows holds the batch', async () => {
  const simulation = await openAtRest({}, 60);
  for (const item of simulation.world.visibleItems().slice(0, 25)) item.title = HALF;
  const error = await simulation.sync().catch((thrown: unknown) => thrown as PricelakeError);
  expect(error).toBeInstanceOf(PricelakeError);
  expect(error).toMatchObject({ code: 'gate_failed', message: expect.stringContaining('rejects_many') });
});

test("too many items whose rows can't be typed aren't read again, and stay stale", async () => {
  const simulation = await openAtRest({ titleInFeed: 'now' }, 1_200);
  simulation.pipeline.checks.rejects_many = { severity: 'off' };
  for (const item of simulation.world.visibleItems().slice(0, 1_001)) item.title = HALF;
  const { row } = await simulation.sync();
  expect(row).toMatchObject({ caught_up: false, stale_items: 1_001n });
  expect(simulation.service.requests.filter((path) => path.startsWith('/items/')).length).toBeLessThan(100);
});

function removeOne(simulation: Simulation): Item {
  const [item] = listed(simulation) as [Item];
  simulation.world.now += 5n * HOUR;
  events.remove(simulation.world, item);
  return item;
}

test.each<Partial<Habits>>([{}, { stateTimes: 'kept' }, { scope: 'two' }])(
  'a removal without its item is found in the same run and added to history, in a world with %o',
  async (habits) => {
    const simulation = await openCopied({ removedItem: 'null', ...habits }, 9);
    const { id } = removeOne(simulation);
    const report = await runAfter(simulation);
    expect(report.row).toMatchObject({ mode: 'poll', caught_up: true, listing_unknown: 0n });
    expect(report.row.reason).toBe("the feed has a change that doesn't name its item");
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

test('an item that disappeared is marked as gone when the feed has a change without its item', async () => {
  const simulation = await openCopied({ removedItem: 'null' });
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

test('while the counts contradict the items, each run checks again, and none is caught up', async () => {
  // The counts include the removal ten minutes late.
  const simulation = await openCopied({ removedItem: 'null', lagFacets: 600 });
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
