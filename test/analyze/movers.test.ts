import { afterAll, describe, expect, it } from 'vitest';
import { DAY, START } from './history-world.js';
import {
  ask,
  compare,
  FEED_DELAY,
  isRight,
  type Mover,
  moneyOf,
  openMoverWorld,
  type Plain,
  RUN_DAYS,
  type Verdict,
} from './moving-world.js';
import { findEpisodes, SEEN_AT, type Segment } from './price-world.js';
import { groupBy } from './slow-figures.js';

const timeOf = (at: number) => new Date((START + at) / 1000).toISOString();
const segmentAt = ({ segments }: Mover, at: number) => segments.find(({ from, to }) => from <= at && at < to);

/** A price is suspect by the listing's own prices, or by today's verdict if it is today's. */
function isSuspect({ base, segments }: Mover, segment: Segment, verdict: Verdict | undefined): boolean {
  const place = segments.indexOf(segment);
  const episodes = findEpisodes(segments.map((one) => Number(base) + one.units));
  if (episodes.some(([begin, end]) => place >= begin && place < end)) return true;
  const isReturn = episodes.some(([, end]) => place === end);
  const isWrongNow = verdict?.findings.some((one) => ['placeholder', 'scale'].includes(one)) === true;
  return segment.to === Infinity && isWrongNow && !isReturn;
}

/** Lowest price of each shop → its place and the number of shops. */
function placeShop(prices: { siteId: number; units: bigint }[], siteId: number) {
  const lowest = new Map<number, bigint>();
  for (const one of prices) {
    const known = lowest.get(one.siteId);
    if (known === undefined || one.units < known) lowest.set(one.siteId, one.units);
  }
  const own = lowest.get(siteId);
  const place = own === undefined ? null : 1 + [...lowest.values()].filter((units) => units < own).length;
  return { place: place === null ? null : BigInt(place), shops: BigInt(lowest.size) };
}

/** Every row that analysis movers must have, in any order, and how many were left out as wrong. */
function findMovers(listings: readonly Mover[], verdicts: ReadonlyMap<bigint, Verdict>, since: number) {
  const NEVER = ['pack', 'condition', 'terms', 'currency'];
  const rightThen = (mover: Mover) => {
    const segment = segmentAt(mover, since);
    const verdict = verdicts.get(mover.id);
    if (segment === undefined || isSuspect(mover, segment, verdict)) return undefined;
    if (verdict === undefined || isRight(verdict)) return segment;
    return segment.to !== Infinity && !verdict.findings.some((one) => NEVER.includes(one)) ? segment : undefined;
  };
  const rows: Plain[] = [];
  let leftOut = 0;
  for (const mover of listings) {
    const last = mover.segments.at(-1) as Segment;
    const now = last.to === Infinity ? last : undefined;
    const then = segmentAt(mover, since);
    const verdict = verdicts.get(mover.id);
    let kind: string;
    let movedAt = last.from;
    if (now !== undefined && then !== undefined) {
      if (now.units === then.units) continue;
      kind = now.units > then.units ? 'rise' : 'fall';
    } else if (now !== undefined) {
      kind = (mover.segments[0] as Segment).from > since ? 'new' : 'back';
      movedAt = mover.segments.findLast(({ from }, k) => mover.segments[k - 1]?.to !== from)?.from ?? 0;
    } else if (then !== undefined) {
      kind = mover.isGone ? 'gone' : 'removed';
      movedAt = last.to;
    } else continue;
    if ((now !== undefined && !isRight(verdict)) || (then !== undefined && rightThen(mover) === undefined)) {
      leftOut++;
      continue;
    }
    const others = listings.filter((one) => one.productId === mover.productId && one.currency === mover.currency);
    const before = others.flatMap((one) => {
      const units = moneyOf(one, rightThen(one));
      return units === null ? [] : [{ siteId: one.siteId, units }];
    });
    const after = others
      .filter(({ id }) => verdicts.get(id)?.isCounted)
      .map((one) => ({ siteId: one.siteId, units: moneyOf(one, one.segments.at(-1)) as bigint }));
    const [was, is] = [placeShop(before, mover.siteId), placeShop(after, mover.siteId)];
    const [price_before, price] = [moneyOf(mover, then), moneyOf(mover, now)];
    rows.push({
      kind,
      item_id: mover.id,
      product_id: mover.productId,
      title: `Title ${mover.productId}`,
      category_slug: mover.category,
      site_id: BigInt(mover.siteId),
      shop: `Shop ${mover.siteId}`,
      currency: mover.currency,
      price_before,
      price,
      change: price === null || price_before === null ? null : price - price_before,
      rank_before: was.place,
      shops_before: was.shops,
      rank_after: is.place,
      shops_after: is.shops,
      is_counted: verdict?.isCounted ?? null,
      moved_at: movedAt,
      attribution: mover.siteId % 2 ? null : `CC BY ${mover.siteId}`,
    });
  }
  return { rows, leftOut };
}

