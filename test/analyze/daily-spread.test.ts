import type { DuckDBListValue, DuckDBValue } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { selectDailySpreads } from '../../src/analyze/daily-spread.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { readAnalysis } from '../../src/sql/model.js';
import { itself } from '../../src/sql/sql.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { creditOf, findPastPrice, formatDay, historyWorlds, loadHistoryWorld, type PastItem } from './history-world.js';
import type { Offer } from './offer-world.js';
import { computeSpreads, readSpread, units } from './slow-figures.js';

const DAYS = 6;
const RUNS = { seed: 2026, numRuns: 25 };

const db = await Database.open();
await db.run("SET VARIABLE run_id = 'r1'");
afterAll(() => db.close());

/** The rows of price_spread_daily from day to day, by key. */
async function deriveDays(first: number, last: number, partRuns = 5n): Promise<Map<string, Record<string, unknown>>> {
  const rows = new Map<string, Record<string, unknown>>();
  const sources = { items: itself('items'), history: itself('history'), sites: itself('sites') };
  const days = { first: formatDay(first), last: formatDay(last), runId: 'r' };
  for await (const { text } of selectDailySpreads(new RelationGraph(db), sources, days, partRuns)) {
    for (const { stddev: _stddev, spread: _spread, run_id: _run, ...row } of await db.rows(text)) {
      const key = `${row.day}|${row.product_id}|${row.currency}`;
      expect(rows.has(key)).toBe(false);
      rows.set(key, { ...row, attribution: (row.attribution as DuckDBListValue).items });
    }
  }
  return rows;
}

/** The same, day by day and offer by offer. */
function computeDays(world: PastItem[], first: number, last: number): Map<string, Record<string, unknown>> {
  const rows = new Map<string, Record<string, unknown>>();
  const sites = new Map([1n, 2n, 3n, 4n].map((id) => [id, creditOf(id)]));
  for (let day = first; day <= last; day += 1) {
    const offers: Offer[] = world.flatMap((item) => {
      const price = findPastPrice(item, day);
      if (price === null) return [];
      const { itemId, productId, siteId } = item;
      const text = { title: null, brand: null, mpn: null, category: null, firstSeen: null };
      const offer = { itemId: BigInt(itemId), productId, siteId: BigInt(siteId), listed: true, ...text };
      return [{ ...offer, units: BigInt(price.units), currency: price.currency }];
    });
    for (const [key, spread] of computeSpreads({ offers, sites })) {
      const [productId, currency] = key.split('|');
      rows.set(`${formatDay(day)}|${key}`, { day: formatDay(day), productId, currency, ...spread });
    }
  }
  return rows;
}

const share = (min: bigint, max: bigint) => (100 * Number(max - min)) / Number(min);

/** Offers with their prices at the end of each day, by day and item. */
async function readPastPrices(first: number, last: number): Promise<Map<string, unknown>> {
  await db.run(`SET VARIABLE first_day = DATE '${formatDay(first)}'`);
  await db.run(`SET VARIABLE last_day = DATE '${formatDay(last)}'`);
  const rows = await db.rows(`SELECT *, from_day + unnest(range(to_day - from_day))::INTEGER AS day
    FROM (${readAnalysis('offer_prices')})`);
  const prices = rows.map((row): [string, unknown] => [
    `${row.day}|${row.item_id}`,
    { units: Number(units(row.price)), currency: row.currency },
  ]);
  expect(new Set(prices.map(([key]) => key)).size).toBe(prices.length);
  return new Map(prices);
}

describe('past prices of offers', () => {
  it('equal a slow computation for each day by itself', async () => {
    const range = fc.tuple(fc.integer({ min: -2, max: DAYS }), fc.integer({ min: 0, max: DAYS }));
    await fc.assert(
      fc.asyncProperty(historyWorlds(DAYS), range, async (world, [first, more]) => {
        await loadHistoryWorld(db, world);
        const expected = new Map<string, unknown>();
        for (let day = first; day <= first + more; day += 1) {
          for (const item of world.filter(({ productId }) => productId !== null)) {
            const price = findPastPrice(item, day);
            if (price !== null) expected.set(`${formatDay(day)}|${item.itemId}`, price);
          }
        }
        expect(await readPastPrices(first, first + more)).toEqual(expected);
      }),
      { seed: 7, numRuns: 40 },
    );
  });
});

describe('the daily price spread', () => {
  it('equals a slow computation for every day, despite gaps, removals, re-listings and contradictions', async () => {
    const range = fc.tuple(fc.integer({ min: -2, max: DAYS }), fc.integer({ min: 0, max: 3 }));
    await fc.assert(
      fc.asyncProperty(historyWorlds(DAYS), range, async (world, [first, more]) => {
        await loadHistoryWorld(db, world);
        const actual = await deriveDays(first, first + more);
        const expected = computeDays(world, first, first + more);
        expect([...actual.keys()].sort()).toEqual([...expected.keys()].sort());
        for (const [key, slow] of expected) {
          const row = actual.get(key) as Record<string, DuckDBValue>;
          const { trusted } = slow as { trusted: { min: bigint; max: bigint } | null };
          expect({
            day: String(row.day),
            productId: row.product_id,
            currency: row.currency,
            ...readSpread(row),
            stddev: slow.stddev,
            attribution: row.attribution,
          }).toEqual(slow);
          if (trusted === null) expect(row.trusted_spread_pct).toBeNull();
          else expect(row.trusted_spread_pct).toBeCloseTo(share(trusted.min, trusted.max), 6);
        }
      }),
      RUNS,
    );
  });

  it('is the same whether derived day by day or all at once, in parts or as a whole', async () => {
    await fc.assert(
      fc.asyncProperty(historyWorlds(DAYS), async (world) => {
        await loadHistoryWorld(db, world);
        const whole = await deriveDays(0, DAYS, 1_000_000n);
        const days = new Map<string, unknown>();
        for (let day = 0; day <= DAYS; day += 1) {
          for (const [key, row] of await deriveDays(day, day, 1n)) days.set(key, row);
        }
        expect(days).toEqual(whole);
      }),
      { ...RUNS, numRuns: 5 },
    );
  });

  it('has the columns of its schema, in order and type', async () => {
    await loadHistoryWorld(db, []);
    await db.run(`CREATE OR REPLACE TABLE offer_prices AS ${readAnalysis('offer_prices')}`);
    const columns = await db.rows(`DESCRIBE ${readAnalysis('price_spread_daily')}`);
    const expected = loadTableSchema('price_spread_daily').columns.map(({ name, type }) => ({ name, type }));
    expect(columns.map((c) => ({ name: c.column_name, type: c.column_type }))).toEqual(expected);
    await db.run('DROP TABLE offer_prices');
  });
});
