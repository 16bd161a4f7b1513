import { DuckDBDecimalValue } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { createSpellsView } from '../../src/analyze/analysis.js';
import { Database } from '../../src/sql/connection.js';
import {
  DAY,
  findPriceBefore,
  historyWorlds,
  loadHistoryWorld,
  type PastChange,
  type PastItem,
  START,
} from './history-world.js';

const DAYS = 6;

const db = await Database.open();
await db.run('CREATE TABLE offers (item_id BIGINT, findings VARCHAR[])');
afterAll(() => db.close());

interface Spell {
  itemId: number;
  units: number;
  currency: string;
  from: number;
  to: number;
  began: string | null;
  ended: string | null;
}

async function readSpells(world: PastItem[]): Promise<Spell[]> {
  await loadHistoryWorld(db, world);
  await createSpellsView(db);
  const rows = await db.rows(`SELECT *, epoch_us(from_at) - ${START} AS from_us, epoch_us(to_at) - ${START} AS to_us
    FROM price_spells ORDER BY item_id, from_at`);
  return rows.map((row) => ({
    itemId: Number(row.item_id),
    units: row.price instanceof DuckDBDecimalValue ? Number(row.price.value) : Number.NaN,
    currency: String(row.currency),
    from: Number(row.from_us),
    to: row.to_us === null ? Infinity : Number(row.to_us),
    began: row.began as string | null,
    ended: row.ended as string | null,
  }));
}

/** The instants at which something may change, and a microsecond after each. */
function listInstants(item: PastItem): number[] {
  const told = [item.firstSeenAt, item.changedAt, item.removedAt, item.goneAt, ...item.past.map(({ at }) => at)];
  return told.flatMap((at) => (at === null ? [] : [at, at + 1])).concat(DAYS * 3 * DAY);
}

/** A change of a price at the beginning of a day. */
const change = (kind: PastChange['kind'], day: number, units: number, before: number | null = null): PastChange => ({
  changeId: day + 100,
  kind,
  at: day * DAY,
  units,
  unitsBefore: before,
  currency: 'EUR',
  names: 'price',
  origin: 'feed',
});

/** A listing whose known past is this. */
const item = (itemId: number, more: Partial<PastItem>): PastItem => ({
  itemId,
  productId: 'p',
  siteId: 1,
  units: 30,
  unitsBefore: null,
  changedAt: null,
  currency: 'EUR',
  firstSeenAt: 0,
  removedAt: null,
  goneAt: null,
  past: [],
  ...more,
});

