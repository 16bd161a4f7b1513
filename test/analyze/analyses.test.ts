import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBDateValue, DuckDBListValue } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setVariables } from '../../src/analyze/analysis.js';
import { loadRates } from '../../src/analyze/exchange-rates.js';
import type { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { fillDerived, insertRows, openEmptyTables, type Row } from '../check/lake-world.js';
import { createSeeded } from '../seeded.js';
import { median } from './slow-figures.js';

let db: Database;

beforeEach(async () => {
  db = await openEmptyTables();
  await insertRows(db, 'sites', [
    { name: "'Alpha'" },
    { site_id: '2', name: "'Beta'", attribution: "'CC BY 4.0'" },
    { site_id: '3', name: "'Gamma'" },
  ]);
});
afterEach(() => db.close());

const offer = (id: number, product: string, site: number, price: string, more: Row = {}): Row => ({
  item_id: String(id),
  product_id: `'${product}'`,
  gtin: 'NULL',
  gtin14: 'NULL',
  site_id: String(site),
  price,
  ...more,
});

const decimal = (units: bigint) => `${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`;

/** Rows of an analysis as plain values. */
async function run(name: string, variables: Record<string, bigint | string | DuckDBDateValue> = {}) {
  await setVariables(db, variables);
  return db.rows(readAnalysis(name));
}

describe("the data's clock", () => {
  const clock = async (...times: [seen: string | null, read: string | null][]) => {
    const at = (text: string | null) => (text === null ? 'NULL' : `TIMESTAMPTZ '${text}:00Z'`);
    const rows = times.map(([seen, read], k) => offer(k, 'p', 1, '1', { last_seen_at: at(seen), read_at: at(read) }));
    await insertRows(db, 'items', rows);
    return (await run('data_clock')).map(({ seen_day }) => seen_day && String(seen_day));
  };

  it.each<[string, [string | null, string | null][], string | null]>([
    [
      'is the newest time seen',
      [
        ['2026-11-19 10:00', '2026-11-20 10:00'],
        ['2026-11-18 10:00', null],
      ],
      '2026-11-19',
    ],
    ['accepts a time up to a day after the read', [['2026-11-21 10:00', '2026-11-20 10:00']], '2026-11-21'],
    [
      'ignores a time far ahead of the read',
      [
        ['2026-11-19 10:00', '2026-11-20 10:00'],
        ['2036-01-01 00:00', '2026-11-20 10:00'],
      ],
      '2026-11-19',
    ],
    [
      "is the newest time seen if the reader's clock is behind",
      [['2026-11-19 10:00', '1970-01-02 00:00']],
      '2026-11-19',
    ],
    ['is unknown if no item was seen', [[null, '2026-11-20 10:00']], null],
  ])('%s', async (_what, times, day) => {
    expect(await clock(...times)).toEqual([day]);
  });
});

describe('shops compared with the market', () => {
  it('have counts of wins and a price index, overall and by category', async () => {
    const tea: Row = { category_slug: "'tea'", category_name: "'Tea'" };
    const rows = [1, 2, 3].flatMap((n) => [
      offer(n * 10, `p${n}`, 1, '10', n < 3 ? tea : {}),
      offer(n * 10 + 1, `p${n}`, 2, n === 1 ? '10' : '20'),
      offer(n * 10 + 2, `p${n}`, 3, '20'),
    ]);
    await insertRows(db, 'items', rows);
    await fillDerived(db);
    const figures = (await run('shop_index_by_category', { min_products: 2n })).map((row) => [
      row.category_slug,
      row.shop,
      row.products,
      row.cheapest,
      Math.round(Number(row.win_pct)),
      Math.round(Number(row.price_index)),
    ]);
    expect(figures).toEqual([
      [null, 'Alpha', 3n, 3n, 100, 63],
      [null, 'Beta', 3n, 1n, 33, 100],
      [null, 'Gamma', 3n, 0n, 0, 126],
      ['tea', 'Alpha', 2n, 2n, 100, 71],
      ['tea', 'Beta', 2n, 1n, 50, 100],
      ['tea', 'Gamma', 2n, 0n, 0, 141],
    ]);
    expect(await run('shop_index_by_category', { category: 'coffee' })).toEqual([]);
  });
});

describe('the cheapest shop', () => {
  it('is counted over products and days, with its share', async () => {
    await insertRows(
      db,
      'price_spread_daily',
      ['2026-01-01', '2026-03-01', '2026-03-02', '2026-03-03'].map((day, i) => ({
        day: `DATE '${day}'`,
        product_id: i === 1 ? "'a'" : "'b'",
        currency: "'EUR'",
        trusted_cheapest_site_id: i < 3 ? '2' : '1',
      })),
    );
    const [first, second] = await run('cheapest_days');
    expect(first).toMatchObject({ shop: 'Beta', product_days: 2n, products: 2n, attribution: 'CC BY 4.0' });
    expect(second).toMatchObject({ shop: 'Alpha', product_days: 1n });
    expect(Math.round(Number(first?.share_pct))).toBe(67);
    const all = await run('cheapest_days', { since: new DuckDBDateValue(0) });
    expect(all[0]).toMatchObject({ product_days: 3n });
  });
});

interface Move {
  product: number;
  site: number;
  hour: number;
  isUp: boolean;
}

/** For each pair of shops, lists the moves of the second shop that follow one of the first in the same direction within some hours. */
function findFollows(moves: Move[], hours: number): Map<string, { lags: number[]; led: Set<string> }> {
  const pairs = new Map<string, { lags: number[]; led: Set<string> }>();
  for (const later of moves) {
    for (const leader of [1, 2, 3]) {
      const led = moves
        .filter((m) => m.site === leader && m.product === later.product && m.isUp === later.isUp)
        .filter((m) => leader !== later.site && m.hour < later.hour && m.hour >= later.hour - hours)
        .map((m) => m.hour);
      if (led.length === 0) continue;
      const at = Math.max(...led);
      const pair = pairs.get(`${leader}>${later.site}`) ?? { lags: [], led: new Set() };
      pair.lags.push(later.hour - at);
      pair.led.add(`${later.product}@${at}`);
      pairs.set(`${leader}>${later.site}`, pair);
    }
  }
  return pairs;
}

describe('price leaders', () => {
  it.each([
    [1, 24],
    [2, 24],
    [1, 400],
  ])('equals a slow computation that compares every pair of moves (world %i, %i hours)', async (seed, hours) => {
    const random = createSeeded(seed);
    const keys = new Set<string>();
    const moves: Move[] = [];
    while (moves.length < 60) {
      const move = { product: random.integer(3), site: 1 + random.integer(3), hour: random.integer(200) };
      const key = JSON.stringify(move);
      if (keys.has(key)) continue;
      keys.add(key);
      moves.push({ ...move, isUp: random.integer(2) === 0 });
    }
    const offers = [0, 1, 2].flatMap((p) => [1, 2, 3].map((site) => offer(p * 10 + site, `p${p}`, site, '10')));
    await insertRows(db, 'items', offers);
    const changes = moves.map(({ product, site, hour, isUp }, i) => ({
      change_id: String(i + 1),
      item_id: String(product * 10 + site),
      observed_at: `TIMESTAMPTZ '2026-01-01 00:00:00Z' + INTERVAL ${hour} HOUR`,
      price: isUp ? '11' : '9',
      previous_price: '10',
    }));
    await insertRows(db, 'history', changes);
    const expected = findFollows(moves, hours);
    const rows = await run('price_leaders', { hours: BigInt(hours), min_follows: 1n });
    expect(rows.map((row) => `${row.leader_site_id}>${row.follower_site_id}`).sort()).toEqual(
      [...expected.keys()].sort(),
    );
    for (const row of rows) {
      const { lags, led } = expected.get(`${row.leader_site_id}>${row.follower_site_id}`) ?? expect.fail();
      const back = expected.get(`${row.follower_site_id}>${row.leader_site_id}`)?.lags.length ?? 0;
      const chances = moves.filter(({ site }) => BigInt(site) === row.leader_site_id).length;
      expect(Number(row.follows)).toBe(lags.length);
      expect(Number(row.leader_moves)).toBe(chances);
      expect(row.follow_pct).toBeCloseTo((100 * led.size) / chances, 9);
      expect(row.median_lag_hours).toBeCloseTo(median(lags) ?? 0, 9);
      expect(Number(row.follows_back)).toBe(back);
      expect(row.lead_pct).toBeCloseTo((100 * lags.length) / (lags.length + back), 9);
    }
  });

  it('includes the credits of both shops', async () => {
    await insertRows(db, 'items', [offer(1, 'p', 1, '10'), offer(2, 'p', 2, '10')]);
    const change = { price: '9', previous_price: '10' };
    const later = "TIMESTAMPTZ '2026-01-01 05:00:00Z'";
    await insertRows(db, 'history', [change, { ...change, change_id: '2', item_id: '2', observed_at: later }]);
    const [row] = await run('price_leaders', { min_follows: 1n });
    expect(row).toMatchObject({ leader: 'Alpha', follower: 'Beta', median_lag_hours: 5, lead_pct: 100 });
    expect(row?.attribution).toEqual(new DuckDBListValue(['CC BY 4.0']));
  });
});

describe('prices in one currency', () => {
  let file: string;
  beforeEach(async () => {
    file = path.join(await mkdtemp(path.join(tmpdir(), 'pricelake-rates-')), "ra'tes.csv");
  });
  afterEach(() => rm(path.dirname(file), { recursive: true }));

  it('are converted exactly by the newest rate up to the day, and rounded half away from zero', async () => {
    await writeFile(file, 'date,currency,rate\n2026-01-01,PLN,4\n2026-02-01,PLN,4.25\n2026-01-05,JPY,161.53\n');
    await loadRates(db, file);
    await insertRows(db, 'items', [
      offer(1, 'p', 1, '10'),
      offer(2, 'p', 2, '42.5', { currency: "'PLN'" }),
      offer(3, 'p', 3, '99999999999999.9999', { currency: "'JPY'" }),
      offer(4, 'p', 3, '1', { currency: "'CHF'" }),
      offer(5, 'p', 3, 'NULL', { currency: "'PLN'" }),
      offer(6, 'p', 3, '0.0002', { currency: "'PLN'" }),
    ]);
    const price = async (variables = {}) => {
      const rows = await run('converted_items', { base: 'EUR', ...variables });
      return Object.fromEntries(rows.map((row) => [String(row.item_id), `${row.price} ${row.currency}`]));
    };
    const newest = await price();
    expect(newest).toEqual({
      '1': '10.0000 EUR',
      '2': '10.0000 EUR',
      // 99999999999999.9999 / 161.53, as whole numbers
      '3': `${decimal((2n * 999_999_999_999_999_999n * 100n + 16_153n) / (2n * 16_153n))} EUR`,
      '5': 'null EUR',
      '6': '0.0000 EUR',
    });
    // 0.0002 / 4 = 0.00005
    expect(await price({ day: new DuckDBDateValue(20_470) })).toEqual({
      ...newest,
      '2': '10.6250 EUR',
      '6': '0.0001 EUR',
    });
  });

  it.each([
    ['date,currency,rate\n2026-01-01,PLN,4\n2026-13-01,PLN,4\n', /^.*:3: date "2026-13-01" is not a day/u],
    ['date,currency,rate\n2026-01-01,zl,4\n', /:2: currency "zl" is not an ISO 4217 code/u],
    ['date,currency,rate\n2026-01-01,PLN,0\n', /:2: rate "0" is not a number above 0/u],
    ['date,currency,rate\n2026-01-01,PLN,four\n', /:2: rate "four"/u],
    ['date,currency,rate\n2026-01-01,PLN,4\n2026-01-01,PLN,5\n', /:2: PLN has two rates for 2026-01-01/u],
    ['day,currency,rate\n2026-01-01,PLN,4\n', /:1: missing column date/u],
  ])('are refused with file and line if a rate is invalid: %j', async (text, message) => {
    await writeFile(file, text);
    await expect(loadRates(db, file)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(message),
    });
  });

  it('require a readable file of rates', async () => {
    await expect(loadRates(db, '/nowhere.csv')).rejects.toMatchObject({ code: 'config' });
  });
});
