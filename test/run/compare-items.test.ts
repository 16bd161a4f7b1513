import { afterEach, describe, expect, test } from 'vitest';
import { compareItemSample } from '../../src/run/prove/compare-sample.js';
import { openWorld, testIo, type World } from './world.js';

let world: World;
afterEach(() => world.close());

const signal = new AbortController().signal;

describe('items of the published lake compared with the service', () => {
  test('are equal, as many as are asked for, and the lake stays as it is', async () => {
    world = await openWorld({ items: 150 });
    await world.sync();
    await world.sandbox.advance({ hours: 6, changes: 60 });
    await world.sync();
    world.requests.length = 0;
    const proof = await compareItemSample(world.pipeline, 60, testIo, signal);
    expect(proof.mismatches).toBe(0n);
    expect(proof.sampled).toBeGreaterThan(50n);
    expect(world.requests.filter((request) => /^\/items\/\d+$/.test(request))).toHaveLength(60);
    expect((await world.sync()).published).toBe(false);
  });

  test('that differ are named with their values; what changed since the last run is no difference', async () => {
    let brand = false;
    world = await openWorld({
      items: 100,
      plan: 'free',
      limits: { exportRowsPerMonth: 5000, datasets: null, ratePerSecond: null },
      intercept: (request, next) =>
        brand && /\/items\/\d+$/.test(request.url) ? changeBrand(request, next) : undefined,
    });
    await world.sync();
    await world.sandbox.advance({ hours: 6, changes: 30 });
    expect((await compareItemSample(world.pipeline, 100, testIo, signal)).mismatches).toBe(0n);
    brand = true;
    const proof = await compareItemSample(world.pipeline, 20, testIo, signal);
    expect(proof.mismatches).toBeGreaterThan(5n);
    expect(proof.differences).toMatch(/^\[\{"item_id":\d+,"differences":\["brand"\]\}/);
  });

  test('need calls: a budget that has none left ends it', async () => {
    world = await openWorld({ items: 60 });
    await world.sync();
    world.pipeline.budget.calls = { count: 20 };
    await expect(compareItemSample(world.pipeline, 50, testIo, signal)).rejects.toMatchObject({ code: 'budget' });
  });
});

async function changeBrand(request: Request, next: (request: Request) => Promise<Response>): Promise<Response> {
  const text = (await (await next(request)).text()).replace(/"brand":(null|"[^"]*")/, '"brand":"Elsewhere"');
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}
