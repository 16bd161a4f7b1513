import { afterAll, describe, expect, it } from 'vitest';
import { readAnalysis } from '../../src/sql/model.js';
import { insertCredits, openEmptyTables } from '../check/lake-world.js';

const db = await openEmptyTables();
await db.run("SET VARIABLE run_id = 'r2'");
await insertCredits(db);
afterAll(() => db.close());

/** An offer that was judged, of a shop of its own where none is named. It counts where nothing is found. */
interface Offer {
  price: string;
  site?: number;
  found?: string;
  doubts?: string[];
  before?: string;
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
    previous_price: one.before,
    unit: one.unit,
    unit_price: one.unitPrice,
  }));
  await db.run(
    `INSERT INTO offers BY NAME
     SELECT *, 'p' AS product_id, findings = [] AS is_counted
     FROM (SELECT unnest(from_json($1, '[{"item_id":"BIGINT","site_id":"BIGINT","price":"DECIMAL(18,4)",
       "currency":"VARCHAR","findings":["VARCHAR"],"doubts":["VARCHAR"],"previous_price":"DECIMAL(18,4)","unit":"VARCHAR","unit_price":"DECIMAL(18,4)"}]'), recursive := true))`,
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
  it('without outliers leaves out prices below half and above twice the middle, not those at them', async () => {
    const [row] = await spread(...priced('1.9999', '2', '4', '4', '4', '4', '4', '4', '8', '8.0001'));
    expect(row).toMatchObject({
      offers: '10',
      outliers: '2',
      min: '1.9999',
      max: '8.0001',
      mean: '4.4000',
      inlier_min: '2.0000',
      inlier_median: '4.0000',
      inlier_max: '8.0000',
      inlier_mean: '4.2500',
      inlier_spread_pct: '300',
    });
  });

  it('names the licences of its shops as they are now', async () => {
    expect(await spread(...priced('4', '5', '6'))).toMatchObject([{ attribution: "['CC BY 4.0', 'CC0']" }]);
    expect(await spread({ price: '4', site: 2 }, { price: '5', site: 9 })).toMatchObject([{ attribution: '[]' }]);
  });
});

