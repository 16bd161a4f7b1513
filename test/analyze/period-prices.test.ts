import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSpellsView, setVariables } from '../../src/analyze/analysis.js';
import { readVariables } from '../../src/analyze/variables.js';
import type { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { insertRows, openEmptyTables, type Row } from '../check/lake-world.js';

let db: Database;
let nextChange = 1;

beforeAll(async () => {
  db = await openEmptyTables();
  await createSpellsView(db);
  await insertRows(db, 'sites', [{ name: "'Alpha'" }, { site_id: '2', name: "'Beta'" }]);
});
afterAll(() => db.close());

interface Told {
  at: string;
  /** Null ends the listing. */
  price: string | null;
  currency?: string;
}

const time = (at: string) => `TIMESTAMPTZ '${at}'`;

/** A listing with its prices since some instants; its category keeps it apart from those of other tests. */
async function list(itemId: number, category: string, told: readonly Told[], more: Row = {}): Promise<void> {
  const [first] = told;
  const last = told.at(-1) as Told;
  const kept = [...told].reverse().find(({ price }) => price !== null) as Told;
  await insertRows(db, 'items', [
    {
      ...{ item_id: String(itemId), product_id: `'p${itemId}'`, gtin: 'NULL', gtin14: 'NULL' },
      ...{ price: kept.price ?? '1', currency: `'${kept.currency ?? 'EUR'}'`, category_slug: `'${category}'` },
      ...{ first_seen_at: time(first?.at ?? ''), last_seen_at: time('2026-04-30 21:00:00Z') },
      ...(last.price === null ? { is_listed: 'false', removed_at: time(last.at) } : {}),
      ...more,
    },
  ]);
  let before: string | null = null;
  for (const { at, price, currency = 'EUR' } of told) {
    const kind =
      price === null
        ? 'REMOVED'
        : before === null
          ? nextChange > 0 && at === first?.at
            ? 'NEW'
            : 'RELISTED'
          : 'CHANGED';
    await insertRows(db, 'history', [
      {
        ...{ change_id: String(nextChange++), item_id: String(itemId), kind: `'${kind}'`, observed_at: time(at) },
        ...{ observed_date: `(${time(at)} AT TIME ZONE 'UTC')::DATE`, currency: `'${currency}'` },
        ...{ price: price ?? 'NULL', previous_price: before ?? 'NULL' },
      },
    ]);
    before = price;
  }
}

const UNSET = Object.fromEntries(readVariables('price_index').map(({ name }) => [name, null]));

/** Rows of price_index: the period, and an index rounded as a reader reads it. */
async function index(category: string, set: Record<string, string> = {}, name = 'jevons') {
  await setVariables(db, { ...UNSET, category, ...set });
  const rows = await db.rows(readAnalysis('price_index'));
  return rows.map((row) => [
    String(row.period).slice(0, 10),
    row[name] === null ? null : Number(Number(row[name]).toFixed(6)),
  ]);
}

const ratio = (...prices: number[]) => prices.map((price) => Number(((100 * price) / (prices[0] ?? 1)).toFixed(6)));
const levels = async (...asked: Parameters<typeof index>) => (await index(...asked)).map(([, level]) => level);

test('the price of a month is its mean over time, its median, its mean in the collection week, or its last price', async () => {
  // February has 28 days: 10 for 20 days, 12 for 3 and 20 for 5. The week with the 15th is that of the 9th to the 15th.
  await list(1, 'mean', [
    { at: '2026-01-01 00:00:00Z', price: '10' },
    { at: '2026-02-11 00:00:00Z', price: '12' },
    { at: '2026-02-14 00:00:00Z', price: '20' },
    { at: '2026-02-19 00:00:00Z', price: '10' },
  ]);
  const set = { until: '2026-02-28' };
  expect(await levels('mean', set)).toEqual(ratio(10, (10 * 20 + 12 * 3 + 20 * 5) / 28));
  expect(await levels('mean', { ...set, price: 'median' })).toEqual(ratio(10, 10));
  expect(await levels('mean', { ...set, price: 'week' })).toEqual(ratio(10, (10 * 2 + 12 * 3 + 20 * 2) / 7));
  expect(await levels('mean', { ...set, price: 'week', collection_day: '16' })).toEqual(
    ratio(10, (20 * 3 + 10 * 4) / 7),
  );
  expect(await levels('mean', { ...set, price: 'last' })).toEqual(ratio(10, 10));
  expect(await levels('mean', { until: '2026-02-15', price: 'last' })).toEqual(ratio(10, 20));
  // A month that has not ended counts up to its last known day.
  expect(await levels('mean', { until: '2026-02-15' })).toEqual(ratio(10, (10 * 10 + 12 * 3 + 20 * 2) / 15));
});

test('the median is the lowest price at or below which the price was for half of the time', async () => {
  await list(2, 'median', [
    { at: '2026-02-01 00:00:00Z', price: '8' },
    { at: '2026-02-10 00:00:00Z', price: '14' },
    { at: '2026-02-15 00:00:00Z', price: '9' },
    { at: '2026-02-20 00:00:00Z', price: '14' },
    { at: '2026-03-01 00:00:00Z', price: '8' },
  ]);
  // 8 for 9 days, 9 for 5, 14 for 14 of 28.
  expect(await levels('median', { until: '2026-03-31', price: 'median' })).toEqual(ratio(9, 8));
});

test("time without a listing doesn't count, and a month without a listing has no row", async () => {
  await list(3, 'gaps', [
    { at: '2026-01-01 00:00:00Z', price: '10' },
    { at: '2026-01-11 00:00:00Z', price: null },
    { at: '2026-01-21 00:00:00Z', price: '30' },
    { at: '2026-01-31 00:00:00Z', price: null },
    { at: '2026-03-16 00:00:00Z', price: '40' },
  ]);
  // Ten days of 10 and ten of 30.
  expect(await index('gaps', { until: '2026-03-31' })).toEqual([
    ['2026-01-01', 100],
    ['2026-03-01', 200],
  ]);
  expect(await index('gaps', { until: '2026-03-31' }, 'geks_jevons')).toEqual([
    ['2026-01-01', 100],
    ['2026-03-01', 200],
  ]);
  // The window counts months: two of them do not reach from March to January.
  expect(await levels('gaps', { until: '2026-03-31', window_periods: '2' }, 'geks_jevons')).toEqual([100, null]);
});

test("a currency change doesn't count as a price change", async () => {
  await list(4, 'currency', [
    { at: '2026-01-01 00:00:00Z', price: '75' },
    { at: '2026-02-01 00:00:00Z', price: '10', currency: 'EUR' },
    { at: '2026-03-01 00:00:00Z', price: '11', currency: 'EUR' },
  ]);
  await db.run("UPDATE history SET currency = 'HRK' WHERE item_id = 4 AND price = 75");
  await db.run(`UPDATE history SET changes = '{"currency": ["HRK", "EUR"]}' WHERE item_id = 4 AND price = 10`);
  await setVariables(db, { ...UNSET, category: 'currency', until: '2026-03-31' });
  const rows = await db.rows(readAnalysis('price_index'));
  expect(rows.map(({ currency, jevons }) => [currency, Math.round(Number(jevons) * 1e6) / 1e6])).toEqual([
    ['EUR', 100],
    ['EUR', 110],
    ['HRK', 100],
  ]);
});

const LOCAL = {
  'Europe/Zagreb': ['+01', '+02'],
  'Asia/Kathmandu': ['+05:45', '+05:45'],
  'Pacific/Auckland': ['+13', '+13'],
};

test.each(Object.entries(LOCAL))(
  'prices set at local midnight on the 1st belong to that month in %s',
  async (zone, [winter, summer]) => {
    const category = `zone-${zone}`;
    const id = 10 + Object.keys(LOCAL).indexOf(zone);
    // Clocks in Zagreb go forward on 29 March.
    await list(id, category, [
      { at: `2026-01-01 00:00:00${winter}`, price: '100' },
      { at: `2026-02-01 00:00:00${winter}`, price: '110' },
      { at: `2026-03-01 00:00:00${winter}`, price: '121' },
      { at: `2026-04-01 00:00:00${summer}`, price: '133.1' },
    ]);
    for (const price of ['mean', 'last']) {
      const set = { until: '2026-04-30', time_zone: zone, price };
      expect(await index(category, set)).toEqual([
        ['2026-01-01', 100],
        ['2026-02-01', 110],
        ['2026-03-01', 121],
        ['2026-04-01', 133.1],
      ]);
    }
    // In UTC, they are the last prices of the month before.
    expect((await index(category, { until: '2026-04-30', price: 'last' }))[0]).toEqual(['2025-12-01', 100]);
    await setVariables(db, { ...UNSET, category, time_zone: zone });
    expect((await db.row(readAnalysis('price_index')))?.time_zone).toBe(zone);
  },
);

test('a day on which the clocks change has 23 or 25 hours', async () => {
  await list(20, 'short-day', [
    { at: '2026-03-28 23:00:00Z', price: '10' },
    { at: '2026-03-29 10:00:00Z', price: '20' },
  ]);
  const set = { until: '2026-03-29', since: '2026-03-28', period: 'day', time_zone: 'Europe/Zagreb' };
  // From local midnight on: 11 hours of 10 and 12 of 20.
  expect(await index('short-day', set)).toEqual([['2026-03-29', 100]]);
  await list(21, 'short-day-2', [
    { at: '2026-03-27 23:00:00Z', price: '10' },
    { at: '2026-03-29 10:00:00Z', price: '20' },
  ]);
  expect(await levels('short-day-2', set)).toEqual(ratio(10, (10 * 11 + 20 * 12) / 23));
});

test('the pipeline file sets the time zone of all shops or of one', async () => {
  const midnight = [
    { at: '2026-01-31 23:00:00Z', price: '100' },
    { at: '2026-02-28 23:00:00Z', price: '110' },
  ];
  await list(30, 'own-zone', midnight);
  await list(31, 'own-zone', midnight, { site_id: '2' });
  await insertRows(db, 'offer_rules', [
    { rule: "'time zone'", site_id: 'NULL', meaning: "'shop'", text: "'Europe/Zagreb'", run_id: "'r'" },
    { rule: "'time zone'", site_id: '2', meaning: "'shop'", text: "'UTC'", run_id: "'r'" },
  ]);
  const set = { until: '2026-03-31', by: 'shop', price: 'last' };
  const rows = async (more = {}) => index('own-zone', { ...set, ...more });
  expect(await rows()).toEqual([
    ...[
      ['2026-02-01', 100],
      ['2026-03-01', 110],
    ],
    ...[
      ['2026-01-01', 100],
      ['2026-02-01', 110],
      ['2026-03-01', 110],
    ],
  ]);
  expect((await rows({ time_zone: 'Europe/Zagreb' })).length).toBe(4);
  await db.run('DELETE FROM offer_rules');
});

test('a relaunched listing continues the old one if requested and unambiguous', async () => {
  const address = "'https://shop.example/tea'";
  const old = [
    { at: '2026-01-01 00:00:00Z', price: '10' },
    { at: '2026-02-01 00:00:00Z', price: null },
  ];
  await list(40, 'relaunch', old, { url: address, product_id: 'NULL', title: 'NULL' });
  await list(41, 'relaunch', [{ at: '2026-02-01 00:00:00Z', price: '12' }], {
    url: address,
    product_id: "'t2'",
    title: 'NULL',
  });
  const set = { until: '2026-02-28' };
  expect(await levels('relaunch', set)).toEqual([100, null]);
  expect(await levels('relaunch', { ...set, relaunches: 'product' })).toEqual([100, null]);
  expect(await levels('relaunch', { ...set, relaunches: 'url' })).toEqual([100, 120]);
  expect(await levels('relaunch', { ...set, relaunches: 'any' })).toEqual([100, 120]);
  // A third listing at the address makes it doubtful.
  await list(42, 'relaunch', [{ at: '2026-02-02 00:00:00Z', price: '30' }], {
    url: address,
    product_id: "'t3'",
    title: 'NULL',
  });
  expect(await levels('relaunch', { ...set, relaunches: 'any' })).toEqual([100, null]);
});

test('drop_pct excludes the clearance price of a listing that ends', async () => {
  await list(50, 'dump', [{ at: '2026-01-01 00:00:00Z', price: '10' }]);
  await list(51, 'dump', [
    { at: '2026-01-01 00:00:00Z', price: '10' },
    { at: '2026-02-01 00:00:00Z', price: '4' },
    { at: '2026-03-01 00:00:00Z', price: null },
  ]);
  const set = { until: '2026-03-31' };
  expect(await levels('dump', set)).toEqual(ratio(1, Math.sqrt(0.4), Math.sqrt(0.4)));
  expect(await levels('dump', { ...set, drop_pct: '60' })).toEqual([100, 100, 100]);
  expect(await levels('dump', { ...set, drop_pct: '61' })).toEqual(ratio(1, Math.sqrt(0.4), Math.sqrt(0.4)));
});

test('an index can be computed by brand, dataset and region, and an item may belong to several', async () => {
  const twice = [
    { at: '2026-01-01 00:00:00Z', price: '10' },
    { at: '2026-02-01 00:00:00Z', price: '20' },
  ];
  await list(60, 'groups', twice, { brand: "'Acme'", datasets: "['food', 'tea']" });
  await list(61, 'groups', [{ at: '2026-01-01 00:00:00Z', price: '10' }], {
    brand: "'Zen'",
    datasets: "['food']",
    site_id: '2',
  });
  await insertRows(db, 'offer_rules', [
    { rule: "'region'", site_id: '1', meaning: "'shop'", text: "'North'", run_id: "'r'" },
  ]);
  const groups = async (by: string, name: string) => {
    await setVariables(db, { ...UNSET, category: 'groups', until: '2026-02-28', by });
    const rows = await db.rows(readAnalysis('price_index'));
    return rows.map((row) => [row[name], Math.round(Number(row.jevons))]);
  };
  expect(await groups('brand', 'brand')).toEqual([
    ['Acme', 100],
    ['Acme', 200],
    ['Zen', 100],
    ['Zen', 100],
  ]);
  expect(await groups('dataset', 'dataset')).toEqual([
    ['food', 100],
    ['food', 141],
    ['tea', 100],
    ['tea', 200],
  ]);
  expect(await groups('region', 'region')).toEqual([
    ['North', 100],
    ['North', 200],
    [null, 100],
    [null, 100],
  ]);
  expect(await groups('brand and shop', 'shop')).toEqual([
    ['Alpha', 100],
    ['Alpha', 200],
    ['Beta', 100],
    ['Beta', 100],
  ]);
  await setVariables(db, { ...UNSET, category: 'groups', until: '2026-02-28', brand: 'acme' });
  expect((await db.rows(readAnalysis('price_index'))).map(({ items }) => items)).toEqual([1n, 1n]);
  await db.run('DELETE FROM offer_rules');
});

test('spellings of a brand that differ only in case count as one, under the most frequent spelling', async () => {
  const told = (first: string, last: string) => [
    { at: '2026-01-01 00:00:00Z', price: first },
    { at: '2026-02-01 00:00:00Z', price: last },
  ];
  await list(80, 'brands', told('10', '20'), { brand: "'AKTIVNÍ'" });
  await list(81, 'brands', told('10', '20'), { brand: "'Aktivní'" });
  await list(82, 'brands', told('10', '10'), { brand: "'Aktivní'" });
  await list(83, 'brands', told('10', '10'), { brand: "'Aktivni'" });
  await list(84, 'brands', told('10', '10'));
  await setVariables(db, { ...UNSET, category: 'brands', until: '2026-02-28', by: 'brand' });
  const rows = await db.rows(readAnalysis('price_index'));
  expect(rows.map(({ brand, items, jevons }) => [brand, items, Math.round(Number(jevons))])).toEqual([
    ['Aktivni', 1n, 100],
    ['Aktivni', 1n, 100],
    ['Aktivní', 3n, 100],
    ['Aktivní', 3n, Math.round(100 * 2 ** (2 / 3))],
    [null, 1n, 100],
    [null, 1n, 100],
  ]);
});

test('relaunched listings that overlap for more than a period count as one, with their mean price', async () => {
  const address = "'https://shop.example/coffee'";
  const more = { url: address, title: 'NULL' };
  await list(
    90,
    'overlap',
    [
      { at: '2026-01-01 00:00:00Z', price: '10' },
      { at: '2026-03-21 00:00:00Z', price: null },
    ],
    { ...more, product_id: "'c1'" },
  );
  await list(91, 'overlap', [{ at: '2026-01-21 00:00:00Z', price: '20' }], { ...more, product_id: "'c2'" });
  const set = { until: '2026-04-30', relaunches: 'url', overlap_days: '90' };
  // 31 days of 10 and 11 of 20; 28 of each; 20 of 10 and 31 of 20; 20 alone.
  const means = [(10 * 31 + 20 * 11) / 42, 15, (10 * 20 + 20 * 31) / 51, 20];
  expect(await levels('overlap', set)).toEqual(ratio(...means));
});

test('a single listing has an index, and a listing seen once has one row', async () => {
  await list(70, 'single', [{ at: '2026-04-30 20:00:00Z', price: '5' }]);
  expect(await index('single')).toEqual([['2026-04-01', 100]]);
  expect(await index('single', { methods: 'jevons, geks_jevons, tpd, spliced_tpd' }, 'spliced_tpd')).toEqual([
    ['2026-04-01', 100],
  ]);
});
