import { afterAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { item } from '../../../src/api/contract.js';
import { Service } from '../service.js';

type Item = z.infer<typeof item>;

const readItems = async () => new Map((await service.readTruth()).items.map((one) => [one.id, one]));

const service = await Service.start({ items: 600 });
const before = await readItems();
const cursor = (await service.readFeed()).at(-1)?.id;
await service.sandbox.advance({ hours: 6, changes: 300 });
const after = await readItems();
const fresh = await service.readFeed(cursor);
afterAll(() => service.close());

/** Pairs of items before and after a step that made one change of this kind to them. */
function pairs(kind: string): { old: Item | undefined; now: Item; entry: (typeof fresh)[number] }[] {
  const single = fresh.filter((one) => fresh.filter((other) => other.item?.id === one.item?.id).length === 1);
  const found = single.filter((one) => one.kind === kind && one.item !== null);
  expect(found.length).toBeGreaterThan(3);
  return found.map((entry) => {
    const id = entry.item?.id as bigint;
    return { old: before.get(id), now: after.get(id) as Item, entry };
  });
}

describe('§3 Listing state of an item', () => {
  it('NEW: the service finds the listing for the first time', () => {
    for (const { old, now, entry } of pairs('NEW')) {
      expect(old).toBeUndefined();
      expect(now).toMatchObject({ firstSeenAt: entry.observedAt, removedAt: null, price: entry.price });
    }
  });

  it('CHANGED: a value changes and lastChangedAt updates', () => {
    for (const { old, now, entry } of pairs('CHANGED')) {
      expect(old?.removedAt).toBeNull();
      expect(now).toMatchObject({ lastChangedAt: entry.observedAt, removedAt: null });
      expect(Object.keys(entry.changes).length).toBeGreaterThan(0);
    }
  });

  it('previousPrice and priceChangedAt change with the price only', () => {
    for (const { old, now, entry } of pairs('CHANGED')) {
      if ('price' in entry.changes) {
        expect(now).toMatchObject({ previousPrice: old?.price, priceChangedAt: entry.observedAt, price: entry.price });
      } else expect(now).toMatchObject({ previousPrice: old?.previousPrice, priceChangedAt: old?.priceChangedAt });
    }
  });

  it('REMOVED: the shop stops listing it and removedAt is set', () => {
    for (const { old, now, entry } of pairs('REMOVED')) {
      expect(old?.removedAt).toBeNull();
      expect(now.removedAt).toBe(entry.observedAt);
    }
  });

  it('RELISTED: the listing is back, and removedAt is null again', () => {
    for (const { old, now } of pairs('RELISTED')) {
      expect(old?.removedAt).not.toBeNull();
      expect(now.removedAt).toBeNull();
    }
  });

  it('the feed lists every change in order, and items without a change stay as they were', () => {
    const named = new Set(fresh.map((one) => one.item?.id));
    const state = ({ price, title, removedAt, lastChangedAt }: Item) => ({ price, title, removedAt, lastChangedAt });
    for (const [id, one] of before) if (!named.has(id)) expect(state(after.get(id) as Item)).toEqual(state(one));
    const ids = fresh.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)));
    const times = fresh.map(({ observedAt }) => observedAt.replace('Z', ''));
    expect(times).toEqual([...times].sort());
  });

  it('PRICE_DROP and PRICE_RISE are only filter values, and no change has this kind', () => {
    expect(new Set(fresh.map(({ kind }) => kind))).toEqual(new Set(['NEW', 'CHANGED', 'REMOVED', 'RELISTED']));
  });
});
