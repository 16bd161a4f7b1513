import { afterAll, describe, expect, it } from 'vitest';
import { readAnalysis } from '../../src/sql/model.js';
import { insertCredits, openEmptyTables } from '../check/lake-world.js';

const db = await openEmptyTables();
await db.run("SET VARIABLE run_id = 'r2'");
await insertCredits(db);
afterAll(() => db.close());

/** A judged offer, in a separate shop unless one is given. It counts if it has no finding. */
interface Offer {
  price: string;
  site?: number;
  found?: string;
  doubts?: string[];
  unit?: string;
  unitPrice?: string;
  currency?: string;
}

/** The spreads of these offers of one product, by currency, as texts. */
async function spread(...offers: Offer[]): Promise<Record<string, string | null>[]> {
  await db.run('DELETE FROM offers');
  const rows = offers.map((one, index) => ({
    item_id: index + 1,
    site_id: one.site ?? index + 1,
    price: one.price,
    currency: one.currency ?? 'EUR',
    findings: one.found?.split(' ') ?? [],
    doubts: one.doubts ?? [],
    reason: one.doubts === undefined ? undefined : 'why',
    unit: one.unit,
    unit_price: one.unitPrice,
  }));
  await db.run(
    `INSERT INTO offers BY NAME
     SELECT *, 'p' AS product_id, findings = [] AS is_counted
     FROM (SELECT unnest(from_json($1, '[{"item_id":"BIGINT","site_id":"BIGINT","price":"DECIMAL(18,4)",
       "currency":"VARCHAR","findings":["VARCHAR"],"doubts":["VARCHAR"],"reason":"VARCHAR","unit":"VARCHAR","unit_price":"DECIMAL(18,4)"}]'), recursive := true))`,
    [JSON.stringify(rows)],
  );
  const made = await db.rows(`FROM (${readAnalysis('price_spread')}) ORDER BY currency`);
  return made.map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value === null ? null : String(value)])),
  );
}

const priced = (...prices: string[]): Offer[] => prices.map((price) => ({ price }));
const stale = (...prices: string[]): Offer[] => prices.map((price) => ({ price, found: 'stale' }));

describe('a price spread', () => {
  it('includes the current licenses of its shops', async () => {
    expect(await spread(...priced('4', '5', '6'))).toMatchObject([{ attribution: "['CC BY 4.0', 'CC0']" }]);
    expect(await spread({ price: '4', site: 2 }, { price: '5', site: 9 })).toMatchObject([{ attribution: '[]' }]);
  });
});

describe('trusted figures', () => {
  it('use only the offers that count', async () => {
    const [row] = await spread(...priced('17', '10', '12.5'), ...stale('9', '30'));
    expect(row).toMatchObject({
      left_out: '2',
      trusted_shops: '3',
      trusted_min: '10.0000',
      trusted_median: '12.5000',
      trusted_max: '17.0000',
      trusted_spread_pct: '70',
      trusted_cheapest_site_id: '2',
      trusted_dearest_site_id: '1',
      cheapest_site_id: '4',
      dearest_site_id: '5',
    });
  });

  it('have a median that is rounded half away from zero between two prices', async () => {
    expect(await spread(...priced('10', '10.0001'))).toMatchObject([{ trusted_median: '10.0001' }]);
    expect(await spread(...priced('9', '10', '10.0003', '11'))).toMatchObject([{ trusted_median: '10.0002' }]);
  });

  it('list the shop with the lowest id if several have the lowest or the highest price', async () => {
    expect(await spread(...priced('12', '10', '12', '10'))).toMatchObject([
      { trusted_cheapest_site_id: '2', trusted_dearest_site_id: '1' },
    ]);
  });

  it('are null if only one shop is trusted', async () => {
    const [row = {}] = await spread(...priced('4'), ...stale('5'));
    expect(row).toMatchObject({ grade: 'C', left_out: '1', trusted_shops: '1' });
    expect(row.grade_reason).toBe('only 1 of 2 shops can be compared');
    const figures = Object.entries(row).filter(([name]) => /^trusted_(?!shops)/.test(name));
    expect(figures).toHaveLength(6);
    expect(figures.filter(([, value]) => value !== null)).toEqual([]);
  });
});