describe('price spells', () => {
  it('contain the price at every instant, despite gaps, removals, re-listings and contradictions', async () => {
    await fc.assert(
      fc.asyncProperty(historyWorlds(DAYS), async (world) => {
        const spells = await readSpells(world);
        for (const item of world) {
          const own = spells.filter(({ itemId }) => itemId === item.itemId);
          for (const end of listInstants(item)) {
            // Without a first-seen time, nothing is known of a listing before its first change.
            if (item.firstSeenAt === null && !listInstants(item).some((at) => at < end)) continue;
            if (item.firstSeenAt === null && own.every(({ from }) => from >= end)) continue;
            const at = own.filter(({ from, to }) => from < end && end <= to);
            const found = at.map(({ units, currency }) => ({ units, currency }));
            const expected = findPriceBefore(item, end);
            expect(found, JSON.stringify({ item, end })).toEqual(expected === null ? [] : [expected]);
          }
          for (const [k, spell] of own.entries()) {
            const next = own[k + 1];
            expect(spell.from).toBeLessThan(spell.to);
            if (next?.from === spell.to) expect([next.units, next.currency]).not.toEqual([spell.units, spell.currency]);
          }
        }
      }),
      { seed: 11, numRuns: 25 },
    );
  });

  it('record the changes at their start and end, and that a price predates the first known change', async () => {
    const title: PastChange = { ...change('CHANGED', 3, 20), names: 'nothing' };
    const spells = await readSpells([
      item(1, {
        unitsBefore: 20,
        changedAt: 6 * DAY,
        past: [
          change('NEW', 0, 20),
          title,
          change('REMOVED', 4, 20),
          change('RELISTED', 5, 20),
          change('CHANGED', 6, 30, 20),
        ],
      }),
      item(2, { unitsBefore: 20, changedAt: 6 * DAY, past: [change('CHANGED', 6, 30, 20)] }),
      item(3, { unitsBefore: 10, changedAt: 2 * DAY }),
      item(4, {}),
      item(5, { past: [change('CHANGED', 6, 30, 20)] }),
      // A price of zero doesn't count as a price.
      item(6, {
        unitsBefore: 0,
        changedAt: 2 * DAY,
        past: [change('NEW', 0, 20), change('CHANGED', 1, 0, 20), change('CHANGED', 2, 30, 0)],
      }),
    ]);
    const told = spells.map(({ itemId, units, from, to, began, ended }) => [
      itemId,
      units,
      from / DAY,
      to / DAY,
      began,
      ended,
    ]);
    expect(told).toEqual([
      [1, 20, 0, 4, 'NEW', 'REMOVED'],
      [1, 20, 5, 6, 'RELISTED', 'CHANGED'],
      [1, 30, 6, Infinity, 'CHANGED', null],
      [2, 20, 0, 6, null, 'CHANGED'],
      [2, 30, 6, Infinity, 'CHANGED', null],
      [3, 10, 0, 2, null, 'CHANGED'],
      [3, 30, 2, Infinity, 'CHANGED', null],
      [4, 30, 0, Infinity, 'NEW', null],
      [5, 20, 0, 6, null, 'CHANGED'],
      [5, 30, 6, Infinity, 'CHANGED', null],
      [6, 20, 0, 1, 'NEW', 'CHANGED'],
      [6, 30, 2, Infinity, 'CHANGED', null],
    ]);
  });

  it('have the currency of their time, whatever currency the changes show', async () => {
    const switched = (day: number, units: number, before: number, currency: string, currencyBefore: string) => ({
      ...change('CHANGED', day, units, before),
      ...{ currency, currencyBefore },
    });
    const read = async (own: Partial<PastItem>, past: PastChange[]) => {
      const spells = await readSpells([item(1, { units: 100, ...own, past })]);
      return spells.map(({ units, currency, from, to }) => `${units} ${currency} ${from / DAY}-${to / DAY}`);
    };
    // The service shows every change with today's currency, or no change has the price before the first one.
    const shown = [change('NEW', 0, 2400), change('CHANGED', 1, 2500, 2400)];
    const last = { changedAt: 3 * DAY, unitsBefore: 2500 };
    const expected = ['2400 CZK 0-1', '2500 CZK 1-3', '100 EUR 3-Infinity'];
    expect(await read(last, [...shown, switched(3, 100, 2500, 'EUR', 'CZK')])).toEqual(expected);
    expect(await read(last, [change('CHANGED', 1, 2500, 2400), switched(3, 100, 2500, 'EUR', 'CZK')])).toEqual(
      expected,
    );
    expect(
      await read({ currency: 'USD' }, [
        ...shown,
        switched(3, 90, 2500, 'EUR', 'CZK'),
        switched(4, 100, 90, 'USD', 'EUR'),
      ]),
    ).toEqual([...expected.slice(0, 2), '90 EUR 3-4', '100 USD 4-Infinity']);
    // Between two changes that contradict each other, and before the item's row if that does, it is not known.
    const unsure = [
      switched(1, 50, 40, 'EUR', 'CZK'),
      change('CHANGED', 2, 60, 50),
      switched(3, 100, 60, 'EUR', 'HUF'),
    ];
    expect(await read({}, unsure)).toEqual(['40 CZK 0-1', '50 EUR 1-2', '100 EUR 3-Infinity']);
    const other = { ...change('CHANGED', 2, 60, 50), currency: 'USD' };
    expect(await read({ currency: 'USD', units: 60 }, [...unsure.slice(0, 1), other])).toEqual([
      '40 CZK 0-1',
      '50 EUR 1-2',
    ]);
  });

  it('mark a price that is ten times too high or low, unless with_suspects is set', async () => {
    const past = [change('NEW', 0, 3000), change('CHANGED', 1, 300, 3000), change('CHANGED', 2, 3100, 300)];
    const world = [item(1, { units: 3100, unitsBefore: 300, changedAt: 2 * DAY, past })];
    const judge = async () => {
      await readSpells(world);
      return db.rows('SELECT is_suspect, (price_before * 10000)::INTEGER AS before FROM price_spells ORDER BY from_at');
    };
    const spells = (suspects: boolean[], before: (number | null)[]) =>
      suspects.map((is_suspect, k) => ({ is_suspect, before: before[k] }));
    expect(await judge()).toEqual(spells([false, true, false], [null, 3000, null]));
    await db.run("SET VARIABLE with_suspects = 'true'");
    expect(await judge()).toEqual(spells([false, false, false], [null, 3000, 300]));
    await db.run('RESET VARIABLE with_suspects');
  });

  it('trust the price that returns to the earlier level, even if today’s offers call it off scale', async () => {
    const read = async (prices: number[], findings: string[] = []) => {
      const past = prices.map((units, day) =>
        change(day === 0 ? 'NEW' : 'CHANGED', day, units, prices[day - 1] ?? null),
      );
      if (findings.length > 0) await db.run(`INSERT INTO offers VALUES (1, ['${findings.join("','")}'])`);
      const last = prices.length - 1;
      await readSpells([
        item(1, { units: prices[last] ?? null, unitsBefore: prices[last - 1] ?? null, changedAt: last * DAY, past }),
      ]);
      const rows = await db.rows(`SELECT (price * 10000)::INTEGER AS units, is_suspect,
        (price_before * 10000)::INTEGER AS before FROM price_spells ORDER BY from_at`);
      await db.run('TRUNCATE offers');
      expect(rows.every(({ before }, k) => before !== rows[k - 1]?.units || rows[k - 1]?.is_suspect === false)).toBe(
        true,
      );
      return rows.filter(({ is_suspect }) => is_suspect).map(({ units }) => units);
    };
    expect(await read([542_600, 5_426_000, 542_600], ['scale'])).toEqual([5_426_000]);
    expect(await read([542_600, 5_426_000, 542_600, 5_426_000, 550_000])).toEqual([5_426_000, 5_426_000]);
    // The wrong price may last over a change, and the right one may have changed meanwhile.
    expect(await read([542_600, 5_426_000, 5_450_000, 560_000, 580_000])).toEqual([5_426_000, 5_450_000]);
    expect(await read([542_600, 5_426_000], ['scale'])).toEqual([5_426_000]);
  });

  it('do not mark a clearance price, or a price that falls to a tenth and stays there', async () => {
    const read = async (prices: number[]) => {
      const past = prices.map((units, day) =>
        change(day === 0 ? 'NEW' : 'CHANGED', day, units, prices[day - 1] ?? null),
      );
      await readSpells([item(1, { units: prices.at(-1) ?? null, past, removedAt: (prices.length + 1) * DAY })]);
      return (await db.rows('SELECT price FROM price_spells WHERE is_suspect')).length;
    };
    expect(await read([29_900, 31_900, 29_900, 3000])).toBe(0);
    expect(await read([29_900, 15_000, 3000, 29_900])).toBe(0);
    expect(await read([100_000, 10_000, 20_000, 40_000, 90_000])).toBe(0);
    expect(await read([100_000, 10_000, 50_000, 500_000])).toBe(0);
  });

  it("mark a current price that today's other offers show to be wrong, but no past price of its listing", async () => {
    const past = [change('NEW', 0, 100_000), change('CHANGED', 1, 1000, 100_000)];
    const world = [1, 2].map((id) => item(id, { units: 1000, unitsBefore: 100_000, changedAt: DAY, past }));
    await db.run("INSERT INTO offers VALUES (1, ['duplicate', 'scale']), (2, ['pack', 'outlier'])");
    await readSpells(world);
    const suspects = 'SELECT item_id, from_at, is_suspect FROM price_spells ORDER BY item_id, from_at';
    const judged = (await db.rows(suspects)).map(({ is_suspect }) => is_suspect);
    await db.run('TRUNCATE offers');
    expect(judged).toEqual([false, true, false, false]);
  });

  it('mark neither of two prices if nothing shows which one is wrong', async () => {
    const past = [change('NEW', 0, 300), change('CHANGED', 1, 3000, 300)];
    await readSpells([item(1, { units: 3000, unitsBefore: 300, changedAt: DAY, past })]);
    expect(await db.rows('SELECT is_suspect FROM price_spells')).toEqual([
      { is_suspect: false },
      { is_suspect: false },
    ]);
  });

  it('mark a price of 0.01, never compare a later price with it, and mark no higher price', async () => {
    const past = [change('NEW', 0, 100), change('CHANGED', 1, 101, 100), change('CHANGED', 2, 102, 101)];
    await readSpells([item(1, { units: 102, unitsBefore: 101, changedAt: 2 * DAY, past })]);
    expect(
      await db.rows('SELECT is_suspect, price_before::VARCHAR AS before FROM price_spells ORDER BY from_at'),
    ).toEqual([
      { is_suspect: true, before: null },
      { is_suspect: false, before: null },
      { is_suspect: false, before: '0.0101' },
    ]);
  });
});
