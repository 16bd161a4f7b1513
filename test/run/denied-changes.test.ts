import { expect, onTestFinished, test } from 'vitest';
import { estimateWithWings } from '../../src/wings/index.js';
import { events } from '../sim/events.js';
import type { Habits } from '../sim/habits.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';

async function open(habits: Partial<Habits>): Promise<Simulation> {
  const simulation = await openSimulation({ seed: 11, items: 60, habits });
  onTestFinished(() => simulation.close());
  return simulation;
}

/** Changes the stock of this many listed items. */
function changeStocks({ world }: Simulation, count: number): void {
  const listed = world.visibleItems().filter(({ removedAt }) => removedAt === null);
  for (let n = 0; n < count; n++) events.changeStock(world, listed[n % listed.length] as (typeof listed)[0]);
  world.settle();
}

const feedCalls = ({ service }: Simulation) => service.requests.filter((request) => request.startsWith('/changes?'));

const DENYING: Partial<Habits> = { shortPages: true, deniesMore: true };

test.each<[string, Partial<Habits>]>([
  ['with a history of several pages', DENYING],
  ["with a history that isn't read", { ...DENYING, history: 'none' }],
  ['with two datasets', { ...DENYING, scope: 'two' }],
])('the feed of a service that denies waiting changes is read to its end: %s', async (_name, habits) => {
  const simulation = await open(habits);
  const { sync, world, expectCopy, service } = simulation;
  await sync();
  world.settle();
  await sync();
  for (const count of [45, 90]) {
    changeStocks(simulation, count);
    service.requests.length = 0;
    const report = await sync();
    expect(report.row).toMatchObject({ mode: 'feed', caught_up: true });
    expect(feedCalls(simulation).length).toBeGreaterThan(2);
    await expectCopy(report, true);
  }
});

test('if the service reports waiting changes correctly, one more request follows only a page as long as the longest so far', async () => {
  const simulation = await open({ history: 'none' });
  const { sync, service, pipeline, io } = simulation;
  pipeline.source.feedOverlap = 0;
  await sync();
  const calls: number[] = [];
  for (const count of [120, 120, 60, 140, 139, 0]) {
    changeStocks(simulation, count);
    const said = await estimateWithWings(pipeline, io);
    service.requests.length = 0;
    await sync();
    calls.push(feedCalls(simulation).length);
    expect(said.steps.find(({ step }) => step === 'feed')?.calls).toBe(calls.at(-1));
  }
  expect(calls).toEqual([2, 2, 1, 2, 1, 1]);
});