const byId = (one: Plain, other: Plain) => compare(one.item_id as bigint, other.item_id as bigint);
const ORDER = ['fall', 'rise', 'new', 'back', 'removed', 'gone'];

/** Compares all rows with those found one by one, and checks their order. */
function expectMovers(rows: Plain[], expected: Plain[]) {
  const plain = rows.map(({ change_pct, since, url, of_kind, ...rest }) => rest);
  for (const row of rows) expect(row.of_kind).toBe(BigInt(rows.filter(({ kind }) => kind === row.kind).length));
  expect([...plain].sort(byId)).toEqual([...expected].sort(byId));
  for (const { change_pct, change, price_before } of rows) {
    if (change === null) expect(change_pct).toBeNull();
    else expect(change_pct).toBeCloseTo((100 * Number(change)) / Number(price_before), 9);
  }
  for (const [k, row] of rows.slice(1).entries()) {
    const earlier = rows[k] as Plain;
    const steps = ORDER.indexOf(String(row.kind)) - ORDER.indexOf(String(earlier.kind));
    expect(steps).toBeGreaterThanOrEqual(0);
    if (steps > 0) continue;
    const [size, sizeBefore] = [row, earlier].map(({ change_pct }) => Math.abs(Number(change_pct))) as [number, number];
    expect(size).toBeLessThanOrEqual(sizeBefore);
    if (size === sizeBefore) expect(Number(row.moved_at)).toBeLessThanOrEqual(Number(earlier.moved_at));
  }
}

