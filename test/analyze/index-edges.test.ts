import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSpellsView, setVariables } from '../../src/analyze/analysis.js';
import { readVariables } from '../../src/analyze/variables.js';
import { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { createTable } from '../check/lake-world.js';
import { START } from './history-world.js';
import { type Listing, loadPriceWorld, makePriceWorld, type Segment } from './price-world.js';
import { groupBy } from './slow-figures.js';

/**
 * Listings with gaps, returns, a change of the currency and shops of one listing, in zones of half and quarter hours and
 * where clocks change. An index over each kind of period and price is compared with sums over its definition.
 */
let db: Database;
let world: Listing[] = [];

const DAY_MS = 86_400_000;
const CHANGED_FROM = 'HRK';
const ALONE = 9;

beforeAll(async () => {
  db = await Database.open();
  const made = makePriceWorld(41).filter(({ siteId }) => siteId !== 3);
  const [alone] = made.splice(5, 1) as [Listing];
  world = await loadPriceWorld(db, [...made, { ...alone, siteId: ALONE }]);
  await createTable(db, 'offers');
  const found = world.find(({ itemId, segments }) => itemId % 9 > 0 && findChange(segments) > 0) as Listing;
  world = world.filter((one) => one !== found).concat(await changeCurrency(found));
  await createSpellsView(db);
});
afterAll(() => db.close());

/** A price in the middle that follows another one on the spot. */
const findChange = (segments: readonly Segment[]) =>
  segments.findIndex(({ from }, k) => k > 1 && k < segments.length - 2 && segments[k - 1]?.to === from);

/** Until a change of its price, the listing had another currency. */
async function changeCurrency(listing: Listing): Promise<Listing[]> {
  const { segments, itemId, currency } = listing;
  const at = findChange(segments);
  const moment = `make_timestamptz((${START + (segments[at] as Segment).from})::BIGINT) AND item_id = ${itemId}`;
  await db.run(`UPDATE history SET currency = '${CHANGED_FROM}' WHERE observed_at < ${moment}`);
  await db.run(
    `UPDATE history SET changes = '{"currency":["${CHANGED_FROM}","${currency}"]}' WHERE observed_at = ${moment}`,
  );
  return [
    { ...listing, currency: CHANGED_FROM, segments: segments.slice(0, at) },
    { ...listing, segments: segments.slice(at) },
  ];
}

const UNSET = Object.fromEntries(readVariables('price_index').map(({ name }) => [name, null]));

interface Asked {
  zone: string;
  period: 'month' | 'week' | 'day';
  price: 'mean' | 'median' | 'week' | 'last';
  by: 'all' | 'shop' | 'category';
  since: string;
  until: string;
  drop?: number;
  carry?: number;
}

const ASKED: readonly Asked[] = [
  { zone: 'Europe/Zagreb', period: 'month', price: 'mean', by: 'shop', since: '2026-01-01', until: '2026-05-20' },
  {
    zone: 'Asia/Kathmandu',
    period: 'month',
    price: 'median',
    by: 'category',
    since: '2026-01-15',
    until: '2026-05-31',
  },
  {
    zone: 'Australia/Lord_Howe',
    period: 'month',
    price: 'week',
    by: 'all',
    since: '2026-01-01',
    until: '2026-05-31',
    carry: 2,
  },
  {
    zone: 'America/St_Johns',
    period: 'month',
    price: 'last',
    by: 'shop',
    since: '2026-01-01',
    until: '2026-05-31',
    drop: 5,
  },
  {
    zone: 'Australia/Lord_Howe',
    period: 'week',
    price: 'mean',
    by: 'category',
    since: '2026-03-04',
    until: '2026-05-30',
  },
  {
    zone: 'Europe/Zagreb',
    period: 'week',
    price: 'median',
    by: 'all',
    since: '2026-02-02',
    until: '2026-05-29',
    drop: 5,
  },
  {
    zone: 'Asia/Kathmandu',
    period: 'week',
    price: 'last',
    by: 'shop',
    since: '2026-03-01',
    until: '2026-05-31',
    carry: 3,
  },
  { zone: 'America/St_Johns', period: 'day', price: 'mean', by: 'category', since: '2026-03-01', until: '2026-04-10' },
  {
    zone: 'Australia/Lord_Howe',
    period: 'day',
    price: 'median',
    by: 'all',
    since: '2026-03-28',
    until: '2026-04-12',
    carry: 1,
  },
  {
    zone: 'Europe/Zagreb',
    period: 'day',
    price: 'last',
    by: 'shop',
    since: '2026-03-20',
    until: '2026-04-05',
    drop: 5,
  },
];

test.each(ASKED)(
  'an index equals a slow computation from its definition: $zone, $period, $price, by $by',
  async (asked) => {
    const { zone, period, price, by, since, until, drop, carry } = asked;
    await setVariables(db, {
      ...UNSET,
      ...{ time_zone: zone, period, price, by, since, until, with_suspects: 'true', methods: 'jevons' },
      ...(drop === undefined ? {} : { drop_pct: String(drop) }),
      ...(carry === undefined ? {} : { impute: 'carry', impute_periods: String(carry) }),
    });
    const rows = await db.rows(readAnalysis('price_index'));
    const expected = computeIndices(asked);
    const name = (row: Record<string, unknown>) =>
      `${row.category_slug ?? row.site_id ?? 'all'} ${row.currency} ${String(row.period)} ${row.items}`;
    expect(rows.map(name).sort()).toEqual(expected.map(({ label }) => label).sort());
    expect(expected.length).toBeGreaterThan(8);
    const byLabel = new Map(expected.map((one) => [one.label, one]));
    for (const row of rows) {
      const { jevons, direct } = byLabel.get(name(row)) as Expected;
      for (const [found, wanted] of [
        [row.jevons, jevons],
        [row.jevons_direct, direct],
      ]) {
        if (wanted === null) expect(found, name(row)).toBeNull();
        else expect(Math.abs(Number(found) - 100 * Number(wanted)), name(row)).toBeLessThan(1e-9 * Number(found));
      }
    }
  },
);

test('the generated world contains every edge case of these indices', () => {
  const inner = world.flatMap(({ segments }) => segments.slice(1).map(({ from }, k) => from - (segments[k]?.to ?? 0)));
  expect(inner.filter((gap) => gap > 0).length).toBeGreaterThan(5);
  expect(world.filter(({ siteId }) => siteId === ALONE)).toHaveLength(1);
  expect(new Set(world.map(({ currency }) => currency))).toEqual(new Set(['EUR', 'PLN', CHANGED_FROM]));
});

interface Expected {
  label: string;
  jevons: number | null;
  direct: number | null;
}

/** Prices of a listing by the first day of a period. */
type Prices = Map<number, number>;

function computeIndices(asked: Asked): Expected[] {
  const { by, drop, carry = 0 } = asked;
  const periods = listPeriods(asked);
  const series = world.map((listing) => ({ listing, prices: priceListing(listing, periods, asked.price) }));
  const newest = Math.max(...series.flatMap(({ prices }) => [...prices.keys()]));
  for (const { prices } of series) if (drop !== undefined) dropLast(prices, newest, drop);
  const key = ({ listing: { category, siteId, currency } }: (typeof series)[number]) =>
    `${by === 'all' ? 'all' : by === 'shop' ? siteId : category} ${currency}`;
  return [...groupBy(series, key)].flatMap(([group, members]) => {
    const known = [...new Set(members.flatMap(({ prices }) => [...prices.keys()]))].sort((a, b) => a - b);
    const begins = periods.map(({ begin }) => begin);
    const filled = members.map(({ prices }) => {
      const all = new Map(prices);
      // A price that is missing is the last one, in each period with prices of others.
      for (const at of known) {
        const from = begins.indexOf(at);
        const last = begins.slice(Math.max(0, from - carry), from + 1).findLast((begin) => prices.has(begin));
        if (last !== undefined && !all.has(at)) all.set(at, prices.get(last) as number);
      }
      return all;
    });
    const change = (one: number, two: number) => {
      const logs = filled.flatMap((prices) =>
        prices.has(one) && prices.has(two) ? [Math.log(prices.get(two) ?? 0) - Math.log(prices.get(one) ?? 0)] : [],
      );
      return logs.length === 0 ? null : logs.reduce((sum, log) => sum + log, 0) / logs.length;
    };
    let level: number | null = 0;
    return known.map((at, k) => {
      const step = k === 0 ? 0 : change(known[k - 1] as number, at);
      level = level === null || step === null ? null : level + step;
      const direct = change(known[0] as number, at);
      const items = members.filter(({ prices }) => prices.has(at)).length;
      return {
        label: `${group} ${new Date(at).toISOString().slice(0, 10)} ${items}`,
        jevons: level === null ? null : Math.exp(level),
        direct: direct === null ? null : Math.exp(direct),
      };
    });
  });
}

interface Period {
  /** UTC midnight of its first day, as a name. */
  begin: number;
  /** Instants between which its prices are looked at, in microseconds after START. */
  from: number;
  to: number;
}

function listPeriods({ zone, period, price, since, until }: Asked): Period[] {
  const [first, last] = [Date.parse(since), Date.parse(until)];
  const periods: Period[] = [];
  for (let begin = beginPeriod(first, period); begin <= last; begin = endPeriod(begin, period)) {
    const collected = new Date(begin).setUTCDate(15);
    const isWeek = price === 'week' && period === 'month';
    const [from, to] = isWeek
      ? [beginPeriod(collected, 'week'), endPeriod(beginPeriod(collected, 'week'), 'week')]
      : [begin, endPeriod(begin, period)];
    const ends = findMidnight(Math.min(to, last + DAY_MS), zone);
    periods.push({ begin, from: price === 'last' ? ends - 1 : findMidnight(Math.max(from, first), zone), to: ends });
  }
  return periods.filter(({ from, to }) => from < to);
}

function beginPeriod(day: number, period: Asked['period']): number {
  if (period === 'month') return new Date(day).setUTCDate(1);
  return period === 'day' ? day : day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS;
}

function endPeriod(begin: number, period: Asked['period']): number {
  const date = new Date(begin);
  return period === 'month' ? date.setUTCMonth(date.getUTCMonth() + 1) : begin + (period === 'week' ? 7 : 1) * DAY_MS;
}

/** The instant at which a day begins in a time zone, in microseconds after START. */
function findMidnight(day: number, zone: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const offset = (at: number) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at;
  const guess = day - offset(day);
  return (day - offset(guess)) * 1000 - START;
}

function priceListing({ segments }: Listing, periods: readonly Period[], price: Asked['price']): Prices {
  const prices: Prices = new Map();
  for (const { begin, from, to } of periods) {
    const parts = segments
      .map((one) => ({ units: one.units, time: Math.min(one.to, to) - Math.max(one.from, from) }))
      .filter(({ time }) => time > 0)
      .sort((a, b) => a.units - b.units);
    if (parts.length === 0) continue;
    const whole = parts.reduce((sum, { time }) => sum + time, 0);
    let held = 0;
    const middle = parts.find(({ time }) => {
      held += time;
      return 2 * held >= whole;
    });
    const mean = parts.reduce((sum, { units, time }) => sum + units * time, 0) / whole;
    prices.set(begin, price === 'median' ? (middle?.units ?? 0) : mean);
  }
  return prices;
}

/** Leaves out the last price of a listing that ended, if it is far below the one before. */
function dropLast(prices: Prices, newest: number, percent: number): void {
  const [before, last] = [...prices.keys()].sort((a, b) => a - b).slice(-2);
  if (before === undefined || last === undefined || last === newest) return;
  if ((prices.get(last) ?? 0) / (prices.get(before) ?? 1) <= 1 - percent / 100 + 1e-12) prices.delete(last);
}
