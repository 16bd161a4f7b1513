/** Recomputes the analyses of the product pages row by row. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setVariables } from '../../src/analyze/analysis.js';
import type { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { insertRows } from '../check/lake-world.js';
import { openMoverWorld } from './moving-world.js';

type Row = Record<string, string | null>;

let db: Database;
beforeAll(async () => {
  ({ db } = await openMoverWorld(1));
  await db.run(`UPDATE products SET title = 'Süß ' || product_id || ' Kettle', brand = 'Brand ' || (hash(product_id) % 3),
    mpn = upper(product_id) || '-X'`);
  await db.run(`UPDATE offers SET availability = CASE WHEN item_id % 3 = 0 THEN 'in stock' WHEN item_id % 3 = 1 THEN 'on order' END,
    delivered_price = CASE WHEN item_id % 4 = 0 THEN price + 3 END`);
});
afterAll(() => db.close());

/** Rows as text, times in micros. */
async function read(sql: string): Promise<Row[]> {
  const names = (await db.rows(`DESCRIBE ${sql}`)).map((row) => [String(row.column_name), String(row.column_type)]);
  const texts = names.map(
    ([name, type]) =>
      `${type === 'TIMESTAMP WITH TIME ZONE' ? `epoch_us("${name}")` : `"${name}"`}::VARCHAR AS "${name}"`,
  );
  return (await db.rows(`SELECT ${texts.join(', ')} FROM (${sql})`)) as Row[];
}

async function ask(name: string, variables: Record<string, string> = {}): Promise<Row[]> {
  await setVariables(db, variables);
  const rows = await read(readAnalysis(name));
  await setVariables(db, Object.fromEntries(Object.keys(variables).map((one) => [one, null])));
  return rows;
}

const keyOf = ({ product_id, currency }: Row) => `${product_id} ${currency}`;
const sorted = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).sort();

describe('find_products', () => {
  const cards = async () => {
    const [prices, products, spreads, offers] = await Promise.all(
      ['product_prices', 'products', 'price_spread', 'offers'].map((table) => read(`FROM ${table}`)),
    );
    return (prices ?? []).map((price) => {
      const product = (products ?? []).find(({ product_id }) => product_id === price.product_id) as Row;
      const spread = (spreads ?? []).find((one) => keyOf(one) === keyOf(price));
      const counted = (offers ?? []).filter((one) => keyOf(one) === keyOf(price) && one.is_counted === 'true');
      const delivered = counted.flatMap((one) => (one.delivered_price === null ? [] : [Number(one.delivered_price)]));
      return {
        key: keyOf(price),
        product,
        site: new Set(
          (offers ?? []).filter((one) => one.product_id === price.product_id).map(({ site_id }) => site_id),
        ),
        shops: spread?.trusted_shops ?? spread?.shops ?? '1',
        min: spread?.trusted_min ?? price.min,
        max: spread?.trusted_max ?? price.max,
        spread: spread?.trusted_spread_pct ?? null,
        grade: spread?.grade ?? null,
        inStock: new Set(
          counted.filter(({ availability }) => availability === 'in stock').map(({ site_id }) => site_id),
        ).size,
        delivered: delivered.length === 0 ? null : Math.min(...delivered),
      };
    });
  };
  const found = async (variables: Record<string, string>) => (await ask('find_products', variables)).map(keyOf).sort();

  it('lists each product and currency with its trusted prices', async () => {
    const expected = await cards();
    const rows = await ask('find_products');
    expect(rows.length).toBe(expected.length);
    expect(rows.length).toBeGreaterThan(30);
    for (const one of expected) {
      const row = rows.find((other) => keyOf(other) === one.key) as Row;
      expect(row).toMatchObject({
        title: one.product.title,
        shops: one.shops,
        min_price: one.min,
        max_price: one.max,
        spread_pct: one.spread,
        grade: one.grade,
        in_stock_shops: String(one.inStock),
      });
      expect(row.delivered_min === null ? null : Number(row.delivered_min)).toBe(one.delivered);
    }
    // The widest spreads of grades A and B come first.
    const ranks = rows.map(
      ({ grade, spread_pct }) => [grade === 'A' || grade === 'B' ? 0 : 1, -Number(spread_pct ?? -1)] as const,
    );
    for (const [k, [place, width]] of ranks.slice(1).entries()) {
      const [placeBefore, widthBefore] = ranks[k] as readonly [number, number];
      expect(place > placeBefore || (place === placeBefore && width >= widthBefore)).toBe(true);
    }
  });

  it('applies each filter exactly', async () => {
    const all = await cards();
    const keep = (test: (card: (typeof all)[number]) => boolean) =>
      all
        .filter(test)
        .map(({ key }) => key)
        .sort();
    expect(await found({ min_shops: '3' })).toEqual(keep(({ shops }) => Number(shops) >= 3));
    expect(await found({ grade: 'B' })).toEqual(keep(({ grade }) => grade === 'A' || grade === 'B'));
    expect(await found({ in_stock: 'true' })).toEqual(keep(({ inStock }) => inStock > 0));
    expect(await found({ in_stock: 'false' })).toEqual(keep(({ inStock }) => inStock === 0));
    expect(await found({ currency: 'PLN' })).toEqual(keep(({ key }) => key.endsWith('PLN')));
    expect(await found({ brand: 'bRAND 1' })).toEqual(keep(({ product }) => product.brand === 'Brand 1'));
    expect(await found({ site_id: '3' })).toEqual(keep(({ site }) => site.has('3')));
    expect(await found({ category: 'tools' })).toEqual(keep(({ product }) => product.category_slug === 'tools'));
    expect(await found({ product: 'p07' })).toEqual(keep(({ product }) => product.product_id === 'p07'));
    expect(await found({ min_price: '100', max_price: '200' })).toEqual(
      keep(({ min, max }) => Number(max) >= 100 && Number(min) <= 200),
    );
    expect(await found({ q: 'KETTLE suß P1' })).toEqual(
      keep(({ product }) => String(product.product_id).startsWith('p1')),
    );
    expect(await found({ q: 'p05x' })).toEqual(keep(({ product }) => product.product_id === 'p05'));
  });
});

