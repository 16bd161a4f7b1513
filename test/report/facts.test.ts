import { describe, expect, it } from 'vitest';
import { readAnalysis } from '../../src/sql/model.js';
import type { Row } from '../check/lake-world.js';
import { kettleWorld, openReportWorld, readWorld, text, time } from './report-world.js';

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

describe('the facts of a report', () => {
  it('count spreads by grade, with prices that cannot be trusted left out', async () => {
    const { summary, histogram, spreads } = await readWorld(WORLD);
    expect(summary).toEqual({
      ...{ min_shops: 4n, spreads: 4n, grade_a: 1n, grade_b: 3n, grade_c: 0n, left_out: 1n, in_many_shops: 2n },
      ...{ median_pct: expect.closeTo(15), p90_pct: expect.closeTo(90) },
    });
    const bars = histogram.map(({ from_pct, up_to_pct, spreads }) => `${from_pct}-${up_to_pct}: ${spreads}`);
    expect(bars).toEqual(['0-5: 1', '10-15: 1', '20-25: 1', '100-null: 1']);
    const widest = spreads.map(({ product_id, max, grade }) => `${product_id} ${max} ${grade}`);
    expect(widest).toEqual(['d 24.0000 A', 'c 11.0000 B']);
  });

  it('are of one currency and of as many shops as it is asked for', async () => {
    const { summary, spreads, histories, shops } = await readWorld(WORLD, { currency: 'EUR', minShops: 2 });
    expect(summary).toMatchObject({ min_shops: 2n, spreads: 3n, in_many_shops: 3n });
    expect(spreads.map(({ product_id }) => product_id)).toEqual(['b', 'c', 'a']);
    const shown = histories.map(({ product, offers }) => `${product.product_id} ${offers.length}`);
    expect(shown).toEqual(['b 3', 'c 5', 'a 2']);
    expect(shops.map(({ products }) => products)).toEqual([3n, 3n, 2n, 1n]);
  });

  it('ask for as many shops as there are where four are too many', async () => {
    const { summary, spreads } = await readWorld({ ...WORLD, items: WORLD.items.slice(0, 5) });
    expect(summary.min_shops).toBe(3n);
    expect(spreads.map(({ product_id }) => product_id)).toEqual(['b']);
  });

  it('tell shops as a whole and categories by their products', async () => {
    const { shops, categories } = await readWorld(WORLD);
    expect(shops[0]).toMatchObject({ shop: 'Shop 1', products: 4n, cheapest: 4n, win_pct: 100 });
    expect(categories).toEqual([
      expect.objectContaining({ category_slug: 'tea', category_name: 'Tea', spreads: 2n, median: 62, widest: 120 }),
    ]);
  });

  it('tell how many listings of a dataset the copy has', async () => {
    const { datasets } = await readWorld(kettleWorld({ title: 'Kettle' }));
    expect(datasets).toEqual([expect.objectContaining({ name: 'Kettle', items: 5n, copied: 0n })]);
    const world = kettleWorld();
    const { datasets: own } = await readWorld({ ...world, datasets: [{ name: text('Groceries') }] });
    expect(own[0]?.copied).toBe(5n);
  });

  it('tell what each offer cost day by day, exactly, until it was removed and from when it came back', async () => {
    const { histories } = await readWorld(kettleWorld());
    const [kettle] = histories;
    const prices = kettle?.offers.map(({ shop, price }) => `${shop} ${price}`);
    const others = ['Shop 2 12.0000', 'Shop 3 15.0000', 'Shop 4 18.5000', 'Shop 5 20.0000'];
    expect(prices).toEqual(['Alpha 10.0001', ...others]);
    const alpha = kettle?.runs.filter(({ item_id }) => item_id === 9_007_199_254_740_993n);
    expect(alpha?.map(({ price, from_day, to_day }) => `${price} ${from_day} ${to_day}`)).toEqual([
      '14.0000 2026-08-23 2026-10-01',
      '12.0000 2026-10-01 2026-10-20',
      '10.0001 2026-11-01 2026-11-20',
      '10.0001 2026-11-20 2026-11-21',
    ]);
    expect(alpha?.[0]).toMatchObject({ lowest: '10.0001', highest: '14.0000' });
  });

  it('hold the newest checks, the gravest findings first', async () => {
    const check = (name: string, severity: string, violations: string, at = '2026-11-20T09:00:00Z') => ({
      ...{ run_id: text(at), name: text(name), severity: text(severity), violations, checked_at: time(at) },
    });
    const { checks } = await readWorld({
      checks: [
        check('old', 'gate', '9', '2026-11-19T09:00:00Z'),
        check('passed', 'gate', '0'),
        check('slight', 'warn', '1'),
        check('grave', 'error', '1'),
      ],
    });
    expect(checks.map(({ name }) => name)).toEqual(['grave', 'slight', 'passed']);
  });

  it('follow from analyses that anybody can run without setting a variable', async () => {
    const db = await openReportWorld(kettleWorld());
    for (const name of [
      ...['overview', 'runs', 'checks', 'datasets', 'products', 'credits'].map((part) => `report_${part}`),
      ...['summary', 'histogram', 'by_category', 'by_day'].map((part) => `spread_${part}`),
      ...['changes_by_day', 'widest_spreads', 'shop_index_by_category'],
    ]) {
      await expect(db.rows(readAnalysis(name)), name).resolves.toBeInstanceOf(Array);
    }
    await db.close();
  });
});
