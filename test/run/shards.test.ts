import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { expectExactCopy } from './exact-copy.js';
import { openWorld, readLake } from './world.js';

/** Changes the service before it answers an export. */
let beforeExport: () => Promise<unknown>;

const world = await openWorld({
  items: 120,
  sites: 4,
  history: 'none',
  intercept: async (request, next) => {
    if (request.url.includes('/export?')) await beforeExport();
    return next(request);
  },
});
afterAll(() => world.close());
beforeEach(() => {
  beforeExport = async () => {};
  world.sandbox.armFaults([]);
  world.sandbox.changeAccount({ plan: 'pro', limits: { ratePerSecond: null } });
  world.renew();
  world.pipeline.source.splitAbove = 40;
});

/** The requested exports, as `active 3` or `removed`. */
const exportsAsked = () =>
  world.requests
    .filter((request) => request.startsWith('/export?'))
    .map((request) => {
      const query = new URLSearchParams(request.slice('/export?'.length));
      return `${query.get('status')} ${query.get('site') ?? ''}`.trim();
    });

const NO_FEED = { exportRowsPerMonth: 5_000, datasets: null, delayHours: 0, ratePerSecond: null };

describe('an export split into shards', () => {
  test('returns every item once, including removed items', async () => {
    const { row } = await world.sync();
    await expectExactCopy(world);
    expect(exportsAsked().sort()).toEqual([...new Set(exportsAsked())].sort());
    expect(exportsAsked()).toHaveLength(5);
    expect(exportsAsked()).toContain('removed');
    expect(row.export_rows).toBe(row.items);
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
  });

  test.each([
    ['with the feed', undefined],
    ['without a feed', NO_FEED],
  ])('misses no item that moves between shards while they are read, %s', async (_case, limits) => {
    if (limits !== undefined) world.sandbox.changeAccount({ plan: 'free', limits });
    let exports = 0;
    beforeExport = async () => {
      // Items are removed, relisted and added between any two shards.
      if (exports++ > 0) await world.sandbox.advance({ hours: 2, changes: 30 });
    };
    const { row } = await world.sync();
    expect(exports).toBe(5);
    await expectExactCopy(world);
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
    const [[ids, rows] = []] = await readLake(
      world.lakePath,
      (glob) => `SELECT count(DISTINCT item_id), count(*) FROM ${glob('items')}`,
    );
    expect(ids).toBe(rows);
  });

  test('that is interrupted in one shard requests only that shard again', async () => {
    world.sandbox.armFaults(['export:drop@2']);
    const { row } = await world.sync();
    await expectExactCopy(world);
    const asked = exportsAsked();
    expect(asked).toHaveLength(6);
    expect(new Set(asked).size).toBe(5);
    expect(row.export_rows_landed).toBe(row.items);
  });

  test('of a stopped run continues with the missing shards', async () => {
    world.sandbox.armFaults(['export:drop@4-']);
    await expect(world.sync()).rejects.toMatchObject({ code: 'unavailable' });
    const before = exportsAsked();
    world.sandbox.armFaults([]);
    world.requests.length = 0;
    const { row } = await world.sync();
    expect(exportsAsked().length).toBeLessThanOrEqual(2);
    const firstThree = before.slice(0, 3);
    expect(exportsAsked().filter((shard) => firstThree.includes(shard))).toEqual([]);
    expect(world.requests.some((request) => request.startsWith('/facets'))).toBe(false);
    await expectExactCopy(world);
    expect(row.export_rows_landed).toBe(row.items);
  });
});