it('product_spells lists the price spells of one product, starting with the offer that is cheapest today', async () => {
  const spells = await read("FROM price_spells WHERE product_id = 'p05'");
  const offers = await read('FROM offers');
  // An offer that is alone in its currency has no row in the table, so it counts.
  const isCounted = (row: Row) => offers.find(({ item_id }) => item_id === row.item_id)?.is_counted ?? 'true';
  const rows = await ask('product_spells', { product: 'p05' });
  const plain = (row: Row) => ({
    ...row,
    is_counted: row.to_at === null ? isCounted(row) : null,
  });
  const names = [
    'item_id',
    'site_id',
    'currency',
    'price',
    'from_at',
    'to_at',
    'began',
    'ended',
    'is_suspect',
    'is_counted',
  ];
  const pick = (row: Row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
  expect(sorted(rows.map(pick))).toEqual(sorted(spells.map(plain).map(pick)));
  const current = rows.filter(({ to_at }) => to_at === null).map(({ price }) => Number(price));
  expect(current).toEqual([...current].sort((a, b) => a - b));
  expect(current.length).toBeGreaterThan(1);
  const [clock] = await read('SELECT max(last_seen_at) AS now FROM items');
  const days = await ask('product_spells', { product: 'p05', days: '20' });
  const first = Number(clock?.now) - 20 * 86_400_000_000;
  expect(sorted(days.map(pick))).toEqual(
    sorted(rows.filter(({ to_at }) => to_at === null || Number(to_at) > first).map(pick)),
  );
  expect(days.length).toBeLessThan(rows.length);
});

it("product_changes lists the history of a product's listings, latest first", async () => {
  const items = (await read("FROM items WHERE product_id = 'p05'")).map(({ item_id }) => item_id);
  const changes = (await read('FROM history')).filter(({ item_id }) => items.includes(item_id ?? ''));
  const rows = await ask('product_changes', { product: 'p05' });
  const pick = ({ change_id, item_id, kind, observed_at, price, previous_price }: Row) => ({
    change_id,
    item_id,
    kind,
    observed_at,
    price,
    previous_price,
  });
  const latest = [...changes].sort(
    (a, b) =>
      Number(b.observed_at) - Number(a.observed_at) || Number(BigInt(b.change_id ?? 0) - BigInt(a.change_id ?? 0)),
  );
  expect(rows.map(pick)).toEqual(latest.map(pick));
  expect(rows.length).toBeGreaterThan(5);
  expect((await ask('product_changes', { product: 'p05', top: '3' })).map(pick)).toEqual(latest.slice(0, 3).map(pick));
});

it('source_freshness lists the days since each source was seen, stalest first', async () => {
  const at = (days: number) => `make_timestamptz(1700000000000000 + ${days} * 86400000000)`;
  const source = (site: number, id: number, seen: string, isStale: boolean) => ({
    site_id: `${site}`,
    source_id: `${id}`,
    last_seen_at: seen,
    clock_at: at(30),
    read_at: at(30),
    read_by: "'copy'",
    stale_after: '1209600',
    is_stale: `${isStale}`,
    run_id: "'r1'",
  });
  await db.run('DELETE FROM sources');
  await insertRows(db, 'sources', [
    source(1, 7, at(29), false),
    source(2, 8, at(10), true),
    source(2, 9, at(27), false),
    source(3, 10, 'NULL', false),
  ]);
  await db.run('UPDATE items SET source_id = 7 WHERE site_id = 1');
  const [listed] = await read('SELECT count(*) AS n FROM items WHERE is_listed AND site_id = 1 AND source_id = 7');
  const rows = await ask('source_freshness');
  expect(rows.map((row) => [row.source_id, row.is_stale, row.unseen_days, row.stale_after_days])).toEqual([
    ['8', 'true', '20.0', '14.0'],
    ['10', 'false', null, '14.0'],
    ['9', 'false', '3.0', '14.0'],
    ['7', 'false', '1.0', '14.0'],
  ]);
  await db.run('UPDATE sources SET last_seen_at = clock_at + INTERVAL 1 HOUR WHERE source_id = 9');
  expect((await ask('source_freshness', { site_id: '2' })).map(({ unseen_days }) => Number(unseen_days))).toEqual([
    20, 0,
  ]);
  expect(rows.at(-1)?.listings).toBe(listed?.n);
  expect((await ask('source_freshness', { site_id: '2' })).map(({ source_id }) => source_id)).toEqual(['8', '9']);
  expect((await ask('source_freshness', { stale: 'true' })).map(({ source_id }) => source_id)).toEqual(['8']);
  expect(await ask('source_freshness', { top: '1' })).toHaveLength(1);
});
