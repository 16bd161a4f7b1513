/** What a lake records about the attempts to run. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { RUN_STEPS } from '../../src/io/io.js';
import { readMemory } from '../../src/journal/memory.js';
import { openLake } from '../../src/lake/lake.js';
import { landWithWings } from '../../src/wings/index.js';
import { act } from '../cli/open-context.js';
import { openWorld, testIo } from './world.js';

const world = await openWorld({ items: 40, sites: 2, history: 'none' });
afterAll(() => world.close());
beforeEach(() => {
  world.intercept = undefined;
  world.clock.days = 0;
});

const readTries = async () => (await readMemory(await openLake(world.lakePath, { create: false }))).tries;
const status = async () => {
  const { text, report } = await act(showStatus, { lake: world.lakePath });
  return { text, tries: JSON.parse(toJsonText(report)).tries as Record<string, unknown>[] };
};

test('a failed run records its step, the reason and the advice, without the key', async () => {
  const { live } = world.sandbox.keys;
  world.intercept = async (request, next) =>
    new URL(request.url).pathname.endsWith('/export')
      ? Response.json({ error: 'unauthorized', message: `no such key: ${live}` }, { status: 401 })
      : next(request);
  await expect(world.sync()).rejects.toMatchObject({ code: 'unauthorized' });
  const [first] = await readTries();
  expect(first).toMatchObject({ runNumber: 1n, fault: { step: 'land', code: 'unauthorized' } });
  expect(Object.keys(first?.steps ?? {})).toEqual(['open', 'plan', 'land']);
  expect(JSON.stringify(first?.fault)).not.toContain(live);
  const { text, tries } = await status();
  expect(text).toMatch(/^run 1 failed in step land at 20\S+ \(unauthorized\): \S/m);
  expect(text).toMatch(/^what to do: \S/m);
  expect(text).toMatch(/^run 1 \(000001-\S+\) is interrupted, .*; the next sync continues it at step land$/m);
  expect(tries).toHaveLength(1);
});

test('a run records the seconds of each step, separately from earlier attempts', async () => {
  world.intercept = async (request, next) => {
    if (new URL(request.url).pathname.endsWith('/export')) world.clock.days += 1;
    return next(request);
  };
  await world.sync();
  const tries = await readTries();
  expect(tries.map(({ runNumber }) => runNumber)).toEqual([1n, 1n]);
  const { steps, fault, begunAt, endedAt } = tries[1] ?? expect.fail('no second try');
  expect(fault).toBeUndefined();
  expect(Object.keys(steps)).toEqual([...RUN_STEPS]);
  const days = (seconds = 0) => Math.floor(seconds / 86_400);
  expect(Object.values(steps).map(days)).toEqual([0, 0, 1, 0, 0, 0, 0, 0]);
  expect(days((Date.parse(endedAt) - Date.parse(begunAt)) / 1000)).toBe(1);
  const { text } = await status();
  expect(text).not.toContain('failed in step');
  expect(text).toMatch(
    /^seconds per step\nrun +began +open +plan +land +apply +derive +prove +publish +compact +failed$/m,
  );
  expect(text).toMatch(/^ {2}1 {2}20\S+ +[\d.]+ +[\d.]+ +864\d\d\.\d .*[\d.]+ *$/m);
});

test('a run without changes records the steps open, plan and land', async () => {
  await world.sync();
  const last = (await readTries()).at(-1);
  expect(last?.runNumber).toBe(2n);
  expect(Object.keys(last?.steps ?? {})).toEqual(['open', 'plan', 'land']);
});

test('a run that only lands records these steps, and the next run records all', async () => {
  await world.sandbox.advance({ hours: 1, changes: 5 });
  await landWithWings(world.pipeline, testIo);
  expect(Object.keys((await readTries()).at(-1)?.steps ?? {})).toEqual(['open', 'plan', 'land']);
  await world.sync();
  const [landed, whole] = (await readTries()).slice(-2);
  expect([landed?.runNumber, whole?.runNumber]).toEqual([3n, 3n]);
  expect(Object.keys(whole?.steps ?? {})).toEqual([...RUN_STEPS]);
});
