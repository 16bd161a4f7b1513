import type { DuckDBValue } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { setVariables } from '../../src/analyze/analysis.js';
import { readAnalysis } from '../../src/sql/model.js';
import type { Row } from '../check/lake-world.js';
import { kettleWorld, openMarket, text, time, type WorldRows } from './market-world.js';

let nextId = 1;

/** Offers of one product in the shops 1, 2, … */
function offers(product: string, prices: string[], more: Row = {}): Row[] {
  return prices.map((price, k) => ({
    item_id: String(nextId++),
    product_id: text(product),
    gtin: 'NULL',
    gtin14: 'NULL',
    site_id: String(k + 1),
    price,
    ...more,
  }));
}

const tea: Row = { category_slug: text('tea'), category_name: text('Tea') };
const WORLD = {
  sites: [1, 2, 3, 4, 5].map((id) => ({ site_id: String(id), name: text(`Shop ${id}`) })),
  items: [
    ...offers('a', ['10', '10.4'], tea),
    ...offers('b', ['10', '15', '22'], tea),
    ...offers('c', ['10', '10.1', '10.2', '11', '5000']),
    ...offers('d', ['20', '21', '22', '24'], { currency: text('PLN') }),
    ...offers('e', ['20']),
    ...offers('f', ['20', '30'], { is_listed: 'false', removed_at: time('2026-11-01T00:00:00Z') }),
  ],
};

/** Rows of an analysis over a world, with times and money as text. */
async function read(world: WorldRows, analysis: string, variables: Record<string, DuckDBValue> = {}) {
  const db = await openMarket(world);
  try {
    await setVariables(db, variables);
    return (await db.rows(readAnalysis(analysis))).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === 'object' && value !== null ? String(value) : value,
        ]),
      ),
    );
  } finally {
    await db.close();
  }
}

