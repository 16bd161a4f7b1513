import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { fillDerived, openEmptyTables } from '../check/lake-world.js';
import { FAULTS, injectFaults, loadTrial, makeCatalogue } from './spread-trial.js';

const db = await openEmptyTables();
afterAll(() => db.close());
const items = injectFaults(makeCatalogue(7), 11);
await loadTrial(db, items);
await fillDerived(db);
await db.run('CREATE TABLE faults (item_id BIGINT, fault VARCHAR)');
await db.run(
  `INSERT INTO faults SELECT * FROM (SELECT unnest(from_json($1, '[{"item_id":"BIGINT","fault":"VARCHAR"}]'), recursive := true))`,
  [JSON.stringify(items.flatMap(({ item_id, fault }) => (fault === undefined ? [] : [{ item_id, fault }])))],
);
// A trusted spread is false if a wrong offer makes its lowest or highest price.
await db.run(`CREATE TABLE trusted AS
  SELECT product_id, any_value(trusted_spread_pct) AS spread_pct, max(fault) AS fault
  FROM price_spread
  JOIN offers USING (product_id, currency)
  LEFT JOIN faults USING (item_id)
  WHERE grade IN ('A', 'B') AND trusted_spread_pct > 0 AND is_counted AND offers.price IN (trusted_min, trusted_max)
  GROUP BY product_id`);

const falseOf = async (rows: string) =>
  Number(
    (await db.row(`SELECT count(fault) AS n FROM (FROM trusted ORDER BY spread_pct DESC, product_id ${rows})`))?.n,
  );

describe('of 1,450 faults among 9,000 products', () => {
  it('the page has what is found', async () => {
    const made = await db.rows(`
      SELECT fault, count(*) AS bad, count(*) FILTER (NOT is_counted) AS left_out, count(*) FILTER (doubts <> []) AS doubted,
        (SELECT count(*) FROM trusted WHERE trusted.fault = faults.fault) AS spreads
      FROM faults
      JOIN offers USING (item_id)
      GROUP BY fault`);
    const page = readFileSync('docs/concepts/spreads.md', 'utf8');
    const rows = Object.keys(FAULTS).map((name) => {
      const row = made.find(({ fault }) => fault === name);
      return [name, row?.bad, row?.left_out, row?.doubted, row?.spreads].map(String);
    });
    expect(rows).toHaveLength(10);
    const told = page.split('\n').map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    expect(told.filter(([name = '']) => name in FAULTS)).toEqual(rows);
  });

  it('few make a trusted spread false, and few of these lead the ranking', async () => {
    const all = await db.row('SELECT count(*) AS n FROM trusted');
    expect(await falseOf('LIMIT 50')).toBeLessThanOrEqual(10);
    expect(await falseOf('LIMIT 100')).toBeLessThanOrEqual(10);
    expect((100 * (await falseOf(''))) / Number(all?.n)).toBeLessThan(0.7);
  });

  it('no more right prices are left out than without evidence from words, and few spreads are doubted', async () => {
    const right = await db.row(`
      SELECT count(*) FILTER (NOT is_counted AND findings <> ['duplicate']) AS left_out,
        count(*) FILTER (doubts <> [] AND product_id NOT IN (SELECT product_id FROM offers JOIN faults USING (item_id))) AS doubted
      FROM offers
      ANTI JOIN faults USING (item_id)`);
    expect(Number(right?.left_out)).toBeLessThanOrEqual(455);
    expect(Number(right?.doubted)).toBeLessThan(40);
  });
});
