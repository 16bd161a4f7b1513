import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { openIndexWorld } from './index-world.js';

/** Results of pyindexnum, recorded by test/interop/price_index.py: a panel of prices, and indices that are 1 in the first month. */
const recorded = JSON.parse(readFileSync(new URL('./price-index.json', import.meta.url), 'utf8')) as {
  window: number;
  panel: Record<'items' | 'months' | 'cents' | 'quantities', number[]>;
  indices: Record<string, number[]>;
};
const { window } = recorded;
const { indices } = recorded;
const { items, months, cents, quantities } = recorded.panel;
const panel = items.map((item, k) => [item, months[k], cents[k]] as [item: number, month: number, cents: number]);

const world = await openIndexWorld(
  panel.map(([item, month, price], k) => [item, month, price * 100, quantities[k] ?? 0]),
);
const { db } = world;
afterAll(() => db.close());

const ask = (variables: Record<string, string | null>) =>
  world.ask('price_index', { window_periods: String(window), price: 'last', ...variables });
const askWeighted = (variables: Record<string, string | null>) =>
  world.ask('weighted_index', { price: 'last', by: 'item', window_periods: '99', ...variables });

const column = (rows: Record<string, unknown>[], name: string) => rows.map((row) => Number(row[name]) / 100);
const difference = (one: number[], two: number[] = []) =>
  Math.max(...one.map((value, k) => Math.abs(value - (two[k] ?? Number.NaN))));

test('price indices equal those of pyindexnum within 1e-9', async () => {
  const rows = await ask({});
  expect(rows).toHaveLength(indices.jevons?.length ?? 0);
  for (const name of ['jevons', 'jevons_direct', 'geks_jevons', 'tpd'] as const) {
    expect(difference(column(rows, name), indices[name]), name).toBeLessThan(1e-9);
  }
  const whole = await ask({ window_periods: '99' });
  expect(difference(column(whole, 'geks_jevons'), indices.geks_jevons_whole)).toBeLessThan(1e-9);
  expect(difference(column(whole, 'geks_jevons'), indices.geks_jevons)).toBeGreaterThan(1e-4);
});

test.each(['movement', 'window', 'half', 'mean', 'fbew'])(
  'splice=%s extends an index as pyindexnum does',
  async (splice) => {
    const rows = await ask({ splice, methods: 'geks_jevons, spliced_tpd' });
    expect(difference(column(rows, 'geks_jevons'), indices[`geks_${splice}`] ?? [])).toBeLessThan(1e-9);
    expect(difference(column(rows, 'spliced_tpd'), indices[`tpd_${splice}`] ?? [])).toBeLessThan(1e-9);
    expect(rows.map(({ tpd }) => tpd)).toEqual(rows.map(() => null));
  },
);

test('a missing price that is carried forward equals the last price', async () => {
  const rows = await ask({ impute: 'carry', window_periods: '99' });
  expect(difference(column(rows, 'tpd'), indices.tpd_carried ?? [])).toBeLessThan(1e-9);
  expect(difference(column(rows, 'geks_jevons'), indices.geks_carried ?? [])).toBeLessThan(1e-9);
});

test('a missing price moves with the mean of all others and returns from there', async () => {
  const rows = await ask({ impute: 'overall', impute_periods: '3' });
  expect(difference(column(rows, 'jevons'), imputeOverall(3))).toBeLessThan(1e-9);
  expect(rows.map(({ imputed }) => Number(imputed)).some((count) => count > 0)).toBe(true);
});

test('each index row includes its coverage', async () => {
  const rows = await ask({});
  const of = (month: number) => panel.filter(([, at]) => at === month);
  for (const [month, row] of rows.entries()) {
    const both = of(month).filter(([item]) => of(month - 1).some(([other]) => other === item)).length;
    expect(Number(row.matched)).toBe(both);
    expect(Number(row.shops)).toBe(new Set(of(month).map(([item]) => item % 3)).size);
    expect(row.matched_pct).toBeCloseTo((100 * both) / (of(month).length + of(month - 1).length - both), 9);
    expect(row.time_zone).toBe('UTC');
  }
});

test('indices with turnover equal those of pyindexnum and PriceIndexCalc2 within 1e-9', async () => {
  const rows = await askWeighted({});
  expect(difference(column(rows, 'laspeyres'), indices.laspeyres)).toBeLessThan(1e-9);
  expect(difference(column(rows, 'tornqvist'), indices.tornqvist)).toBeLessThan(1e-9);
  expect(difference(column(rows, 'geks_tornqvist'), indices.geks_tornqvist_whole)).toBeLessThan(1e-9);
  expect(difference(column(rows, 'geks_tornqvist'), indices.geks_tornqvist_of_another)).toBeLessThan(1e-9);
  const unweighted = await ask({ window_periods: '99' });
  expect(difference(column(unweighted, 'geks_jevons'), indices.geks_jevons_of_another)).toBeLessThan(1e-9);
});