describe('analyses for the pages', () => {
  it("count spreads by grade, excluding prices that can't be trusted", async () => {
    const [summary] = await read(WORLD, 'spread_summary');
    expect(summary).toEqual({
      ...{ min_shops: 4n, spreads: 4n, grade_a: 1n, grade_b: 3n, grade_c: 0n, left_out: 1n, in_many_shops: 2n },
      ...{ median_pct: expect.closeTo(15), p90_pct: expect.closeTo(90) },
    });
    const bars = (await read(WORLD, 'spread_histogram')).map(
      ({ from_pct, up_to_pct, spreads }) => `${from_pct}-${up_to_pct}: ${spreads}`,
    );
    expect(bars).toEqual(['0-5: 1', '10-15: 1', '20-25: 1', '100-null: 1']);
    const widest = await read(WORLD, 'widest_spreads', { min_shops: 4n });
    expect(widest.map(({ product_id, trusted_max, grade }) => `${product_id} ${trusted_max} ${grade}`)).toEqual([
      'd 24.0000 A',
      'c 11.0000 B',
    ]);
  });

  it('can be limited to one currency and to a minimum number of shops', async () => {
    const [summary] = await read(WORLD, 'spread_summary', { currency: 'EUR', min_shops: 2n });
    expect(summary).toMatchObject({ min_shops: 2n, spreads: 3n, in_many_shops: 3n });
    const spreads = await read(WORLD, 'widest_spreads', { currency: 'EUR', min_shops: 2n });
    expect(spreads.map(({ product_id }) => product_id)).toEqual(['b', 'c', 'a']);
    const shops = await read(WORLD, 'shop_index_by_category', { currency: 'EUR', min_products: 1n, by: 'shop' });
    expect(shops.map(({ products }) => products).sort()).toEqual([1n, 2n, 3n, 3n]);
  });

  it('lower their default of four shops to the number of shops that exist', async () => {
    const [summary] = await read({ ...WORLD, items: WORLD.items.slice(0, 5) }, 'spread_summary');
    expect(summary?.min_shops).toBe(3n);
  });

  it('report the quartiles of the spreads of each closed day', async () => {
    const day = (date: string, product: string, pct: string) => ({
      day: `DATE '${date}'`,
      product_id: text(product),
      trusted_spread_pct: pct,
    });
    const world = {
      days: [
        ...['10', '20', '30', '40', '50'].map((pct, k) => day('2026-11-19', `p${k}`, pct)),
        day('2026-11-18', 'p1', '7'),
        day('2026-11-17', 'p1', '9'),
      ],
    };
    const days = await read(world, 'spread_by_day', { days: 2n });
    expect(days).toEqual([
      { day: '2026-11-18', spreads: 1n, p25: 7, median: 7, p75: 7, time_zone: 'UTC' },
      { day: '2026-11-19', spreads: 5n, p25: 20, median: 30, p75: 40, time_zone: 'UTC' },
    ]);
  });

  it('report shops as a whole, and categories by their products', async () => {
    const [shop] = await read(WORLD, 'shop_index_by_category', { min_products: 1n, by: 'shop' });
    expect(shop).toMatchObject({ shop: 'Shop 1', products: 4n, cheapest: 4n, win_pct: 100 });
    expect(await read(WORLD, 'spread_by_category')).toEqual([
      expect.objectContaining({ category_slug: 'tea', category_name: 'Tea', spreads: 2n, median: 62, widest: 120 }),
    ]);
  });

  it('count how many listings of a dataset the copy has', async () => {
    const [dataset] = await read(kettleWorld({ title: 'Kettle' }), 'report_datasets');
    expect(dataset).toMatchObject({ name: 'Kettle', items: 5n, copied: 0n });
    const [own] = await read({ ...kettleWorld(), datasets: [{ name: text('Groceries') }] }, 'report_datasets');
    expect(own?.copied).toBe(5n);
  });

  it('sum the cost of runs by the month in which they ended', async () => {
    const run = (n: number, at: string) => ({
      run_number: String(n),
      run_id: text(`r${n}`),
      finished_at: time(at),
      calls: '7',
      export_rows: '100',
      overage_blocks: '1',
      bytes_received: '5',
    });
    const runs = [run(1, '2026-10-31T23:59:59Z'), run(2, '2026-11-01T00:00:00Z'), run(3, '2026-11-20T00:00:00Z')];
    const costs = await read({ runs }, 'run_costs');
    expect(
      costs.map(({ month, runs, calls, export_rows, overage_blocks }) => [
        month,
        runs,
        calls,
        export_rows,
        overage_blocks,
      ]),
    ).toEqual([
      ['2026-11-01', 2n, 14n, 200n, 2n],
      ['2026-10-01', 1n, 7n, 100n, 1n],
    ]);
  });

  it('list the newest checks, the most severe findings first', async () => {
    const check = (name: string, severity: string, violations: string, at = '2026-11-20T09:00:00Z') => ({
      ...{ run_id: text(at), name: text(name), severity: text(severity), violations, checked_at: time(at) },
    });
    const checks = await read(
      {
        checks: [
          check('old', 'gate', '9', '2026-11-19T09:00:00Z'),
          check('passed', 'gate', '0'),
          check('slight', 'warn', '1'),
          check('grave', 'error', '1'),
        ],
      },
      'report_checks',
    );
    expect(checks.map(({ name }) => name)).toEqual(['grave', 'slight', 'passed']);
  });

  it('run without any variable', async () => {
    const db = await openMarket(kettleWorld());
    for (const name of [
      ...['overview', 'runs', 'checks', 'datasets', 'credits'].map((part) => `report_${part}`),
      ...['summary', 'histogram', 'by_category', 'by_day'].map((part) => `spread_${part}`),
      ...['changes_by_day', 'widest_spreads', 'shop_index_by_category', 'run_costs'],
    ]) {
      await expect(db.rows(readAnalysis(name)), name).resolves.toBeInstanceOf(Array);
    }
    await db.close();
  });
});
