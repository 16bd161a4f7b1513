import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld, readLake, type World } from './world.js';

let world: World;
/** True when exports show another brand than the items themselves. */
let isOther = false;
beforeAll(async () => {
  world = await openWorld({
    checks: 'all',
    items: 200,
    intercept: (request, next) => (isOther && request.url.includes('/export') ? changeBrand(request, next) : undefined),
  });
});
afterAll(() => world.close());

const singles = () => world.requests.filter((request) => /^\/items\/\d+$/.test(request));
const readProof = () =>
  readLake(
    world.lakePath,
    (glob) =>
      `SELECT sampled, sample_mismatches, sample_differences FROM ${glob('runs')} ORDER BY run_number DESC LIMIT 1`,
  );

describe('the sample of a run', () => {
  test('is read again one by one, and equals the lake', async () => {
    world.pipeline.proof.sample = 12;
    const { row, checks } = await world.sync();
    expect(singles()).toHaveLength(12);
    // An item that changed in the last minute before the newest change is not judged.
    expect(row.sampled).toBeGreaterThan(6n);
    expect(row.sample_mismatches).toBe(0n);
    expect(row.mismatch_bound).toBeCloseTo(1 - 0.05 ** (1 / Number(row.sampled)), 3);
    expect(checks.find(({ name }) => name === 'sample_matches')?.violations).toBe(0n);
    expect(await readProof()).toEqual([[String(row.sampled), '0', '[]']]);
  });

  test('is another one in each run that publishes, and none in a run without news', async () => {
    const first = singles();
    await world.sync();
    expect(singles()).toEqual(first);
    await world.sandbox.advance({ hours: 1, changes: 5 });
    await world.sync();
    expect(new Set(singles()).size).toBeGreaterThan(first.length);
  });

  test('finds what differs, by value', async () => {
    world.renew();
    isOther = true;
    world.pipeline.proof.sample = 20;
    const { row, checks } = await world.sync();
    expect(row.sample_mismatches).toBeGreaterThan(0n);
    const found = JSON.parse(row.sample_differences) as { item_id: number; differences: string[] }[];
    expect(found.every(({ differences }) => differences.join() === 'brand')).toBe(true);
    const check = checks.find(({ name }) => name === 'sample_matches');
    expect(check).toMatchObject({ severity: 'error', violations: row.sample_mismatches });
  });
});

async function changeBrand(request: Request, next: (request: Request) => Promise<Response>): Promise<Response> {
  const answer = await next(request);
  const text = (await answer.text()).replaceAll(/"brand":"[^"]+"/g, '"brand":"Elsewhere"');
  return new Response(text, { headers: answer.headers });
}
