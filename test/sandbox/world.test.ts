import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { change, item } from '../../src/api/contract.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { Service } from './service.js';

type Item = z.infer<typeof item>;
type Change = z.infer<typeof change>;

async function readState(service: Service): Promise<{ items: Map<bigint, Item>; changes: Change[] }> {
  const { items, changes } = await service.readTruth();
  return { items: new Map(items.map((one) => [one.id, one])), changes };
}

/** The state of an item that the feed alone determines. */
type Replayed = Pick<Item, 'price' | 'previousPrice' | 'title' | 'removedAt' | 'lastChangedAt'>;

function replay(before: Map<bigint, Replayed>, changes: Change[]): Map<bigint, Replayed> {
  const state = new Map(before);
  for (const entry of changes) {
    if (entry.item === null) continue;
    const known = state.get(entry.item.id) ?? { price: null, previousPrice: null, title: null, removedAt: null };
    const moved = entry.changes.price;
    if (moved !== undefined) expect(moved).toEqual([known.price, entry.price]);
    if (moved !== undefined) expect(entry.previousPrice).toBe(known.price);
    state.set(entry.item.id, {
      price: entry.price,
      previousPrice: moved === undefined ? known.previousPrice : (moved[0] as number | null),
      title: entry.kind === 'NEW' ? entry.item.title : ((entry.changes.title?.[1] as string) ?? known.title),
      removedAt: entry.kind === 'REMOVED' ? entry.observedAt : entry.kind === 'RELISTED' ? null : known.removedAt,
      lastChangedAt: entry.observedAt,
    });
  }
  return state;
}

const told = ({ price, previousPrice, removedAt, lastChangedAt }: Replayed) => ({
  ...{ price, previousPrice, removedAt, lastChangedAt },
});

describe('a seed', () => {
  it('yields the same keys and bytes again, also after the same steps, and another seed yields others', async () => {
    const [first, second, other] = await Promise.all(
      [7, 7, 8].map(async (seed) => {
        const sandbox = await startSandbox({ items: 300, seed });
        await sandbox.advance({ hours: 5, changes: 80 });
        await sandbox.advance({ hours: 24 });
        const dump = await sandbox.dump();
        await sandbox.close();
        return { ...dump, keys: sandbox.keys };
      }),
    );
    expect(second).toEqual(first);
    expect(other?.items[0]).not.toBe(first?.items[0]);
  });
});

describe('the past', () => {
  it('adds up: replaying the whole feed yields the current items', async () => {
    const service = await Service.start({ items: 2000 });
    const { items, changes } = await readState(service);
    const replayed = replay(new Map(), changes);
    expect(replayed.size).toBe(items.size);
    for (const [id, one] of items) expect(told(replayed.get(id) as Replayed)).toEqual(told(one));
    expect(changes.length / items.size).toBeGreaterThan(1.2);
    expect(changes.length / items.size).toBeLessThan(1.5);
    await service.close();
  });
});

describe('advance', () => {
  it('makes exactly the requested number of changes, and the feed leads from the earlier state to the new one', async () => {
    const service = await Service.start({ items: 600 });
    for (const step of [
      { hours: 1, changes: 90 },
      { hours: 24, changes: 270 },
      { hours: 0.01, changes: 1500 },
      { hours: 6 },
    ]) {
      const before = await readState(service);
      const counts = await service.sandbox.advance(step);
      const after = await readState(service);
      const fresh = await service.readFeed(before.changes.at(-1)?.id);
      expect(fresh).toHaveLength(step.changes ?? counts.changes);
      expect(counts.changes).toBe(counts.new + counts.changed + counts.removed + counts.relisted);
      expect(fresh.filter(({ kind }) => kind === 'NEW')).toHaveLength(counts.new);
      const replayed = replay(before.items, fresh);
      expect(replayed.size).toBe(after.items.size);
      for (const [id, one] of after.items) {
        const other = replayed.get(id) as Replayed;
        expect({ ...told(other), title: other.title ?? '' }).toEqual({ ...told(one), title: one.title ?? '' });
      }
    }
    await service.close();
  });

  it('updates lastSeenAt for the sources whose scrapes were due', async () => {
    const service = await Service.start({ items: 1000 });
    const before = await readState(service);
    await service.sandbox.advance({ hours: 5, changes: 0 });
    const after = await readState(service);
    const seen = [...after.items.values()].filter((one) => one.lastSeenAt !== before.items.get(one.id)?.lastSeenAt);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThan(after.items.size);
    expect(seen.every(({ lastSeenAt, removedAt }) => removedAt === null && lastSeenAt > '2026-11-20T06')).toBe(true);
    await service.close();
  });

  it('works over HTTP without a key, and refuses invalid requests', async () => {
    const service = await Service.start({ items: 500 });
    const url = `${service.sandbox.baseUrl}/sandbox/advance`;
    const post = (body: string) => fetch(url, { method: 'POST', body });
    const counts = (await (await post('{"hours":1,"changes":7}')).json()) as { changes: number };
    expect(counts.changes).toBe(7);
    for (const body of ['', '{}', '{"hours":-1}', '{"hours":1,"changes":1.5}', '{"hours":1,"speed":2}']) {
      expect((await post(body)).status).toBe(400);
    }
    const state = (await (await fetch(`${service.sandbox.baseUrl}/sandbox`)).json()) as object;
    expect(state).toMatchObject({ seed: 1, now: '2026-11-20T07:00:00.000Z' });
    await service.close();
  });
});

it('most GTINs have correct check digits, and a few have wrong ones', async () => {
  const service = await Service.start();
  const isRight = (gtin: string) => {
    const sum = [...gtin].reverse().reduce((total, digit, k) => total + Number(digit) * (k % 2 === 0 ? 1 : 3), 0);
    return sum % 10 === 0;
  };
  const gtins = (await service.readTruth()).items.flatMap(({ gtin }) => gtin ?? []);
  const wrong = gtins.filter((gtin) => !isRight(gtin)).length;
  expect(wrong).toBeGreaterThan(0);
  expect(wrong).toBeLessThan(gtins.length / 50);
  await service.close();
});