describe('movers', async () => {
  const { db, listings, verdicts } = await openMoverWorld(1, 72);
  afterAll(() => db.close());
  const all = { top: '9999' };

  it.each([1, 4, 12, 30])('are the listings whose price or listed state differs from %i days ago', async (days) => {
    const since = SEEN_AT - days * DAY;
    const { rows, leftOut } = findMovers(listings, verdicts, since);
    expectMovers(await ask(db, 'movers', { ...all, since: timeOf(since) }), rows);
    if (days < 30) return;
    expect(leftOut).toBeGreaterThan(0);
    expect(rows.some(({ is_counted }) => is_counted === false)).toBe(true);
    expect(rows.some(({ change, price }) => change !== null && (price as bigint) > 2n ** 53n)).toBe(true);
  });

  it('start one day before the newest time seen by default', async () => {
    const found = await ask(db, 'movers', all);
    expectMovers(found, findMovers(listings, verdicts, SEEN_AT - DAY).rows);
    expect(found[0]?.since).toBe(SEEN_AT - DAY);
    const [{ item_id: id } = {}] = await db.rows('SELECT min(item_id) AS item_id FROM items');
    await db.run(
      'UPDATE items SET read_at = last_seen_at, last_seen_at = last_seen_at + INTERVAL 400 DAYS WHERE item_id = $1',
      [id ?? null],
    );
    expect(await ask(db, 'movers', all), 'a time far ahead').toEqual(found);
    await db.run('UPDATE items SET last_seen_at = read_at WHERE item_id = $1', [id ?? null]);
  });

  it('count a change exactly at the start as already made', async () => {
    const since = listings.flatMap(({ segments }) => segments).find(({ from }) => from > 140 * DAY)?.from ?? 0;
    const micros = String((START + since) % 1_000_000).padStart(6, '0');
    const found = await ask(db, 'movers', { ...all, since: `${timeOf(since).slice(0, 19)}.${micros}Z` });
    expect(found[0]?.since).toBe(since);
    expectMovers(found, findMovers(listings, verdicts, since).rows);
  });

  it.each(RUN_DAYS.map((day, k) => ({ day, run: k + 1 })))(
    'since run $run are the changes of later runs',
    async ({ day, run }) => {
      const found = await ask(db, 'movers', { ...all, since_run: String(run) });
      expectMovers(found, findMovers(listings, verdicts, day * DAY - FEED_DELAY).rows);
    },
  );

  it('since run 0 are all current listings, as new ones', async () => {
    const found = await ask(db, 'movers', { ...all, since_run: '0' });
    const before = await ask(db, 'movers', { ...all, since: '1990-01-01' });
    expect(found.map(({ item_id }) => item_id)).toEqual(before.map(({ item_id }) => item_id));
    expect(found.length).toBeGreaterThan(10);
    expect([...new Set(found.map(({ kind }) => kind))].sort()).toEqual(['new']);
  });

  it('read a time without an offset in the time zone of all shops', async () => {
    const noon = SEEN_AT - 3 * DAY;
    const local = timeOf(noon + 5.75 * 3_600_000_000).slice(0, 16);
    const zone = { ...all, time_zone: 'Asia/Kathmandu' };
    expect(await ask(db, 'movers', { ...zone, since: local })).toEqual(
      await ask(db, 'movers', { ...all, since: timeOf(noon) }),
    );
    expect((await ask(db, 'movers', { ...zone, since: timeOf(noon) }))[0]?.since).toBe(noon);
    expect((await ask(db, 'movers', { ...zone, since: timeOf(noon).slice(0, 10) }))[0]?.since).toBe(
      noon - (noon % DAY) - 5.75 * 3_600_000_000,
    );
  });

  it('are the largest of each kind, can be filtered, and are counted by kind', async () => {
    const since = timeOf(130 * DAY);
    const rows = await ask(db, 'movers', { ...all, since });
    const kinds = groupBy(rows, ({ kind }) => String(kind));
    expect([...kinds.keys()]).toEqual(ORDER);
    expect(await ask(db, 'movers', { since, top: '2' })).toEqual([...kinds.values()].flatMap((one) => one.slice(0, 2)));
    for (const [name, column, value] of [
      ['currency', 'currency', 'PLN'],
      ['category', 'category_slug', 'tools'],
      ['site_id', 'site_id', '3'],
      ['kind', 'kind', 'rise'],
      ['product', 'product_id', String(rows[0]?.product_id)],
    ] as const) {
      const part = rows.filter((row) => String(row[column]) === value);
      expect(part.length).toBeGreaterThan(name === 'product' ? 0 : 3);
      const inPart = ({ kind }: Plain) => BigInt(part.filter((other) => other.kind === kind).length);
      expect(await ask(db, 'movers', { ...all, since, [name]: value })).toEqual(
        part.map((row) => ({ ...row, of_kind: inPart(row) })),
      );
    }
  });

  it('refuse an unknown run and two starting points', async () => {
    await expect(ask(db, 'movers', { since_run: '77' })).rejects.toThrow(
      'since_run 77 does not exist in this lake; the newest run is 5',
    );
    await expect(ask(db, 'movers', { since_run: '2', since: '2026-05-01' })).rejects.toThrow(
      'give since or since_run, not both',
    );
    await expect(ask(db, 'movers', { since: 'yesterday' })).rejects.toThrow('yesterday');
  });
});
