import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { estimateRun } from '../../src/run/plan/estimate-run.js';
import { openWorld, testIo, type World } from './world.js';

/** Added to the first website's count. */
let more = 0;
let world: World;
beforeAll(async () => {
  world = await openWorld({
    checks: 'all',
    items: 300,
    sites: 3,
    history: 'none',
    intercept: async (request, next) => {
      const answer = await next(request);
      if (more === 0 || !request.url.endsWith('/facets')) return answer;
      const facets = (await answer.json()) as { sites: { items: number }[] };
      (facets.sites[0] as { items: number }).items += more;
      return Response.json(facets);
    },
  });
});
afterAll(() => world.close());
beforeEach(() => {
  world.pipeline.proof.facets = true;
  world.requests.length = 0;
});

const asked = () => world.requests.filter((request) => request === '/facets').length;

test('after a complete copy the counts of the service are those of the lake, subcategories included', async () => {
  const said = await estimateRun(world.pipeline, testIo);
  expect(said.steps.find(({ step }) => step === 'facets')).toMatchObject({ calls: 1 });
  const { row, checks } = await world.sync();
  expect(asked()).toBe(1);
  expect(row.facets_compared).toBeGreaterThan(20n);
  expect(row).toMatchObject({ facets_different: 0n, facet_differences: '[]', schema_drift: '[]' });
  expect(checks.find(({ name }) => name === 'facet_counts')?.violations).toBe(0n);
});

test('a run by the feed asks for none', async () => {
  await world.sandbox.advance({ hours: 2, changes: 20 });
  expect((await world.sync()).row).toMatchObject({ mode: 'feed', facets_compared: 0n });
  expect(asked()).toBe(0);
});

test('datasets that became locked are not counted in the lake either', async () => {
  world.sandbox.changeAccount({ limits: { datasets: 1 } });
  world.pipeline.source.mode = 'snapshot';
  await world.sandbox.advance({ hours: 1, changes: 5 });
  const { row } = await world.sync();
  expect(row).toMatchObject({ mode: 'snapshot', facets_different: 0n });
  expect(row.facets_compared).toBeGreaterThan(5n);
  world.sandbox.changeAccount({ limits: {} });
});

test('a count that differs by more than what moves meanwhile is told, with both', async () => {
  more = 6;
  await world.sandbox.advance({ hours: 1, changes: 5 });
  const { row, checks } = await world.sync();
  const [difference] = JSON.parse(row.facet_differences);
  expect(difference).toMatchObject({ facet: 'site', service: difference.lake + 6, name: expect.any(String) });
  const check = checks.find(({ name }) => name === 'facet_counts');
  expect(check).toMatchObject({ severity: 'warn', violations: 1n });
  expect(JSON.parse(check?.sample ?? '')).toMatchObject([{ facet: 'site', service: difference.service }]);
});
