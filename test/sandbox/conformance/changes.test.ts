import { afterAll, describe, expect, it } from 'vitest';
import { changePage } from '../../../src/api/contract.js';
import { Service } from '../service.js';

const service = await Service.start({ items: 1500 });
afterAll(() => service.close());

describe('§4 /changes: the change feed', () => {
  it('is oldest first, with increasing ids', async () => {
    const ids = (await service.readFeed()).map(({ id }) => id);
    expect(ids.every((id, k) => k === 0 || id > (ids[k - 1] as bigint))).toBe(true);
    expect(ids[0]).toBeGreaterThan(2n ** 53n);
  });

  it('after is 0 by default, which means from the beginning of the plan’s history', async () => {
    const first = await service.read('/changes', changePage);
    expect(await service.read('/changes?after=0', changePage)).toEqual(first);
    const { changes: truth } = await service.readTruth();
    expect(first.changes).toEqual(truth.slice(0, 500));
  });

  it('passing each nextCursor as after while hasMore is true delivers each change exactly once', async () => {
    const { changes: truth } = await service.readTruth();
    for (const limit of [97, 1000]) expect(await service.readFeed(0n, limit)).toEqual(truth);
  });

  it('a stored cursor can be continued later', async () => {
    const cursor = (await service.readFeed()).at(-1)?.id;
    expect(await service.read(`/changes?after=${cursor}`, changePage)).toEqual({
      ...{ changes: [], hasMore: false, nextCursor: cursor },
    });
    await service.sandbox.advance({ hours: 1, changes: 30 });
    expect(await service.readFeed(cursor, 7)).toHaveLength(30);
  });

  it('dataset: only changes of items in this dataset', async () => {
    const all = new Set((await service.readFeed()).map(({ id }) => id));
    const some = await service.readFeed(0n, 1000, '&dataset=17');
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(all.size);
    expect(some.every(({ id }) => all.has(id))).toBe(true);
  });

  it('changes appear about 30 seconds after they happen, in /changes/recent too', async () => {
    const running = await Service.start({ items: 300, clock: 'real' });
    const before = (await running.readFeed()).length;
    expect((await running.sandbox.advance({ hours: 0.001, changes: 40 })).changes).toBe(40);
    expect((await running.readFeed()).length).toBe(before);
    const newest = async () => (await running.read('/changes/recent?limit=1', changePage)).changes[0]?.id;
    const seen = await newest();
    await running.sandbox.advance({ hours: 0.02, changes: 0 });
    expect((await running.readFeed()).length).toBe(before + 40);
    expect(await newest()).toBeGreaterThan(seen as bigint);
    await running.close();
  });
});

describe('§4 /changes/recent: latest changes, newest first', () => {
  it('nextCursor, the last id of a page, is passed as before to go back', async () => {
    const back = [];
    let query = '';
    for (;;) {
      const page = await service.read(`/changes/recent?limit=200${query}`, changePage);
      expect(page.nextCursor).toBe(page.changes.at(-1)?.id);
      back.push(...page.changes);
      if (!page.hasMore) break;
      query = `&before=${page.nextCursor}`;
    }
    expect(back).toEqual((await service.readFeed()).reverse());
  });

  it.each(['NEW', 'CHANGED', 'REMOVED', 'RELISTED'])('kind %s: only changes of this kind', async (kind) => {
    const { changes } = await service.read(`/changes/recent?kind=${kind}&limit=20`, changePage);
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.every((one) => one.kind === kind)).toBe(true);
  });

  it.each([
    ['PRICE_DROP', -1],
    ['PRICE_RISE', 1],
  ] as const)('kind %s: only changes that move the price in this direction', async (kind, sign) => {
    const { changes } = await service.read(`/changes/recent?kind=${kind}&limit=200`, changePage);
    expect(changes.length).toBeGreaterThan(10);
    for (const one of changes) {
      expect(one.kind).toBe('CHANGED');
      expect(Math.sign((one.price ?? 0) - (one.previousPrice ?? 0))).toBe(sign);
    }
  });

  it('the newest id is a safe start for /changes?after=', async () => {
    const [newest] = (await service.read('/changes/recent?limit=1', changePage)).changes;
    expect(await service.readFeed(newest?.id)).toEqual([]);
    await service.sandbox.advance({ hours: 1, changes: 25 });
    expect(await service.readFeed(newest?.id)).toHaveLength(25);
  });

  it('a change appears in /changes/recent when it appears in /changes', async () => {
    await service.sandbox.advance({ hours: 1, changes: 5 });
    const { changes } = await service.read('/changes/recent?limit=1', changePage);
    expect(changes[0]?.id).toBe((await service.readFeed()).at(-1)?.id);
  });

  it('dataset: only changes of items in this dataset', async () => {
    const { changes } = await service.read('/changes/recent?dataset=17&limit=200', changePage);
    const feed = await service.readFeed(0n, 1000, '&dataset=17');
    expect(changes).toEqual(feed.slice(-200).reverse());
  });
});
