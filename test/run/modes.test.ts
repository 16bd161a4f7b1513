import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectExactCopy } from './exact-copy.js';
import { changeText, openWorld, readLake, type World } from './world.js';

let world: World;

const feedRequests = () => world.requests.filter((request) => request.startsWith('/changes'));

describe('without a change feed', () => {
  const limits = { exportRowsPerMonth: 5_000, datasets: null, delayHours: 0 };

  beforeAll(async () => {
    world = await openWorld({ items: 250, plan: 'free', limits });
    expect((await world.sync()).row).toMatchObject({ mode: 'snapshot', cursor_to: null });
    await expectExactCopy(world);
  });
  afterAll(() => world.close());

  test('a run polls the items that changed', async () => {
    await world.sandbox.advance({ hours: 6, changes: 80 });
    const { row } = await world.sync();
    expect(row).toMatchObject({ mode: 'poll', reason: 'the plan has no change feed' });
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
    await expectExactCopy(world);
  });

  test('a run that finds no change writes nothing, and the overlap of polls adds no difference twice', async () => {
    const history = () => readLake(world.lakePath, (glob) => `SELECT count(*) FROM ${glob('history')}`);
    const before = await history();
    const report = await world.sync();
    expect(report.published).toBe(false);
    expect(report.row.received).toBe(report.row.deduplicated);
    await world.sandbox.advance({ hours: 1, changes: 5 });
    await world.sync();
    expect(Number((await history())[0]?.[0]) - Number(before[0]?.[0])).toBeLessThanOrEqual(10);
    await expectExactCopy(world);
    expect(feedRequests()).toEqual([]);
  });
});

describe('a complete copy of a lake that exists', () => {
  let copied: string;
  beforeAll(async () => {
    world = await openWorld({ items: 120, sites: 3 });
    await world.sync();
    copied = world.lakePath;
  });
  afterAll(() => world.close());
  beforeEach(() => world.renew(copied));

  test("doesn't mark an item as gone if its row couldn't be read", async () => {
    world.intercept = changeText(/export/, (text) => text.replace(/"price":[^,]+,/, '"price":"soon",'));
    world.pipeline.source.mode = 'snapshot';
    const { row } = await world.sync();
    expect(row).toMatchObject({ rejected: 1n, gone: 0n });
    await expectExactCopy(world);
  });

  test('is made when a comparison is due', async () => {
    world.pipeline.reconcile = 7 * 24 * 3600 * 1000;
    expect((await world.sync()).row.mode).toBe('feed');
    world.clock.days = 8;
    expect((await world.sync()).row).toMatchObject({
      mode: 'snapshot',
      reason: 'a complete comparison is due',
      differences: 0n,
      gone: 0n,
    });
    expect((await world.sync()).row.mode).toBe('feed');
    await expectExactCopy(world);
  });
});
