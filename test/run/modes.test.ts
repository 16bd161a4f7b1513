import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectExactCopy } from './exact-copy.js';
import { changeText, openWorld, readLake, refuse, type World } from './world.js';

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

/** An export without one of its items. */
async function leaveOut(
  request: Request,
  next: (request: Request) => Promise<Response>,
  id: string,
): Promise<Response> {
  const answer = await next(request);
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.includes(`"id":${id},`));
  const headers = new Headers(answer.headers);
  headers.set('x-export-rows', String(lines.length));
  return new Response(`${lines.join('\n')}\n`, { headers });
}

describe('a complete copy of a lake that exists', () => {
  let copied: string;
  beforeAll(async () => {
    world = await openWorld({ items: 120, sites: 3 });
    await world.sync();
    copied = world.lakePath;
  });
  afterAll(() => world.close());
  beforeEach(() => world.renew(copied));

  test('marks missing items as gone, and lists them again when they return', async () => {
    let hidden: string | undefined;
    world.intercept = (request, next) => {
      if (hidden === undefined) return undefined;
      if (request.url.endsWith(`/items/${hidden}`)) return Promise.resolve(refuse(404));
      return request.url.includes('/export') ? leaveOut(request, next, hidden) : undefined;
    };
    world.pipeline.source.mode = 'snapshot';
    const read = (column: string) =>
      readLake(world.lakePath, (glob) => `SELECT ${column} FROM ${glob('items')} WHERE item_id = ${hidden}`);
    hidden = /"id":(\d+)/.exec((await world.sandbox.dump()).items[7] ?? '')?.[1] ?? '';
    const { row } = await world.sync();
    expect(row).toMatchObject({ gone: 1n, differences: 0n, received: row.deduplicated });
    expect(await read('gone_at IS NOT NULL, is_listed')).toEqual([['true', 'false']]);
    expect((await world.sync()).published).toBe(false);
    const id = hidden;
    hidden = undefined;
    expect((await world.sync()).row).toMatchObject({ gone: 0n, written: 1n });
    hidden = id;
    expect(await read('gone_at IS NULL')).toEqual([['true']]);
  });

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