test.each(['movement', 'window', 'half', 'mean', 'fbew'])(
  'splice=%s extends GEKS-Törnqvist as pyindexnum does',
  async (splice) => {
    const rows = await askWeighted({ splice, window_periods: String(window) });
    expect(difference(column(rows, 'geks_tornqvist'), indices[`tornqvist_${splice}`])).toBeLessThan(1e-9);
  },
);

test('the contributions of groups add up to the total change', async () => {
  const rows = await world.ask('index_contributions', { by: 'shop', price: 'last' });
  const months = [...new Set(panel.map(([, month]) => month))].sort((a, b) => a - b);
  const whole = chain(panel, months);
  for (const [k, month] of months.entries()) {
    if (k === 0) continue;
    const day = `${2025 + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}-01`;
    const own = rows.filter(({ period }) => String(period) === day);
    const change = 100 * ((whole[k] ?? 0) / (whole[k - 1] ?? 1) - 1);
    expect(own.reduce((sum, row) => sum + Number(row.contribution), 0)).toBeCloseTo(change, 9);
    expect(own.reduce((sum, row) => sum + Number(row.share_pct), 0)).toBeCloseTo(100, 9);
    expect(own[0]?.total_change_pct).toBeCloseTo(change, 9);
    for (const row of own) {
      const shop = panel.filter(([item]) => BigInt((item % 3) + 1) === row.site_id);
      const [, moved] = chain(shop, [month - 1, month]);
      expect(row.own_change_pct).toBeCloseTo(100 * ((moved ?? 0) - 1), 9);
    }
  }
});

test('an interval follows from the drawn products and is the same for the same seed', async () => {
  const unset = { replicates: null, seed: null, confidence: null };
  const interval = (set: Record<string, string> = {}) =>
    world.ask('index_interval', { ...unset, by: 'all', price: 'last', ...set });
  const rows = await interval();
  const [other, again, wide] = [
    await interval({ seed: 'two' }),
    await interval(),
    await interval({ confidence: '99' }),
  ];
  expect(column(rows, 'jevons')).toEqual(column(again, 'jevons'));
  expect(rows).toEqual(again);
  expect(column(rows, 'lower')).not.toEqual(column(other, 'lower'));
  expect(difference(column(rows, 'jevons'), indices.jevons)).toBeLessThan(1e-9);
  expect(Number(rows[0]?.std_error)).toBe(0);
  for (const [k, row] of rows.entries()) {
    expect(Number(row.lower)).toBeLessThanOrEqual(Number(row.upper));
    expect(Number(wide[k]?.lower)).toBeLessThanOrEqual(Number(row.lower));
  }
});

test('the price index of a shop uses only its own listings, and each count of listings is exact', async () => {
  const shops = await ask({ by: 'shop' });
  for (const siteId of [1n, 2n, 3n]) {
    const own = panel.filter(([item]) => BigInt((item % 3) + 1) === siteId);
    const rows = shops.filter((row) => row.site_id === siteId);
    const months = [...new Set(own.map(([, month]) => month))].sort((a, b) => a - b);
    expect(rows.map((row) => Number(row.items))).toEqual(
      months.map((at) => own.filter(([, month]) => month === at).length),
    );
    expect(difference(column(rows, 'jevons'), chain(own, months))).toBeLessThan(1e-9);
    expect(difference(column(rows, 'tpd'), regress(own, months))).toBeLessThan(1e-9);
  }
});

test('weekly and daily price indices use the prices at the ends of the periods', async () => {
  for (const [period, days] of [
    ['week', 7],
    ['day', 1],
  ] as const) {
    const rows = await ask({ period, by: 'all', since: '2025-03-01', until: '2025-04-12' });
    const epoch = Date.UTC(1970, 0, 5) / 86_400_000;
    const day = (year: number, month: number, of: number) => Date.UTC(year, month, of) / 86_400_000 - epoch;
    const last = day(2025, 3, 12);
    const counts: number[] = [];
    for (let at = Math.floor(day(2025, 2, 1) / days); at * days <= last; at++) {
      const end = at * days + days - 1;
      counts.push(
        panel.filter(
          ([item, month]) =>
            day(2025, month, 1) + (item % 9) <= Math.min(end, last) && day(2025, month + 1, 1) > Math.min(end, last),
        ).length,
      );
    }
    expect(rows.map((row) => Number(row.items))).toEqual(counts.filter((count) => count > 0));
  }
});

