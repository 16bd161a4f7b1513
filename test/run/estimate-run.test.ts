import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import type { RunEstimate } from '../../src/run/estimate/estimate-run.js';
import { estimateWithWings, syncWithWings } from '../../src/wings/index.js';
import { countUsed } from './exact-copy.js';
import { openWorld, testIo } from './world.js';

const world = await openWorld({
  items: 700,
  sites: 3,
  intercept: (request, next) => next(new Request(request.url.replace('limit=1000', 'limit=250'), request)),
});
afterAll(() => world.close());
afterEach(() => {
  world.pipeline.source.mode = 'auto';
  world.sandbox.changeAccount({ limits: { ratePerSecond: null }, revoked: [] });
});

const estimate = (): Promise<RunEstimate> => estimateWithWings(world.pipeline, testIo);

/** The estimate, and that the run after it takes just so much. */
async function expectKept(): Promise<RunEstimate> {
  const said = await estimate();
  expect(said.refusal).toBeUndefined();
  const { row } = await world.sync();
  expect([row.mode, row.reason]).toEqual([said.mode, said.reason]);
  expect(row.export_rows).toBe(said.exportRows);
  return said;
}

describe('what a run says it will take', () => {
  test('for a first copy: an export of all items, then the history; and nothing is written', async () => {
    const said = await estimate();
    expect(existsSync(world.lakePath)).toBe(false);
    expect(said).toMatchObject({ mode: 'snapshot', exportRows: 700n, overageBlocks: 0n, unfinished: undefined });
    expect(said.steps.map(({ step, calls }) => [step, calls])).toEqual([
      ['plan', 1],
      ['watermark', 2],
      ['export', 1],
      ['feed', expect.any(Number)],
      ['datasets', 1],
      ['usage', 1],
    ]);
    expect(said.looked).toBe(world.requests.length);
    expect(said.looked).toBeLessThanOrEqual(4);
    await expectKept();
  });

  test('for a run that finds nothing new: two calls', async () => {
    const said = await expectKept();
    expect(said).toMatchObject({ mode: 'feed', calls: 2, exact: true, looked: 2 });
  });

  test('for changes: pages, and whole reads of the items that they tell too little of', async () => {
    await world.sandbox.advance({ hours: 3, changes: 120 });
    const said = await estimate();
    const before = world.requests.length;
    const { row } = await world.sync();
    expect(said.calls).toBe(world.requests.length - before);
    expect(BigInt(said.calls)).toBe(row.calls);
    expect(said.steps.map(({ step }) => step)).toEqual(['plan', 'feed', 'hydrate', 'datasets']);
    expect(said.steps.find(({ step }) => step === 'feed')).toMatchObject({ calls: 1, exact: true });
  });

  test('for more changes than the service puts on a page: a call for each page', async () => {
    await world.sandbox.advance({ hours: 3, changes: 600 });
    const said = await estimate();
    world.requests.length = 0;
    await world.sync();
    const pages = world.requests.filter((request) => request.startsWith('/changes?')).length;
    expect(pages).toBeGreaterThan(2);
    expect(said.steps.find(({ step }) => step === 'feed')).toMatchObject({ calls: pages, exact: false });
  });

  test('for a poll: pages of the items that changed since, and the counts that tell whether it missed any', async () => {
    await world.sandbox.advance({ hours: 3, changes: 60 });
    world.pipeline.source.mode = 'poll';
    const said = await estimate();
    const { row } = await world.sync();
    expect(BigInt(said.calls)).toBe(row.calls);
    expect(said.mode).toBe('poll');
    expect(said.steps.find(({ step }) => step === 'poll')).toMatchObject({ exact: true });
    // More, should they not agree.
    expect(said.steps.find(({ step }) => step === 'listing')).toMatchObject({ calls: 1, exact: false });
  });

  test('is what is left, for a run that was interrupted; files stay as they are', async () => {
    world.pipeline.source.mode = 'snapshot';
    world.sandbox.armFaults(['changes:401@1']);
    await expect(world.sync()).rejects.toMatchObject({ code: 'unauthorized' });
    world.sandbox.armFaults([]);
    world.pipeline.source.mode = 'auto';
    const before = await listFiles();
    const said = await estimate();
    expect(await listFiles()).toEqual(before);
    expect(said).toMatchObject({ mode: 'snapshot', exportRows: 0n, unfinished: { held: [] } });
    expect(said.steps.map(({ step }) => step)).toEqual(['plan', 'feed', 'datasets']);
    await world.sync();
  });
});

describe('what would not go', () => {
  test('an export beyond the plan is told before, with when it goes; or the pages that bring the same', async () => {
    world.pipeline.source.mode = 'snapshot';
    world.sandbox.changeAccount({ limits: { exportRowsPerMonth: 1_200, ratePerSecond: null } });
    world.pipeline.budget.calls = { count: (await countUsed(world)) + 40 };
    const { refusal, overageBlocks, rest } = await estimate();
    expect(refusal).toMatchObject({ code: 'budget', facts: { nextRunAt: expect.any(Date) } });
    expect([overageBlocks, rest.exportRows]).toEqual([1n, 0n]);
    await expect(world.sync()).rejects.toMatchObject({ code: 'budget', facts: { rule: refusal?.facts.rule } });
    const agreed = await estimateWithWings(world.pipeline, testIo, { caps: { maxOverage: 1 } });
    expect(agreed.refusal).toBeUndefined();
    world.pipeline.budget.calls = { percent: 90 };
    const said = await estimate();
    expect(said.steps.find(({ step }) => step === 'pages')).toMatchObject({ calls: 4, exportRows: 0n });
    const logged: string[] = [];
    const log: Io['log'] = (level, event) => void logged.push(`${level} ${event}`);
    const { row } = await syncWithWings(world.pipeline, { ...testIo, log });
    expect(row).toMatchObject({ calls: BigInt(said.calls), export_rows: 0n });
    // Who looks on learns that it will take longer.
    expect(logged).toContain('info copy.chosen');
  });

  test('too few calls are told before, and the run lands what it can', async () => {
    await world.sandbox.advance({ hours: 3, changes: 900 });
    const used = await countUsed(world);
    world.pipeline.budget.calls = { count: used + 7 };
    const said = await estimate();
    expect(said.refusal).toMatchObject({ code: 'budget', facts: { rule: 'budget.calls', wanted: said.calls } });
    expect(said.refusal?.message).toMatch(
      /the run needs about \d+ calls, but only \d+ of the \d+ allowed by budget\.calls are left/,
    );
    await expect(world.sync()).rejects.toMatchObject({ code: 'budget' });
    world.pipeline.budget.calls = { percent: 90 };
    await world.sync();
  });

  test('time is told at the rate of the plan', async () => {
    world.sandbox.changeAccount({ limits: { ratePerSecond: 4 } });
    expect(await estimate()).toMatchObject({ calls: 2, seconds: 0.5 });
  });
});

test('an estimate that is stopped does not wait for the service', async () => {
  const { intercept } = world;
  const stop = new AbortController();
  world.intercept = () => {
    stop.abort();
    return new Promise(() => {}); // never
  };
  await expect(estimateWithWings(world.pipeline, testIo, { signal: stop.signal })).rejects.toThrow();
  world.intercept = intercept;
});

/** Every file of the lake with its time and size. */
async function listFiles(): Promise<string[]> {
  const names = await readdir(world.lakePath, { recursive: true });
  const infos = await Promise.all(names.map((name) => stat(path.join(world.lakePath, name))));
  return names.map((name, index) => `${name} ${infos[index]?.mtimeMs} ${infos[index]?.size}`).sort();
}