describe('the grade', () => {
  it.each<[string, Offer[], string]>([
    ['of four shops', priced('4', '4.20', '4.40', '5'), 'A 4 shops agree'],
    [
      'of four shops, one of which lists the product twice',
      [...priced('4', '4.20', '4.40', '5'), { price: '4.50', site: 1, found: 'duplicate' }],
      'A 4 shops agree',
    ],
    [
      'of four shops beside some that are left out',
      [...priced('4', '4.20', '4.40', '5'), ...stale('4'), { price: '40', found: 'scale' }],
      'B left out: scale, stale',
    ],
    ['of three shops', priced('4', '4.20', '4.40'), 'B only 3 shops'],
    [
      'of shops of which half are left out',
      [...priced('4', '4.20'), ...stale('4', '5')],
      'B only 2 shops; left out: stale',
    ],
    [
      'of shops of which most are left out',
      [...priced('4', '4.20'), ...stale('4', '5', '6')],
      'C only 2 of 5 shops can be compared',
    ],
    ['of a lone price that is 1.6 times the next', priced('5', '5', '8'), 'B only 3 shops'],
    [
      'of a lone high price that is further away',
      priced('5', '5', '8.01'),
      'C the highest price stands alone: 1.60 times the next',
    ],
    [
      'of a lone low price that is further away',
      priced('4', '6.50', '6.60', '7', '7'),
      'C the lowest price stands alone: the next is 1.62 times as high',
    ],
    ['of two groups that are 1.6 times apart', priced('5', '5', '8', '8'), 'A 4 shops agree'],
    [
      'of two groups that are further apart',
      priced('5', '5', '8.01', '8.01'),
      'B two groups of shops, 1.60 times apart',
    ],
    ['of two shops', priced('5', '8'), 'B only 2 shops'],
    ['of two shops that are further apart', priced('5', '8.01'), 'C two shops, 1.60 times apart'],
    [
      'of a price with another brand',
      [...priced('4', '4.20', '4.40'), { price: '5', doubts: ['brand'] }],
      'B the offer at 5.0000: why',
    ],
    [
      'of a price with another title',
      [...priced('4', '4.20', '4.40'), { price: '5', doubts: ['title'] }],
      'C the offer at 5.0000: why',
    ],
    ['of no trusted shop', stale('4', '5', '6'), 'C only 0 of 3 shops can be compared'],
  ])('%s', async (_name, offers, expected) => {
    const [row] = await spread(...offers);
    expect(`${row?.grade} ${row?.grade_reason}`).toBe(expected);
  });
});

describe('unit prices', () => {
  const of = (unitPrice: string, unit = 'kg', more: Partial<Offer> = {}): Offer => ({
    price: '4',
    unit,
    unitPrice,
    ...more,
  });

  it.each<[string, Offer[], (string | null)[]]>([
    ['are compared between shops', [of('3'), of('4.5')], ['kg', '3.0000', '4.5000', '50']],
    [
      'ignore offers with a finding',
      [of('3'), of('4'), of('2', 'kg', { found: 'stale' }), of('9', 'l', { found: 'stale' })],
      ['kg', '3.0000', '4.0000', '33.333333333333336'],
    ],
    ['of two units are not compared', [of('3'), of('4'), of('5', 'l')], [null, null, null, null]],
    ['of one shop are not compared', [of('3'), of('4', 'kg', { site: 1 }), { price: '4' }], [null, null, null, null]],
    [
      'that are zero to four decimals are not compared',
      [of('3'), of('4'), of('0')],
      ['kg', '3.0000', '4.0000', '33.333333333333336'],
    ],
    [
      'of zero do not determine the unit',
      [of('3'), of('4'), of('0', 'l')],
      ['kg', '3.0000', '4.0000', '33.333333333333336'],
    ],
    ['of zero do not count as a second shop', [of('3'), of('0')], [null, null, null, null]],
    ['of zero in all shops are null', [of('0'), of('0')], [null, null, null, null]],
  ])('%s', async (_name, offers, expected) => {
    const [row] = await spread(...offers);
    expect([row?.unit, row?.unit_min, row?.unit_max, row?.unit_spread_pct]).toEqual(expected);
  });
});
