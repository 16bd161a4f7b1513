import { afterAll, beforeEach, expect, test } from 'vitest';
import { estimateWithWings } from '../../src/wings/index.js';
import { openWorld, testIo } from './world.js';

const world = await openWorld({ checks: 'all', items: 300, sites: 3, history: 'none' });
afterAll(() => world.close());
beforeEach(() => {
  world.pipeline.proof.facets = true;
  world.requests.length = 0;
});

const asked = () => world.requests.filter((request) => request === '/facets').length;

test("after a complete copy, the service's counts equal the lake's, including subcategories", async () => {
  const said = await estimateWithWings(world.pipeline, testIo);
  expect(said.steps.find(({ step }) => step === 'facets')).toMatchObject({ calls: 1 });
  const { row, checks } = await world.sync();
  expect(asked()).toBe(1);
  expect(row.facets_compared).toBeGreaterThan(20n);
  expect(row).toMatchObject({ facets_different: 0n, facet_differences: '[]', schema_drift: '[]' });
  expect(checks.find(({ name }) => name === 'facet_counts')?.violations).toBe(0n);
});

test("a run with the feed doesn't request the counts", async () => {
  await world.sandbox.advance({ hours: 2, changes: 20 });
  expect((await world.sync()).row).toMatchObject({ mode: 'feed', facets_compared: 0n });
  expect(asked()).toBe(0);
});

test("datasets that became locked aren't counted in the lake either", async () => {
  world.sandbox.changeAccount({ limits: { datasets: 1 } });
  world.pipeline.source.mode = 'snapshot';
  await world.sandbox.advance({ hours: 1, changes: 5 });
  const { row } = await world.sync();
  expect(row).toMatchObject({ mode: 'snapshot', facets_different: 0n });
  expect(row.facets_compared).toBeGreaterThan(5n);
  world.sandbox.changeAccount({ limits: {} });
});
