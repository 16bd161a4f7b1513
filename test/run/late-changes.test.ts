import { expect, onTestFinished, test } from 'vitest';
import { estimateWithWings, rebuildWithWings } from '../../src/wings/index.js';
import { events } from '../sim/events.js';
import type { Habits } from '../sim/habits.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';
import { type Item, SECOND } from '../sim/world.js';

/** A service whose feed shows every ninth change five minutes late, and a lake that has read it to its end. */
async function openLate(habits: Partial<Habits> = {}): Promise<Simulation> {
  const simulation = await openSimulation({ seed: 5, items: 30, habits: { lateChanges: 300, ...habits } });
  onTestFinished(() => simulation.close());
  simulation.pipeline.landing.keep = Number.MAX_SAFE_INTEGER;
  await simulation.sync();
  simulation.world.settle(300);
  await simulation.sync();
  // The changes so far aren't read again.
  simulation.world.now += 3600n * SECOND;
  return simulation;
}

const listed = ({ world }: Simulation): Item[] => world.visibleItems().filter(({ removedAt }) => removedAt === null);

/** Changes the stock of some items, so that the last of these changes becomes visible before some others. */
function changeStocks(simulation: Simulation): bigint[] {
  const { world } = simulation;
  const before = world.changes.length;
  for (const item of listed(simulation).slice(0, 20)) events.changeStock(world, item);
  world.now += 40n * SECOND;
  const visible = new Set(world.feed().map(({ id }) => id));
  return world.changes
    .slice(before)
    .map(({ id }) => id)
    .filter((id) => !visible.has(id));
}

const feedCalls = ({ service }: Simulation) => service.requests.filter((request) => request.startsWith('/changes'));

test('a change that becomes visible late is read by the next run in one call, and its item is read completely', async () => {
  const simulation = await openLate();
  const { sync, world, service, expectCopy } = simulation;
  const late = changeStocks(simulation);
  expect(late.length).toBeGreaterThan(0);
  const first = await sync();
  expect(first.row.cursor_to).toBeGreaterThan(late[0] as bigint);
  expect(late.filter((id) => service.delivered.has(id))).toEqual([]);
  world.settle(300);
  service.requests.length = 0;
  const second = await sync();
  expect(second.row).toMatchObject({ mode: 'feed', cursor_to: first.row.cursor_to, caught_up: true });
  expect(feedCalls(simulation)).toHaveLength(1);
  await expectCopy(second, true);
  await simulation.expectSound();
});

test("changes that the lake contains don't land again: a run without late changes is idle, with two calls", async () => {
  const simulation = await openLate();
  const { sync, world, service } = simulation;
  changeStocks(simulation);
  await sync();
  world.settle(300);
  await sync();
  service.requests.length = 0;
  const idle = await sync();
  expect(idle).toMatchObject({ published: false, row: { received: 0n, caught_up: true } });
  expect(service.requests).toEqual(['/plan', expect.stringMatching(/^\/changes\?after=\d+&limit=1000$/)]);
  const after = BigInt(/after=(\d+)/.exec(service.requests[1] ?? '')?.[1] ?? '');
  expect(after).toBeLessThan(idle.row.cursor_to as bigint);
});

test('plan predicts the calls of a run with only late changes, and of a run without any', async () => {
  const simulation = await openLate();
  const { sync, world, service, pipeline, io } = simulation;
  changeStocks(simulation);
  await sync();
  world.settle(300);
  for (const hasLate of [true, false]) {
    const said = await estimateWithWings(pipeline, io);
    service.requests.length = 0;
    const { published } = await sync();
    expect([published, said.calls]).toEqual([hasLate, service.requests.length]);
  }
});

test('feedOverlap 0 disables this, and a complete comparison then repairs the items', async () => {
  const simulation = await openLate();
  const { sync, world, service, pipeline, expectCopy } = simulation;
  pipeline.source.feedOverlap = 0;
  const late = changeStocks(simulation);
  const { row } = await sync();
  world.settle(300);
  service.requests.length = 0;
  await sync();
  expect(feedCalls(simulation)).toEqual([`/changes?after=${row.cursor_to}&limit=1000`]);
  expect(late.filter((id) => service.delivered.has(id))).toEqual([]);
  pipeline.source.mode = 'snapshot';
  await expectCopy(await sync(), true);
});

test('a rebuilt lake contains the late changes, regardless of the current setting', async () => {
  const simulation = await openLate();
  const { sync, world, pipeline, io, expectCopy } = simulation;
  changeStocks(simulation);
  await sync();
  world.settle(300);
  const report = await sync();
  pipeline.source.feedOverlap = 0;
  await rebuildWithWings(pipeline, io, new AbortController().signal);
  await expectCopy(report, true);
});

test('the late changes of several datasets are requested together with the next new changes', async () => {
  const simulation = await openLate({ scope: 'two' });
  const { sync, world, service, expectCopy } = simulation;
  changeStocks(simulation);
  await sync();
  world.settle(300);
  service.requests.length = 0;
  await sync();
  expect(feedCalls(simulation)).toEqual(['/changes/recent?limit=1']);
  for (const item of listed(simulation).slice(20, 24)) events.changeStock(world, item);
  world.settle(300);
  await expectCopy(await sync(), true);
});

test('if the service refuses the earlier cursor, the usual cursor is used', async () => {
  const simulation = await openLate({ oldCursor: '410', historyDays: 7 });
  const { sync, world, service, expectCopy } = simulation;
  changeStocks(simulation);
  world.settle(300);
  await sync();
  for (const item of listed(simulation).slice(0, 3)) events.changeStock(world, item);
  world.settle(300);
  const newest = world.changes.at(-1);
  await sync();
  // The service's history no longer has all changes that would be read again, but it has the newest one.
  world.now = (newest?.observedAt ?? 0n) + 7n * 86_400n * SECOND - 2n * SECOND;
  service.requests.length = 0;
  const { row } = await sync();
  expect(row).toMatchObject({ mode: 'feed' });
  expect(feedCalls(simulation)).toHaveLength(2);
  await expectCopy({ published: false, resumed: false, row, checks: [] }, true);
});

test('a late change is no fault of a row that includes a newer change with the same time', async () => {
  const simulation = await openSimulation({ seed: 5, items: 30, habits: { lateChanges: 300 } });
  onTestFinished(() => simulation.close());
  const { sync, world } = simulation;
  for (const item of listed(simulation)) events.severalAtOnce(world, item);
  world.now += 40n * SECOND;
  await sync();
  world.settle(300);
  await simulation.expectCopy(await sync(), true);
  await simulation.expectSound();
});
