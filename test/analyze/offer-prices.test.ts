import { afterAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { DAY, HOUR, loadHistoryWorld, type PastChange, type PastItem } from './history-world.js';

const db = await Database.open();
afterAll(() => db.close());

const noon = (day: number) => day * DAY + 12 * HOUR;

function makeItem(own: Partial<PastItem>, past: (Partial<PastChange> & { changes?: string })[]): PastItem {
  const times = { changedAt: null, firstSeenAt: -90 * DAY, removedAt: null, goneAt: null };
  const defaults = { unitsBefore: null, currency: 'EUR', names: 'nothing', origin: 'feed' } as const;
  const changes = past.map((change, index) => ({ ...defaults, changeId: index + 1, units: 10, ...change }));
  const item = {
    itemId: 1,
    productId: 'p',
    siteId: 1,
    units: 10,
    unitsBefore: null,
    currency: 'EUR',
    ...times,
    ...own,
  };
  return { ...item, past: changes as PastChange[] };
}

/** Returns the item's price on days 0 to 4, such as `10 EUR`, or a dash on days without an offer. */
async function readDays(item: PastItem, first = 0, changes?: string): Promise<string[]> {
  await loadHistoryWorld(db, [item]);
  if (changes !== undefined) await db.run('UPDATE history SET changes = $1', [changes]);
  await db.run(`SET VARIABLE first_day = DATE '2026-01-01' + ${first}`);
  await db.run("SET VARIABLE last_day = DATE '2026-01-05'");
  const rows = await db.rows(`SELECT (from_day - DATE '2026-01-01') + unnest(range(to_day - from_day)) AS day,
      (price * 10000)::BIGINT || ' ' || currency AS price FROM (${readAnalysis('offer_prices')})`);
  const prices = new Map(rows.map(({ day, price }) => [Number(day), String(price)]));
  return Array.from({ length: 5 - first }, (_, index) => prices.get(index + first) ?? '-');
}

describe('the state before the first known change', () => {
  it('is unlisted if an item was re-listed at another price', async () => {
    const own = { units: 12, unitsBefore: 10, changedAt: noon(2) };
    const item = makeItem(own, [{ kind: 'RELISTED', at: noon(2), units: 12, unitsBefore: 10 }]);
    expect(await readDays(item)).toEqual(['-', '-', '12 EUR', '12 EUR', '12 EUR']);
    expect(await readDays(item, 1)).toEqual(['-', '12 EUR', '12 EUR', '12 EUR']);
  });

  it('is unlisted if the price had changed before an unknown removal', async () => {
    for (const changedAt of [noon(-3), noon(1)]) {
      const own = { unitsBefore: 8, changedAt };
      const item = makeItem(own, [{ kind: 'RELISTED', at: noon(2) }]);
      expect(await readDays(item)).toEqual(['-', '-', '10 EUR', '10 EUR', '10 EUR']);
      expect(await readDays(item, 1)).toEqual(['-', '10 EUR', '10 EUR', '10 EUR']);
    }
  });

  it('has the price that a removal omits', async () => {
    const removed = { kind: 'REMOVED', at: noon(1), units: null } as const;
    expect(await readDays(makeItem({ removedAt: noon(1) }, [removed]))).toEqual(['10 EUR', '-', '-', '-', '-']);
    const relisted = { kind: 'RELISTED', at: noon(3), units: 12, unitsBefore: 10 } as const;
    const item = makeItem({ units: 12, unitsBefore: 10, changedAt: noon(3) }, [removed, relisted]);
    expect(await readDays(item)).toEqual(['10 EUR', '-', '-', '12 EUR', '12 EUR']);
  });
});

it.each(['{"price":[null,true]}', '{"price":[null,11]}', '{"price":[null,"10"]}', '{"price":["new",10]}'])(
  'is kept if an attribute is named price: %s',
  async (changes) => {
    const item = makeItem({ units: 100_000 }, [{ kind: 'CHANGED', at: noon(2), units: 100_000 }]);
    expect(await readDays(item, 0, changes)).toEqual(Array.from({ length: 5 }, () => '100000 EUR'));
  },
);

it('a first price is not dated back', async () => {
  const item = makeItem({ changedAt: noon(2) }, [{ kind: 'CHANGED', at: noon(2), names: 'price' }]);
  expect(await readDays(item)).toEqual(['-', '-', '10 EUR', '10 EUR', '10 EUR']);
  expect(await readDays({ ...item, changedAt: null })).toEqual(['-', '-', '10 EUR', '10 EUR', '10 EUR']);
});

it('days before a currency change have the old currency', async () => {
  const item = makeItem({ currency: 'PLN' }, [{ kind: 'CHANGED', at: noon(2), currency: 'PLN' }]);
  const changes = '{"currency":["EUR","PLN"]}';
  expect(await readDays(item, 0, changes)).toEqual(['10 EUR', '10 EUR', '10 PLN', '10 PLN', '10 PLN']);
  expect(await readDays(item, 0, '{"currency":["left","right"]}')).toEqual(Array.from({ length: 5 }, () => '10 PLN'));
});

it('a day has the currency of its time, whatever currency the changes show', async () => {
  const own = { units: 100, unitsBefore: 2500, changedAt: noon(3) };
  const past: PastChange[] = makeItem(own, [
    { kind: 'NEW', at: noon(-60), units: 2400 },
    { kind: 'CHANGED', at: noon(1), units: 2500, unitsBefore: 2400 },
    { kind: 'CHANGED', at: noon(3), units: 100, unitsBefore: 2500, currencyBefore: 'CZK' },
  ]).past;
  const days = ['2400 CZK', '2500 CZK', '2500 CZK', '100 EUR', '100 EUR'];
  for (const first of [0, 1, 2]) expect(await readDays(makeItem(own, past), first)).toEqual(days.slice(first));
});
