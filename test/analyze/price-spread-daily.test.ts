import { afterAll, describe, expect, it } from 'vitest';
import { readAnalysis } from '../../src/sql/model.js';
import { insertCredits, openEmptyTables } from '../check/lake-world.js';

const db = await openEmptyTables();
await db.run(`CREATE TABLE offer_prices (product_id VARCHAR, currency VARCHAR, item_id BIGINT, site_id BIGINT,
  price DECIMAL(18, 4), from_day DATE, to_day DATE)`);
await insertCredits(db);
afterAll(() => db.close());

/** A price of a shop from a day of January until before another. */
type Price = [site: number, price: string, from: number, to: number, currency?: string];

/** The daily spreads of one product, as texts of these columns. */
async function spread(columns: string[], ...prices: Price[]): Promise<string[]> {
  const day = (n: number) => `DATE '2026-01-${String(n).padStart(2, '0')}'`;
  await db.run('DELETE FROM offer_prices');
  for (const [item, [site, price, from, to, currency = 'EUR']] of prices.entries()) {
    await db.run(
      `INSERT INTO offer_prices VALUES ('p', '${currency}', ${item}, ${site}, ${price}, ${day(from)}, ${day(to)})`,
    );
  }
  const rows = await db.rows(`FROM (${readAnalysis('price_spread_daily')}) ORDER BY currency, day`);
  return rows.map((row) => [String(row.day).slice(-2), ...columns.map((name) => row[name])].join(' '));
}

describe('a daily price spread', () => {
  it('uses the prices at the end of each day, from their first day until before their last', async () => {
    expect(await spread(['min', 'max'], [1, '4', 1, 5], [2, '5', 2, 4], [2, '6', 4, 7])).toEqual([
      '02 4.0000 5.0000',
      '03 4.0000 5.0000',
      '04 4.0000 6.0000',
    ]);
  });

  it('exists on days on which two shops have a price, but not if one shop has two', async () => {
    expect(await spread(['min'], [1, '4', 1, 3], [1, '5', 1, 3])).toEqual([]);
    expect(await spread(['min'], [1, '4', 1, 3], [2, '5', 3, 5])).toEqual([]);
    expect(await spread(['offers', 'shops'], [1, '4', 1, 3], [1, '4.50', 1, 3], [2, '5', 2, 5])).toEqual(['02 3 2']);
  });

  it('includes the current licenses of the shops of that day', async () => {
    expect(await spread(['attribution'], [1, '4', 1, 3], [2, '5', 1, 6], [3, '6', 2, 4], [9, '7', 4, 6])).toEqual([
      "01 ['CC BY 4.0']",
      "02 ['CC BY 4.0', 'CC0']",
      "03 ['CC0']",
      '04 []',
      '05 []',
    ]);
  });
});
