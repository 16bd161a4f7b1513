import { describe, expect, onTestFinished, test } from 'vitest';
import { syncWithWings } from '../../src/wings/index.js';
import { boundMismatchRate, proveItems } from '../../src/wings/sample/prove-sample.js';
import { changeText, openWorld, readLake, testIo, type World, type WorldOptions } from './world.js';

let world: World;
async function open(options: WorldOptions): Promise<void> {
  world = await openWorld(options);
  onTestFinished(() => world.close());
}

const singles = () => world.requests.filter((request) => /^\/items\/\d+$/.test(request));
const readProof = () =>
  readLake(
    world.lakePath,
    (glob) =>
      `SELECT sampled, sample_mismatches, sample_differences FROM ${glob('runs')} ORDER BY run_number DESC LIMIT 1`,
  );

describe('the sample of a run', () => {
  test('is read one by one and equals the lake, and each run that publishes has another sample', async () => {
    await open({ checks: 'all', items: 200 });
    world.pipeline.proof.sample = 12;
    const { row, checks } = await world.sync();
    expect(singles()).toHaveLength(12);
    // An item that changed in the last minute before the newest change isn't judged.
    expect(row.sampled).toBeGreaterThan(6n);
    expect(row.sample_mismatches).toBe(0n);
    expect(row.mismatch_bound).toBeCloseTo(1 - 0.05 ** (1 / Number(row.sampled)), 3);
    expect(checks.find(({ name }) => name === 'sample_matches')?.violations).toBe(0n);
    expect(await readProof()).toEqual([[String(row.sampled), '0', '[]']]);

    const first = singles();
    await world.sync();
    expect(singles()).toEqual(first);
    await world.sandbox.advance({ hours: 1, changes: 5 });
    await world.sync();
    expect(new Set(singles()).size).toBeGreaterThan(first.length);
  });

  test('equals the lake if the service writes the members of an object in an attribute in another order', async () => {
    let order = '"weight":{"kg":1,"lb":2.2}';
    await open({
      items: 60,
      intercept: changeText(/\/(export|items.*)$/, (text) =>
        text.replaceAll('"attributes":{', `"attributes":{${order},`),
      ),
    });
    world.pipeline.proof.sample = 10;
    await world.sync();
    order = '"weight":{"lb":2.2,"kg":1}';
    await world.sandbox.advance({ hours: 1, changes: 3 });
    const { row } = await world.sync();
    expect(row.sampled).toBeGreaterThan(0n);
    expect(row.sample_differences).toBe('[]');
    world.pipeline.source.mode = 'snapshot';
    expect((await world.sync()).row.differences).toBe(0n);
  });

  test("doesn't delay the derived tables if the service answers late", async () => {
    let release = () => {};
    await open({
      items: 200,
      sites: 3,
      intercept: async (request, next) => {
        if (/\/items\/\d+$/.test(new URL(request.url).pathname))
          await new Promise<void>((resolve) => (release = resolve));
        return next(request);
      },
    });
    world.pipeline.proof.sample = 1;
    const log: typeof testIo.log = (_level, event, fields) => {
      if (event === 'staged' && fields?.table === 'price_spread') release();
    };
    const { row } = await syncWithWings(world.pipeline, { ...testIo, log });
    expect(row).toMatchObject({ sampled: 1n, sample_mismatches: 0n });
  });
});

const signal = new AbortController().signal;

describe('items in the published lake, compared with the service,', () => {
  test('are equal, as many as requested, and the lake is unchanged', async () => {
    await open({ items: 150 });
    await world.sync();
    await world.sandbox.advance({ hours: 6, changes: 60 });
    await world.sync();
    world.requests.length = 0;
    const proof = await proveItems(world.pipeline, 60, testIo, signal);
    expect(proof.mismatches).toBe(0n);
    expect(proof.sampled).toBeGreaterThan(50n);
    expect(world.requests.filter((request) => /^\/items\/\d+$/.test(request))).toHaveLength(60);
    expect((await world.sync()).published).toBe(false);
  });

  test('are listed with their values if they differ, unless they changed since the last run', async () => {
    await open({
      items: 100,
      plan: 'free',
      limits: { exportRowsPerMonth: 5000, datasets: null, ratePerSecond: null },
    });
    await world.sync();
    await world.sandbox.advance({ hours: 6, changes: 30 });
    expect((await proveItems(world.pipeline, 100, testIo, signal)).mismatches).toBe(0n);
    world.intercept = changeText(/\/items\/\d+$/, (text) =>
      text.replace(/"brand":(null|"[^"]*")/, '"brand":"Elsewhere"'),
    );
    const proof = await proveItems(world.pipeline, 20, testIo, signal);
    expect(proof.mismatches).toBeGreaterThan(5n);
    expect(proof.differences).toMatch(/^\[\{"item_id":\d+,"differences":\["brand"\]\}/);
  });

  test('need calls, and a budget without calls ends the comparison', async () => {
    await open({ items: 60 });
    await world.sync();
    world.pipeline.budget.calls = { count: 20 };
    await expect(proveItems(world.pipeline, 50, testIo, signal)).rejects.toMatchObject({ code: 'budget' });
  });
});

describe('the upper bound of a mismatch rate', () => {
  test.each([
    // One-sided 95 % Clopper–Pearson, from tables.
    [0, 10, 0.2589],
    [0, 100, 0.02951],
    [1, 20, 0.2161],
    [5, 50, 0.1987],
    [3, 1000, 0.00773],
  ])('with %i of %i is %f', (found, sampled, bound) => {
    expect(boundMismatchRate(found, sampled)).toBeCloseTo(bound, 3);
  });

  test('is 1 if nothing was sampled, or if everything differs', () => {
    expect(boundMismatchRate(0, 0)).toBe(1);
    expect(boundMismatchRate(4, 4)).toBe(1);
  });
});
