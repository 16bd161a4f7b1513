import { describe, expect, onTestFinished, test } from 'vitest';
import type { RunEstimate } from '../../src/run/estimate/estimate-run.js';
import { estimateWithWings } from '../../src/wings/index.js';
import { createSeeded } from '../seeded.js';
import type { Habits } from '../sim/habits.js';
import { step } from '../sim/life.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';

const SPLIT: Partial<Habits> = { splitAbove: 5 };
const NO_HISTORY: Partial<Habits> = { history: 'none' };
const TWO: Partial<Habits> = { scope: 'two' };
const PAGES: Partial<Habits> = { quota: 'small' };
const FREE: Partial<Habits> = { feed: false, historyDays: 7 };

/** Small services, and how the pipeline copies them. */
const WORLDS: [name: string, habits: Partial<Habits>][] = [
  ['one export, then the feed', {}],
  ['exports by website of two datasets', { ...SPLIT, ...TWO, ...NO_HISTORY }],
  ['pages because of too few export rows', { ...PAGES, ...NO_HISTORY }],
  ['no feed, and two datasets page by page', { ...FREE, ...TWO, ...PAGES }],
  ['a complete copy each time', { mode: 'snapshot', ...SPLIT }],
  ['polls despite a feed', { mode: 'poll', ...NO_HISTORY }],
];

/** Expects the run to take what was estimated, within the tolerance of steps that are estimated approximately. */
async function expectAsSaid({ service, pipeline, io, sync }: Simulation): Promise<RunEstimate> {
  const said = await estimateWithWings(pipeline, io);
  expect(said.refusal).toBeUndefined();
  const before = { requests: service.requests.length, rows: service.used.rows };
  const { row } = await sync();
  const asked = service.requests.slice(before.requests);
  const taken = { mode: row.mode, reason: row.reason.split('; ')[0], rows: service.used.rows - before.rows };
  expect(taken).toEqual({ mode: said.mode, reason: said.reason.split('; ')[0], rows: Number(said.exportRows) });
  const told = `${said.steps.map(({ step, calls, exact }) => `${step} ${exact ? '' : '≈'}${calls}`).join(', ')}\n${asked.join('\n')}`;
  const bound = said.steps.reduce((sum, { exact, calls }) => (exact ? sum : sum + calls), 0);
  expect(Math.abs(asked.length - said.calls), told).toBeLessThanOrEqual(bound);
  return said;
}

/** Stops a run after this number of landings. */
async function stopAfter({ sync }: Simulation, landed: number): Promise<void> {
  let count = 0;
  const log = (_level: string, event: string) => {
    if (event === 'landed' && ++count === landed) throw new Error('stopped here');
  };
  await sync({ log }).catch((error: Error) => {
    if (error.message !== 'stopped here') throw error;
  });
}

describe('a run takes what its plan says with', () => {
  test.each(WORLDS.map((world, place) => [...world, place] as const))('%s', async (_name, habits, seed) => {
    const simulation = await openSimulation({ seed: seed + 1, items: 25, habits });
    onTestFinished(() => simulation.close());
    const random = createSeeded(seed);
    const { world } = simulation;
    if (random.fraction() < 0.5) await stopAfter(simulation, 1 + random.integer(4));
    await expectAsSaid(simulation);
    for (let n = random.integer(9); n > 0; n--) step(world);
    world.settle();
    await expectAsSaid(simulation);
  });

  test('no change, but probes of the websites', async () => {
    const simulation = await openSimulation({ seed: 9, items: 25 });
    onTestFinished(() => simulation.close());
    const { pipeline, sync, world } = simulation;
    await sync();
    world.settle();
    await sync();
    pipeline.probe = 3_600_000;
    world.now += 3_700_000_000_000n;
    const said = await expectAsSaid(simulation);
    expect(said.steps.map(({ step }) => step)).toContain('probe');
    expect((await expectAsSaid(simulation)).steps.map(({ step }) => step)).not.toContain('probe');
  });

  test('no change, but new words in the pipeline file', async () => {
    const simulation = await openSimulation({ seed: 9, items: 25 });
    onTestFinished(() => simulation.close());
    const { pipeline, sync, world } = simulation;
    await sync();
    world.settle();
    await sync();
    pipeline.analysis.words.used = ['gently loved'];
    await expectAsSaid(simulation);
    expect((await sync()).published).toBe(false);
  });
});