test('an index is null from the first period that no listing links to an earlier one', async () => {
  await db.run(`INSERT INTO price_spells VALUES (901, 'p', 1, 'EUR', 5, DATE '2025-01-01', DATE '2025-03-01', TIMESTAMPTZ '2025-01-01 00:00:00Z', TIMESTAMPTZ '2025-03-01 00:00:00Z', false, 'alone', 'UTC'),
    (902, 'p', 1, 'EUR', 7, DATE '2025-03-01', DATE '2025-05-01', TIMESTAMPTZ '2025-03-01 00:00:00Z', TIMESTAMPTZ '2025-05-01 00:00:00Z', false, 'alone', 'UTC')`);
  const rows = await ask({ category: 'alone' });
  expect(rows.map((row) => [row.jevons, row.geks_jevons, row.tpd])).toEqual([
    [100, 100, 100],
    [100, 100, expect.closeTo(100, 9)],
    [null, null, null],
    [null, null, null],
  ]);
});

test('a daily index may span more than 120 days', async () => {
  await db.run(`INSERT INTO price_spells VALUES (903, 'p', 1, 'EUR', 5, DATE '2025-01-01', DATE '2025-01-02', TIMESTAMPTZ '2025-01-01 00:00:00Z', TIMESTAMPTZ '2025-01-02 00:00:00Z', false, 'rare', 'UTC'),
    (903, 'p', 1, 'EUR', 6, DATE '2025-06-01', DATE '2025-06-02', TIMESTAMPTZ '2025-06-01 00:00:00Z', TIMESTAMPTZ '2025-06-02 00:00:00Z', false, 'rare', 'UTC')`);
  const rows = await ask({ category: 'rare', period: 'day', since: '2025-01-01' });
  expect(rows.map(({ tpd }) => tpd)).toEqual([100, expect.closeTo(120, 9)]);
});

/** The chained mean of changes, item by item: a missing price is known by the chain itself, for some months at most. */
function imputeOverall(most: number): number[] {
  const months = [...new Set(panel.map(([, month]) => month))].sort((a, b) => a - b);
  const known = new Map<number, { log: number; at: number }>();
  let level = 0;
  const chain: number[] = [];
  for (const month of months) {
    const now = logPrices(panel, month);
    const moves = [...now].flatMap(([item, log]) => {
      const before = known.get(item);
      return before === undefined || month - before.at > most + 1 ? [] : [log - before.log];
    });
    const step = moves.length === 0 ? 0 : moves.reduce((sum, move) => sum + move, 0) / moves.length;
    level += step;
    chain.push(Math.exp(level));
    for (const one of known.values()) one.log += step;
    for (const [item, log] of now) known.set(item, { log, at: month });
  }
  return chain;
}

function logPrices(own: typeof panel, month: number): Map<number, number> {
  return new Map(own.filter(([, at]) => at === month).map(([item, , cents]) => [item, Math.log(cents)]));
}

function chain(own: typeof panel, months: number[]): number[] {
  let level = 0;
  return months.map((month, k) => {
    const now = logPrices(own, month);
    const before = logPrices(own, months[k - 1] ?? -1);
    const moves = [...now].flatMap(([item, log]) => (before.has(item) ? [log - (before.get(item) ?? 0)] : []));
    if (k > 0) level += moves.reduce((sum, move) => sum + move, 0) / moves.length;
    return Math.exp(level);
  });
}

/** Least squares with a dummy for each item and each month but the first, by normal equations with pivoting. */
function regress(own: typeof panel, months: number[]): number[] {
  const items = [...new Set(own.map(([item]) => item))];
  const size = items.length + months.length - 1;
  const matrix = Array.from({ length: size }, () => new Array<number>(size + 1).fill(0));
  const add = (a: number, b: number, value: number) => {
    const row = matrix[a] as number[];
    row[b] = (row[b] as number) + value;
  };
  for (const [item, month, cents] of own) {
    const at = [items.indexOf(item), ...(month === months[0] ? [] : [items.length + months.indexOf(month) - 1])];
    for (const a of at) {
      for (const b of at) add(a, b, 1);
      add(a, size, Math.log(cents));
    }
  }
  for (let k = 0; k < size; k++) {
    const best = matrix
      .slice(k)
      .reduce(
        (most, row, i) =>
          Math.abs(row[k] as number) > Math.abs((matrix[most] as number[])[k] as number) ? k + i : most,
        k,
      );
    [matrix[k], matrix[best]] = [matrix[best] as number[], matrix[k] as number[]];
    const pivot = matrix[k] as number[];
    for (const [i, row] of matrix.entries()) {
      if (i === k) continue;
      const factor = (row[k] as number) / (pivot[k] as number);
      for (let j = k; j <= size; j++) row[j] = (row[j] as number) - factor * (pivot[j] as number);
    }
  }
  return [
    1,
    ...months
      .slice(1)
      .map((_, k) =>
        Math.exp(
          ((matrix[items.length + k] as number[])[size] as number) /
            ((matrix[items.length + k] as number[])[items.length + k] as number),
        ),
      ),
  ];
}
