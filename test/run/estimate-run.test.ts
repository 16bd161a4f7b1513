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

/** Estimates, and expects that the next run takes what was estimated. */
async function expectKept(): Promise<RunEstimate> {
  const said = await estimate();
  expect(said.refusal).toBeUndefined();
  const { row } = await world.sync();
  expect([row.mode, row.reason]).toEqual([said.mode, said.reason]);
  expect(row.export_rows).toBe(said.exportRows);
  return said;
}

describe('the estimate', () => {
  test('of a first copy includes an export of all items and the history, and writes no file', async () => {
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

  test('of a run without changes is two calls', async () => {
    const said = await expectKept();
    expect(said).toMatchObject({ mode: 'feed', calls: 2, exact: true, looked: 2 });
  });

  test('of changes includes pages, and reads of the items whose changes lack values', async () => {
    await world.sandbox.advance({ hours: 3, changes: 120 });
    const said = await estimate();
    const before = world.requests.length;
    const { row } = await world.sync();
    expect(said.calls).toBe(world.requests.length - before);
    expect(BigInt(said.calls)).toBe(row.calls);
    expect(said.steps.map(({ step }) => step)).toEqual(['plan', 'feed', 'hydrate', 'datasets']);
    expect(said.steps.find(({ step }) => step === 'feed')).toMatchObject({ calls: 1, exact: true });
  });

  test('of more changes than one page contains includes a call for each page', async () => {
    await world.sandbox.advance({ hours: 3, changes: 600 });
    const said = await estimate();
    world.requests.length = 0;
    await world.sync();
    const pages = world.requests.filter((request) => request.startsWith('/changes?')).length;
    expect(pages).toBeGreaterThan(2);
    expect(said.steps.find(({ step }) => step === 'feed')).toMatchObject({ calls: pages, exact: false });
  });

  test('of a poll includes the pages of changed items, and the counts that show whether it missed any', async () => {
    await world.sandbox.advance({ hours: 3, changes: 60 });
    world.pipeline.source.mode = 'poll';
    const said = await estimate();
    const { row } = await world.sync();
    expect(BigInt(said.calls)).toBe(row.calls);
    expect(said.mode).toBe('poll');
    expect(said.steps.find(({ step }) => step === 'poll')).toMatchObject({ exact: true });
    // More calls if the counts don't agree.
    expect(said.steps.find(({ step }) => step === 'listing')).toMatchObject({ calls: 1, exact: false });
  });

  test('of an interrupted run includes only the rest, and leaves the files unchanged', async () => {
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

describe('the estimate of a run that would fail', () => {
  test('reports an export beyond the plan with the date at which it is possible, or the pages that replace it', async () => {
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
    // The log says that the copy takes longer.
    expect(logged).toContain('info copy.chosen');
  });

  test('reports too few calls, and the run lands what it can', async () => {
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

  test("contains the time at the plan's rate", async () => {
    world.sandbox.changeAccount({ limits: { ratePerSecond: 4 } });
    expect(await estimate()).toMatchObject({ calls: 2, seconds: 0.5 });
  });
});

test("a stopped estimate doesn't wait for the service", async () => {
  const { intercept } = world;
  const stop = new AbortController();
  world.intercept = () => {
    stop.abort();
    return new Promise(() => {}); // never
  };
  await expect(estimateWithWings(world.pipeline, testIo, { signal: stop.signal })).rejects.toThrow();
  world.intercept = intercept;
});

/** Every file in the lake with its time and size. */
async function listFiles(): Promise<string[]> {
  const names = await readdir(world.lakePath, { recursive: true });
  const infos = await Promise.all(names.map((name) => stat(path.join(world.lakePath, name))));
  return names.map((name, index) => `${name} ${infos[index]?.mtimeMs} ${infos[index]?.size}`).sort();
}
