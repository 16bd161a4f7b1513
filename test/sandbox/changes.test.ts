import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { change, changePage, limitErrorBody } from '../../src/api/contract.js';
import { parse, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

describe('GET /changes', () => {
  it('delivers each change exactly once, in the order of ids above 2^53', async () => {
    const truth = (await service.sandbox.dump()).changes.map((line) => parse(line, change));
    const feed = await service.readFeed(0n, 333);
    expect(feed).toEqual(truth);
    const ids = feed.map(({ id }) => id);
    expect(ids.every((id, k) => k === 0 || id > (ids[k - 1] as bigint))).toBe(true);
    expect(ids[0]).toBeGreaterThan(2n ** 53n);
  });

  it('says that more are waiting only when there are', async () => {
    const feed = await service.readFeed();
    const last = feed.at(-1)?.id as bigint;
    const beforeLast = feed.at(-2)?.id as bigint;
    const one = await service.read(`/changes?after=${beforeLast}&limit=1`, changePage);
    expect(one).toMatchObject({ hasMore: false, nextCursor: last });
    const none = await service.read(`/changes?after=${last}`, changePage);
    expect(none).toEqual({ changes: [], hasMore: false, nextCursor: last });
  });

  it('keeps to one dataset when asked to', async () => {
    const all = await service.readFeed();
    const some = await service.readFeed(0n, 1000, '&dataset=17');
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(all.length);
    const ids = new Set(all.map(({ id }) => id));
    expect(some.every(({ id }) => ids.has(id))).toBe(true);
  });

  it('has entries without an item, where it is gone from the caller’s data', async () => {
    const world = await Service.start({ items: 2500 });
    const gone = (await world.readFeed()).filter((entry) => entry.item === null);
    expect(gone.map(({ kind }) => kind).sort()).toEqual(['NEW', 'REMOVED']);
    await world.close();
  });

  it('reaches back no further than historyDays', async () => {
    const short = await Service.start({ limits: { historyDays: 10 } });
    const feed = await short.readFeed();
    expect(feed.length).toBeGreaterThan(5);
    expect(feed.every(({ observedAt }) => observedAt >= '2026-11-10T06:00:00')).toBe(true);
    expect(feed.length).toBeLessThan((await short.sandbox.dump()).changes.length);
    await short.close();
  });

  it('refuses a limit above 1000 and a cursor that is no integer', async () => {
    for (const query of ['limit=1001', 'limit=0', 'after=1.5']) {
      expect((await service.get(`/changes?${query}`)).status).toBe(400);
    }
  });

  it('answers 402 with the limit changeFeed on Free', async () => {
    const free = await Service.start({ plan: 'free' });
    const answer = await free.get('/changes');
    expect(answer.status).toBe(402);
    expect(parse(answer.text, limitErrorBody)).toMatchObject({ limit: 'changeFeed', allowed: false, plan: 'free' });
    await free.close();
  });

  it('holds a change back for 30 seconds when the clock runs', async () => {
    const running = await Service.start({ items: 300, clock: 'real' });
    const before = (await running.readFeed()).length;
    const { changes } = await running.sandbox.advance({ hours: 0.001, changes: 40 });
    expect(changes).toBe(40);
    expect((await running.readFeed()).length).toBe(before);
    await running.sandbox.advance({ hours: 0.02, changes: 0 });
    expect((await running.readFeed()).length).toBe(before + 40);
    await running.close();
  });
});

describe('GET /changes/recent', () => {
  it('goes back from the newest change by `before`', async () => {
    const feed = await service.readFeed();
    const back = [];
    let query = '';
    for (;;) {
      const page = await service.read(`/changes/recent?limit=200${query}`, changePage);
      back.push(...page.changes);
      if (!page.hasMore) break;
      query = `&before=${page.nextCursor}`;
    }
    expect(back).toEqual([...feed].reverse());
  });

  it('filters by each kind; a price drop is a change to a lower price', async () => {
    for (const kind of ['NEW', 'CHANGED', 'REMOVED', 'RELISTED']) {
      const page = await service.read(`/changes/recent?kind=${kind}&limit=20`, changePage);
      expect(page.changes.length).toBeGreaterThan(0);
      expect(page.changes.every((entry) => entry.kind === kind)).toBe(true);
    }
    for (const [kind, sign] of [
      ['PRICE_DROP', -1],
      ['PRICE_RISE', 1],
    ] as const) {
      const { changes } = await service.read(`/changes/recent?kind=${kind}&limit=200`, changePage);
      expect(changes.length).toBeGreaterThan(10);
      for (const { price, previousPrice } of changes) {
        expect(Math.sign((price ?? 0) - (previousPrice ?? 0))).toBe(sign);
      }
    }
  });

  it('gives a safe start: nothing follows its newest id until the world moves', async () => {
    const { changes } = await service.read('/changes/recent?limit=1', changePage);
    expect(await service.readFeed(changes[0]?.id)).toEqual([]);
    await service.sandbox.advance({ hours: 1, changes: 25 });
    expect(await service.readFeed(changes[0]?.id)).toHaveLength(25);
  });

  it('refuses an unknown kind and a limit above 200', async () => {
    for (const [query, name] of [
      ['kind=SOLD', 'kind'],
      ['limit=201', 'limit'],
    ]) {
      const answer = await service.get(`/changes/recent?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(`'${name}'`);
    }
  });
});