describe('the trusted figures', () => {
  it('are of the offers that count', async () => {
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

  it('have a median that is half away from zero between two prices', async () => {
    expect(await spread(...priced('10', '10.0001'))).toMatchObject([{ trusted_median: '10.0001' }]);
    expect(await spread(...priced('9', '10', '10.0003', '11'))).toMatchObject([{ trusted_median: '10.0002' }]);
  });

  it('name the shop with the lowest id where several have the lowest price, or the highest', async () => {
    expect(await spread(...priced('12', '10', '12', '10'))).toMatchObject([
      { trusted_cheapest_site_id: '2', trusted_dearest_site_id: '1' },
    ]);
  });

  it('of one shop are none', async () => {
    const [row = {}] = await spread(...priced('4'), ...stale('5'));
    expect(row).toMatchObject({ grade: 'C', left_out: '1', trusted_shops: '1' });
    expect(row.grade_reason).toBe('one trusted shop of 2; left out: stale');
    const figures = Object.entries(row).filter(([name]) => /^trusted_(?!shops)/.test(name));
    expect(figures).toHaveLength(6);
    expect(figures.filter(([, value]) => value !== null)).toEqual([]);
  });
});

describe('the grade', () => {
  it.each<[string, Offer[], string]>([
    ['of four shops', priced('4', '4.20', '4.40', '5'), 'A 4 shops'],
    [
      'of four shops, one of which lists the product twice',
      [...priced('4', '4.20', '4.40', '5'), { price: '4.50', site: 1, found: 'duplicate' }],
      'A 4 shops; left out: duplicate',
    ],
    [
      'of four shops beside one that is left out',
      [...priced('4', '4.20', '4.40', '5'), ...stale('4')],
      'B 4 shops; left out: stale',
    ],
    ['of three shops', priced('4', '4.20', '4.40'), 'B 3 shops'],
    ['of shops of which half are left out', [...priced('4', '4.20'), ...stale('4', '5')], 'B 2 shops; left out: stale'],
    [
      'of shops of which most are left out',
      [...priced('4', '4.20'), ...stale('4', '5', '6')],
      'C most shops left out; left out: stale',
    ],
    ['of a lone price that is 1.6 times the next', priced('5', '5', '8'), 'B 3 shops'],
    ['of a lone price beyond that', priced('5', '5', '8.01'), 'C a gap of factor 1.6 between two prices'],
    [
      'of a lone price that was among the others before',
      [...priced('5', '5.10'), { price: '3', before: '4.90' }],
      'B 3 shops',
    ],
    [
      'of a lone price that came only part of the way',
      [...priced('5', '5.10'), { price: '3', before: '4.70' }],
      'C a gap of factor 1.7 between two prices',
    ],
    [
      'of a lone price that moved by more than a factor of 2.5',
      [...priced('5', '5.10'), { price: '2', before: '5.01' }],
      'C a gap of factor 2.5 between two prices',
    ],
    [
      'of a lone price beside one that was left out and had moved',
      [...priced('5', '5.10', '3'), { price: '3', before: '5', found: 'stale' }],
      'C a gap of factor 1.7 between two prices; left out: stale',
    ],
    [
      'of a lone low price beyond that',
      priced('4', '6.50', '6.60', '7', '7'),
      'C a gap of factor 1.6 between two prices',
    ],
    ['of low prices that two shops share', priced('2', '2', '7.90', '8', '8'), 'B 5 shops'],
    ['of low prices that two shops share, 1.6 times below the next', priced('5', '5', '8', '8'), 'A 4 shops'],
    [
      'of two groups that are too far apart',
      priced('2', '2', '8.01', '8.10'),
      'C a gap of factor 4.0 between two prices',
    ],
    [
      'of a doubtful price within the others',
      [...priced('4', '4.20', '5'), { price: '4.50', doubts: ['title'] }],
      'B 4 shops',
    ],
    [
      'of a doubtful price at an end',
      [...priced('4', '4.20', '4.40'), { price: '5', doubts: ['brand'] }],
      'C the lowest or highest price may be of another product',
    ],
    [
      'of a doubtful price that a sound one equals',
      [...priced('4', '4.20', '5'), { price: '5', doubts: ['unit_price'] }],
      'B 4 shops',
    ],
    [
      'of doubtful prices alone',
      [
        { price: '4', doubts: ['title'] },
        { price: '4', doubts: ['title'] },
      ],
      'C the lowest or highest price may be of another product',
    ],
    [
      'of three shops, one of which is off by a scale',
      [...priced('4', '4.20'), { price: '42', found: 'scale pack' }],
      'C 3 shops that differ by a factor near 10, 100 or 1,000; left out: pack, scale',
    ],
    [
      'of four shops, one of which is off by a scale',
      [...priced('4', '4.20', '4.40'), { price: '42', found: 'scale' }],
      'B 3 shops; left out: scale',
    ],
    ['of no trusted shop', stale('4', '5', '6'), 'C no trusted shop of 3; left out: stale'],
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
      'are compared between packs of several sizes',
      [of('3'), of('4'), of('2', 'kg', { found: 'pack' })],
      ['kg', '2.0000', '4.0000', '100'],
    ],
    [
      'are not those of offers with another finding',
      [of('3'), of('4'), of('2', 'kg', { found: 'stale' }), of('9', 'l', { found: 'stale pack' })],
      ['kg', '3.0000', '4.0000', '33.333333333333336'],
    ],
    ['of two units are not compared', [of('3'), of('4'), of('5', 'l')], [null, null, null, null]],
    ['of one shop are not compared', [of('3'), of('4', 'kg', { site: 1 }), { price: '4' }], [null, null, null, null]],
    [
      'that are zero to four decimals are not compared',
      [of('3'), of('4'), of('0', 'kg', { found: 'pack' })],
      ['kg', '3.0000', '4.0000', '33.333333333333336'],
    ],
    ['that are zero have no unit', [of('3'), of('4'), of('0', 'l')], ['kg', '3.0000', '4.0000', '33.333333333333336']],
    ['that are zero make no second shop', [of('3'), of('0')], [null, null, null, null]],
    ['that are zero in all shops are none', [of('0'), of('0')], [null, null, null, null]],
  ])('%s', async (_name, offers, expected) => {
    const [row] = await spread(...offers);
    expect([row?.unit, row?.unit_min, row?.unit_max, row?.unit_spread_pct]).toEqual(expected);
  });
});
