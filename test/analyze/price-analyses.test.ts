import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import { afterAll, describe, expect, test } from 'vitest';
import { createSpellsView, setVariables } from '../../src/analyze/analysis.js';
import { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { DAY, formatDay, START } from './history-world.js';
import {
  isOffScale,
  isSuspect,
  LAST_CLOSED_DAY,
  type Listing,
  loadPriceWorld,
  makePriceWorld,
  priceOn,
  SEEN_AT,
  type Segment,
  trustPrices,
} from './price-world.js';
import { groupBy, median } from './slow-figures.js';

const isCounted = ({ itemId }: Listing) => !isOffScale(itemId);

const db = await Database.open();
const world = await loadPriceWorld(db, makePriceWorld(2026));
const trusted = world.map(trustPrices);
await db.run(`CREATE TABLE offers AS
  SELECT item_id, product_id, currency, site_id, price, item_id % 8 <> 3 AS is_counted,
    CASE WHEN item_id % 8 = 3 THEN ['scale'] ELSE [] END AS findings
  FROM items WHERE is_listed AND price IS NOT NULL`);
await db.run("CREATE TABLE price_spread AS SELECT DISTINCT product_id, currency, 'B' AS grade FROM offers");
await createSpellsView(db);
await db.run('CREATE TABLE spells AS FROM price_spells');
await db.run('DROP VIEW price_spells');
await db.run('ALTER TABLE spells RENAME TO price_spells');
afterAll(() => db.close());

type Row = Record<string, DuckDBValue>;

async function ask(name: string, variables: Record<string, string> = {}): Promise<Row[]> {
  await setVariables(db, variables);
  const rows = await db.rows(readAnalysis(name));
  await setVariables(db, Object.fromEntries(Object.keys(variables).map((key) => [key, null])));
  return rows;
}

/** Money in units of 0.0001, anything else as a number; null stays. */
function num(value: DuckDBValue | undefined): number | null {
  if (value === null || value === undefined) return null;
  return value instanceof DuckDBDecimalValue && value.scale === 4
    ? Number(value.value)
    : Number(value instanceof DuckDBDecimalValue ? value.toDouble() : value);
}

/** The same numbers, doubles within 1e-9 of their size. */
function expectRow(row: Row, what: string, expected: Record<string, number | string | boolean | null>) {
  for (const [name, value] of Object.entries(expected)) {
    if (typeof value !== 'number') expect(row[name], `${what}: ${name}`).toEqual(value);
    else
      expect(
        Math.abs((num(row[name]) ?? Number.NaN) - value),
        `${what}: ${name} is ${row[name]}, not ${value}`,
      ).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(value)));
  }
}

const mean = (values: number[]) => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length);
const isNumber = (value: number | null): value is number => value !== null;
const current = (listing: Listing) => listing.segments.find(({ to }) => to === Infinity)?.units ?? null;
const dayOf = (at: number) => Math.floor(at / DAY);
const weekday = (day: number) => Math.floor((START / DAY + day - Date.UTC(1970, 0, 5) / 86_400_000) / 7);

/** Lowest price of each shop that sells the product. */
function shopPrices(listings: readonly Listing[], priceOf: (listing: Listing) => number | null): Map<number, number> {
  const prices = new Map<number, number>();
  for (const listing of listings) {
    const price = priceOf(listing);
    if (price !== null) prices.set(listing.siteId, Math.min(price, prices.get(listing.siteId) ?? Infinity));
  }
  return prices;
}
const byProduct = (listings: readonly Listing[]) =>
  groupBy(listings, ({ productId, currency }) => `${productId}|${currency}`);

test('dispersion equals a slow computation', async () => {
  const rows = await ask('dispersion', { top: '999' });
  let found = 0;
  for (const [key, listings] of byProduct(world.filter(isCounted))) {
    const prices = [...shopPrices(listings, current).values()].sort((a, b) => a - b);
    const row = rows.find(({ product_id, currency }) => `${product_id}|${currency}` === key);
    if (prices.length < 2) expect(row).toBeUndefined();
    if (prices.length < 2) continue;
    found++;
    const [low = 0, second = 0] = prices;
    const average = mean(prices) ?? 0;
    const deviation = Math.sqrt(prices.reduce((sum, price) => sum + (price - average) ** 2, 0) / (prices.length - 1));
    expectRow(row ?? {}, key, {
      shops: prices.length,
      lowest: low,
      second_lowest: second,
      gap: second - low,
      highest: Math.max(...prices),
      mean: average / 10_000,
      cv_pct: (100 * deviation) / average,
      range_pct: (100 * (Math.max(...prices) - low)) / low,
      gap_pct: (100 * (second - low)) / low,
      value_of_information: (average - low) / 10_000,
      voi_pct: (100 * (average - low)) / average,
      lowest_share_pct: (100 * prices.filter((price) => price === low).length) / prices.length,
    });
  }
  expect(rows).toHaveLength(found);
  expect(found).toBeGreaterThan(5);
});

test('persistence equals a slow computation', async () => {
  const rows = await ask('persistence', { lags: '1,7,40', days: '3', step: '20', min_shops: '2' });
  expect(rows.map(({ lag }) => lag)).toEqual([1, 7, 40]);
  for (const [k, lag] of [1, 7, 40].entries()) {
    const correlations: (number | null)[] = [];
    const lowest: { stays: boolean; isListed: boolean }[] = [];
    for (let n = 0; n < 3; n++) {
      const first = LAST_CLOSED_DAY - 40 - 20 * n;
      for (const listings of byProduct(trusted).values()) {
        const before = shopPrices(listings, (listing) => priceOn(listing, first));
        const later = shopPrices(listings, (listing) => priceOn(listing, first + lag));
        const both = [...before.keys()].filter((site) => later.has(site));
        if (both.length >= 2)
          correlations.push(
            spearman(
              both.map((site) => before.get(site) ?? 0),
              both.map((site) => later.get(site) ?? 0),
            ),
          );
        if (before.size < 2) continue;
        for (const [site, price] of before) {
          if (price !== Math.min(...before.values())) continue;
          lowest.push({ isListed: later.has(site), stays: later.get(site) === Math.min(...later.values()) });
        }
      }
    }
    const told = correlations.filter(isNumber);
    const stays = lowest.filter((one) => one.isListed && one.stays).length;
    expectRow(rows[k] ?? {}, `lag ${lag}`, {
      pairs: told.length,
      tied: correlations.length - told.length,
      rank_correlation: mean(told),
      lowest: lowest.length,
      still_lowest: stays,
      stay_pct: (100 * stays) / lowest.length,
      stay_listed_pct: (100 * stays) / lowest.filter(({ isListed }) => isListed).length,
    });
  }
});

function spearman(one: number[], two: number[]): number | null {
  const rank = (values: number[]) =>
    values.map(
      (value) =>
        values.filter((other) => other < value).length + (values.filter((other) => other === value).length + 1) / 2,
    );
  const [a, b] = [rank(one), rank(two)];
  const [meanA, meanB] = [mean(a) ?? 0, mean(b) ?? 0];
  const sum = (of: (k: number) => number) => a.reduce((total, _, k) => total + of(k), 0);
  const scale = Math.sqrt(sum((k) => ((a[k] as number) - meanA) ** 2) * sum((k) => ((b[k] as number) - meanB) ** 2));
  return scale === 0 ? null : sum((k) => ((a[k] as number) - meanA) * ((b[k] as number) - meanB)) / scale;
}

describe('dynamics', () => {
  test.each(['category', 'shop'])('by %s equal a slow computation', async (by) => {
    const [since, until] = [60, LAST_CLOSED_DAY];
    const rows = await ask('dynamics', { by, since: formatDay(since), until: formatDay(until) });
    const keyOf = ({ category, siteId, currency }: Listing) => `${by === 'category' ? category : siteId}|${currency}`;
    const weeks = changingWeeks(since, until);
    for (const [key, listings] of groupBy(trusted, keyOf)) {
      const row =
        rows.find((one) => `${one[by === 'category' ? 'category_slug' : 'site_id']}|${one.currency}` === key) ?? {};
      const inSpan = ({ from, to }: Segment) => dayOf(from) <= until && (to === Infinity || dayOf(to) >= since);
      const parts = listings.flatMap(({ segments }) =>
        segments.map((segment, k) => ({ segment, before: segments[k - 1] })).filter(({ segment }) => inSpan(segment)),
      );
      const moved = parts.filter(({ segment, before }) => before?.to === segment.from && dayOf(segment.from) >= since);
      const logs = moved.map(({ segment, before }) => 100 * Math.log(segment.units / (before?.units ?? 0)));
      const days = parts.map(({ segment: { from, to } }) =>
        Math.max(0, Math.min(to === Infinity ? until + 1 : dayOf(to), until + 1) - Math.max(dayOf(from), since)),
      );
      const total = days.reduce((a, b) => a + b, 0);
      const isComplete = (segment: Segment) =>
        segment.isTold &&
        segment.to !== Infinity &&
        dayOf(segment.to) <= until &&
        // Whatever follows on the spot, a suspect price as well.
        world.some(({ segments }) =>
          segments.some(({ from }, k) => from === segment.to && segments[k - 1] === segment),
        );
      const complete = parts
        .filter(({ segment }) => isComplete(segment))
        .map(({ segment: { from, to } }) => (to - from) / DAY);
      const shared = weeks.filter(
        (one) =>
          one.key === key || `${one.category}|${one.currency}` === key || `${one.siteId}|${one.currency}` === key,
      );
      expectRow(row, key, {
        listings: listings.filter(({ segments }) => segments.some(inSpan)).length,
        listing_days: total,
        changes: moved.length,
        frequency_pct: (100 * moved.length) / total,
        implied_days: -1 / Math.log(1 - moved.length / total),
        increases: logs.filter((log) => log > 0).length,
        median_increase: median(logs.filter((log) => log > 0)),
        mean_increase: mean(logs.filter((log) => log > 0)),
        decreases: logs.filter((log) => log < 0).length,
        median_decrease: median(logs.filter((log) => log < 0)),
        mean_decrease: mean(logs.filter((log) => log < 0)),
        complete_spells: complete.length,
        median_days: median(complete),
        mean_days: mean(complete),
        began_unknown: parts.filter(({ segment }) => !segment.isTold).length,
        cut_off: parts.filter(({ segment }) => segment.isTold && !isComplete(segment)).length,
        shared_changes: shared.length,
        synchronisation_pct: mean(shared.map(({ share }) => share)),
      });
    }
  });

  /** Each shop's changes of a product in a week, with the share of its other shops that changed it as well. */
  function changingWeeks(since: number, until: number) {
    return [...byProduct(trusted)].flatMap(([, listings]) => {
      const changes = new Map<
        string,
        { siteId: number; week: number; category: string; currency: string; key: string }
      >();
      for (const { siteId, segments, category, currency } of listings) {
        for (const [k, { from }] of segments.entries()) {
          const week = weekday(dayOf(from));
          if (segments[k - 1]?.to === from && dayOf(from) >= since && dayOf(from) <= until)
            changes.set(`${siteId}|${week}`, { siteId, week, category, currency, key: '' });
        }
      }
      return [...changes.values()].flatMap((change) => {
        const movers = [...changes.values()].filter(({ week }) => week === change.week).length;
        const sells = ({ segments }: Listing) =>
          segments.some(
            ({ from, to }) =>
              dayOf(from) <= until &&
              (to === Infinity || dayOf(to) >= since) &&
              weekday(dayOf(from)) <= change.week &&
              (to === Infinity || weekday(dayOf(to)) >= change.week),
          );
        const sellers = new Set(listings.filter(sells).map(({ siteId }) => siteId)).size;
        return sellers > 1 ? [{ ...change, share: (100 * (movers - 1)) / (sellers - 1) }] : [];
      });
    });
  }
});

test('sales equals a slow computation', async () => {
  const [since, until, limit] = [40, LAST_CLOSED_DAY, 20];
  const rows = await ask('sales', {
    by: 'shop',
    since: formatDay(since),
    until: formatDay(until),
    return_days: String(limit),
  });
  const end = (until + 1) * DAY;
  for (const [key, listings] of groupBy(trusted, ({ siteId, currency }) => `${siteId}|${currency}`)) {
    const sales: { depth: number; days: number; isExact: boolean }[] = [];
    let [cuts, lasting, undecided, saleTime, listedTime] = [0, 0, 0, 0, 0];
    for (const { segments } of listings) {
      let saleEnds = -Infinity;
      for (const [k, cut] of segments.entries()) {
        listedTime += Math.max(0, Math.min(cut.to, end) - Math.max(cut.from, since * DAY));
        const before = segments[k - 1];
        if (before?.to !== cut.from || cut.units >= before.units || cut.from < saleEnds || cut.from >= end) continue;
        const chain = [cut];
        for (
          let next = segments[k + 1];
          next !== undefined && chain.at(-1)?.to === next.from;
          next = segments[k + 1 + chain.length - 1]
        )
          chain.push(next);
        const back = chain.find(
          ({ units, from }) => units >= before.units && from <= cut.from + limit * DAY && from < end,
        );
        if (back !== undefined) saleEnds = back.from;
        if (back !== undefined) saleTime += Math.max(0, back.from - Math.max(cut.from, since * DAY));
        if (cut.from < since * DAY) continue;
        cuts++;
        if (back !== undefined) {
          const low = Math.min(...chain.filter(({ from }) => from < back.from).map(({ units }) => units));
          sales.push({
            depth: (100 * (before.units - low)) / before.units,
            days: (back.from - cut.from) / DAY,
            isExact: back.units === before.units,
          });
        } else if (Math.min((chain.at(-1) as Segment).to, end) < cut.from + limit * DAY) undecided++;
        else lasting++;
      }
    }
    const row = rows.find(({ site_id, currency }) => `${site_id}|${currency}` === key) ?? {};
    expectRow(row, key, {
      cuts,
      sales: sales.length,
      lasting,
      undecided,
      sales_pct: sales.length + lasting === 0 ? null : (100 * sales.length) / (sales.length + lasting),
      returned_pct: sales.length === 0 ? null : (100 * sales.filter(({ isExact }) => isExact).length) / sales.length,
      median_depth_pct: median(sales.map(({ depth }) => depth)),
      mean_depth_pct: mean(sales.map(({ depth }) => depth)),
      median_days: median(sales.map(({ days }) => days)),
      mean_days: mean(sales.map(({ days }) => days)),
      on_sale_pct: (100 * saleTime) / listedTime,
    });
  }
  expect(rows.reduce((sum, { sales }) => sum + (num(sales) ?? 0), 0)).toBeGreaterThan(10);
});

test('prior_price equals a slow computation', async () => {
  const rows = await ask('prior_price', { since: formatDay(5), until: formatDay(LAST_CLOSED_DAY), top: '99999' });
  let cuts = 0;
  for (const listing of world) {
    const { itemId, segments } = listing;
    const isWrong = (segment: Segment) => isSuspect(listing, segment);
    for (const [k, cut] of segments.entries()) {
      const before = segments[k - 1];
      if (
        before?.to !== cut.from ||
        isWrong(before) ||
        isWrong(cut) ||
        cut.units >= before.units ||
        dayOf(cut.from) < 5 ||
        dayOf(cut.from) > LAST_CLOSED_DAY
      )
        continue;
      cuts++;
      const start = cut.from - 30 * DAY;
      const inside = segments.filter(({ from, to }) => from < cut.from && to > start);
      const overlap = ({ from, to }: Segment) => (Math.min(to, cut.from) - Math.max(from, start)) / DAY;
      const known = inside.filter((one) => one.isTold && !isWrong(one)).reduce((sum, one) => sum + overlap(one), 0);
      const unsure = inside.filter((one) => !one.isTold || isWrong(one)).reduce((sum, one) => sum + overlap(one), 0);
      const [first] = segments;
      const older = first?.isTold ? 0 : Math.max(0, (first?.from ?? 0) - start) / DAY;
      const lowest = Math.min(...inside.filter((one) => !isWrong(one)).map(({ units }) => units));
      const earlier = segments.findLast(
        (one, j) =>
          j < k &&
          one.from >= start &&
          segments[j - 1]?.to === one.from &&
          one.units < (segments[j - 1]?.units ?? 0) &&
          !isWrong(one) &&
          !isWrong(segments[j - 1] as Segment),
      );
      const row =
        rows.find(
          (one) =>
            Number(one.item_id) === itemId &&
            Number(BigInt((one.cut_at as unknown as { micros: bigint }).micros)) === START + cut.from,
        ) ?? {};
      expectRow(row, `${itemId} at ${cut.from / DAY}`, {
        price_before: before.units,
        price: cut.units,
        lowest_before: lowest,
        cut_pct: (100 * (before.units - cut.units)) / before.units,
        cut_from_lowest_pct: (100 * (lowest - cut.units)) / lowest,
        days_known: known,
        days_unknown: unsure + older,
        days_unlisted: 30 - known - unsure - older,
      });
      expect(row.earlier_cut_at === null).toBe(earlier === undefined);
    }
  }
  expect(rows).toHaveLength(cuts);
  expect(cuts).toBeGreaterThan(50);
  expect(rows.some((row) => (num(row.days_unknown) ?? 0) > 0)).toBe(true);
  expect(rows.some((row) => (num(row.days_unlisted) ?? 0) > 0)).toBe(true);
});

test('lows_highs equals a slow computation', async () => {
  const rows = await ask('lows_highs', { top: '99999' });
  const listed = trusted.filter((listing) => current(listing) !== null && isCounted(listing));
  expect(rows).toHaveLength(5 * listed.length);
  for (const listing of listed) {
    const price = current(listing) ?? 0;
    for (const days of [7, 30, 90, 365, null]) {
      const since = days === null ? -Infinity : SEEN_AT - days * DAY;
      const parts = listing.segments
        .filter(({ to }) => to > since)
        .map(({ from, to, units }) => ({ units, time: Math.min(to, SEEN_AT) - Math.max(from, since) }));
      const time = parts.reduce((sum, part) => sum + part.time, 0);
      const prices = [...new Set(parts.map(({ units }) => units))];
      const row = rows.find((one) => Number(one.item_id) === listing.itemId && one.days === days) ?? {};
      expectRow(row, `${listing.itemId} ${days}`, {
        price,
        lowest: Math.min(...prices),
        highest: Math.max(...prices),
        prices: prices.length,
        mean: parts.reduce((sum, part) => sum + part.units * part.time, 0) / time / 10_000,
        days_known: time / DAY,
        rank: 1 + prices.filter((units) => units < price).length,
        lower_pct: (100 * parts.filter(({ units }) => units < price).reduce((sum, part) => sum + part.time, 0)) / time,
        is_whole: listing.segments.filter(({ to }) => to > since).every(({ isTold }) => isTold),
      });
    }
  }
});

test('shop_overlap equals a slow computation', async () => {
  const all = await ask('shop_overlap', { min_products: '1', top: '999' });
  // A shop with others before and after it.
  const site = String(
    all.find(({ second_site_id }) => all.some((row) => row.first_site_id === second_site_id))?.second_site_id,
  );
  const ofSite = await ask('shop_overlap', { min_products: '1', top: '999', site_id: site });
  expect(new Set(ofSite.map((row) => String(row.first_site_id)))).toEqual(new Set([site]));
  const isOfSite = (row: (typeof all)[number]) => [row.first_site_id, row.second_site_id].map(String).includes(site);
  expect(ofSite).toHaveLength(all.filter(isOfSite).length);
  const rows = [...all, ...ofSite];
  const ranges = (siteId: number, currency: string) => {
    const own = groupBy(
      world.filter(
        (one) => one.siteId === siteId && one.currency === currency && current(one) !== null && isCounted(one),
      ),
      ({ productId }) => productId,
    );
    return new Map(
      [...own].map(([product, listings]) => [product, Math.min(...listings.map((listing) => current(listing) ?? 0))]),
    );
  };
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows) {
    const one = ranges(Number(row.first_site_id), String(row.currency));
    const two = ranges(Number(row.second_site_id), String(row.currency));
    const both = [...one.keys()].filter((product) => two.has(product));
    const compare = both.map((product) => (one.get(product) ?? 0) - (two.get(product) ?? 0));
    expectRow(row, `${row.first_site_id} and ${row.second_site_id}`, {
      first_products: one.size,
      second_products: two.size,
      products: both.length,
      overlap_pct: (100 * both.length) / new Set([...one.keys(), ...two.keys()]).size,
      in_first_pct: (100 * both.length) / one.size,
      in_second_pct: (100 * both.length) / two.size,
      cheaper: compare.filter((gap) => gap < 0).length,
      same: compare.filter((gap) => gap === 0).length,
      more_expensive: compare.filter((gap) => gap > 0).length,
      price_level:
        100 *
        both.reduce((product, key) => product * ((one.get(key) ?? 0) / (two.get(key) ?? 1)) ** (1 / both.length), 1),
    });
  }
});

/** Stretches of a listing without a gap. */
function stretchesOf({ segments }: Listing): { from: number; to: number }[] {
  const stretches: { from: number; to: number }[] = [];
  for (const { from, to } of segments) {
    const last = stretches.at(-1);
    if (last?.to === from) last.to = to;
    else stretches.push({ from, to });
  }
  return stretches;
}

test('assortment equals a slow computation', async () => {
  const rows = await ask('assortment', { weeks: '10' });
  const lastWeek = weekday(dayOf(SEEN_AT));
  const monday = (week: number) => week * 7 - (START / DAY - Date.UTC(1970, 0, 5) / 86_400_000);
  for (const [site, listings] of groupBy(world, ({ siteId }) => String(siteId))) {
    for (let week = lastWeek - 9; week <= lastWeek; week++) {
      const listed = (of: number) =>
        listings.filter((listing) => priceOn(listing, Math.min(monday(of) + 6, dayOf(SEEN_AT))) !== null).length;
      const all = listings.map(stretchesOf);
      const entered = all
        .flatMap((stretches) => stretches.map(({ from }, k) => ({ week: weekday(dayOf(from)), isNew: k === 0 })))
        .filter((one) => one.week === week);
      const removed = all.flat().filter(({ to }) => to !== Infinity && weekday(dayOf(to)) === week).length;
      const row =
        rows.find((one) => String(one.site_id) === site && String(one.week) === formatDay(monday(week))) ?? {};
      expectRow(row, `${site} week ${week}`, {
        new: entered.filter(({ isNew }) => isNew).length,
        relisted: entered.filter(({ isNew }) => !isNew).length,
        removed,
        listed: listed(week),
        entry_pct: (100 * entered.length) / listed(week - 1),
        exit_pct: (100 * removed) / listed(week - 1),
      });
    }
  }
});

test('listing_lifetimes equals a slow computation', async () => {
  const rows = await ask('listing_lifetimes', { gap_days: '5' });
  const firstKnown = Math.min(
    ...(await db.rows(`SELECT epoch_us(min(observed_at)) - ${START} AS us FROM history`)).map(({ us }) =>
      dayOf(Number(us)),
    ),
  );
  const shopDay = new Map(
    [...groupBy(world, ({ siteId }) => String(siteId))].map(([site, listings]) => [
      site,
      Math.min(...listings.map(({ segments }) => dayOf(segments[0]?.from ?? 0))),
    ]),
  );
  const lives = world.flatMap((listing) => {
    const [first, ...later] = stretchesOf(listing).map(({ from, to }) => ({
      from: dayOf(from),
      to: to === Infinity ? Infinity : dayOf(to),
    }));
    if (first === undefined || first.from <= (shopDay.get(String(listing.siteId)) ?? 0)) return [];
    for (const next of later) {
      if (next.from - first.to > 5) break;
      first.to = next.to;
    }
    return [
      {
        entry: Math.max(0, firstKnown - first.from),
        exit: Math.min(first.to, dayOf(SEEN_AT)) - first.from,
        hasEnded: first.to !== Infinity,
      },
    ];
  });
  let [survival, variance] = [1, 0];
  const ages = [...new Set(lives.filter(({ hasEnded }) => hasEnded).map(({ exit }) => exit))].sort((a, b) => a - b);
  expect(rows.map(({ age_days }) => Number(age_days))).toEqual(ages);
  for (const [k, age] of ages.entries()) {
    const atRisk = lives.filter(({ entry, exit }) => (entry < age || entry === 0) && exit >= age).length;
    const ended = lives.filter(({ exit, hasEnded }) => hasEnded && exit === age).length;
    survival *= 1 - ended / atRisk;
    variance += ended / (atRisk * (atRisk - ended));
    expectRow(rows[k] ?? {}, `age ${age}`, {
      at_risk: atRisk,
      ended,
      survival,
      ...(atRisk > ended ? { std_error: survival * Math.sqrt(variance) } : {}),
    });
  }
});

test('law_of_one_price equals a slow computation', async () => {
  const rates = Array.from({ length: 160 }, (_, day) => ({ day, rate: 4.2 + Math.sin(day / 9) / 4 }));
  await db.run(
    `CREATE OR REPLACE TABLE rates AS SELECT DATE '2026-01-01' + (v->>'day')::INTEGER AS date, 'PLN' AS currency,
       round((v->>'rate')::DOUBLE, 6)::DECIMAL(28, 10) AS rate FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [JSON.stringify(rates)],
  );
  const [row = {}] = await ask('law_of_one_price', { base: 'EUR', weeks: '15', min_products: '2' });
  const lastWeek = weekday(dayOf(SEEN_AT));
  const sunday = (week: number) => week * 7 + 6 - (START / DAY - Date.UTC(1970, 0, 5) / 86_400_000);
  const gaps = new Map<string, { gap: number; local: number; rate: number; product: string; week: number }>();
  for (let week = lastWeek - 15; week < lastWeek; week++) {
    const rate = Math.log(Math.round((rates[sunday(week)]?.rate ?? 0) * 1e6) / 1e6);
    for (const [product, listings] of groupBy(trusted, ({ productId }) => productId)) {
      const lowest = (currency: string) =>
        Math.min(
          ...listings.filter((one) => one.currency === currency).map((one) => priceOn(one, sunday(week)) ?? Infinity),
        );
      const [eur, pln] = [lowest('EUR'), lowest('PLN')];
      if (eur === Infinity || pln === Infinity) continue;
      gaps.set(`${product}|${week}`, {
        gap: Math.log(eur) - Math.log(pln) + rate,
        local: Math.log(eur) - Math.log(pln),
        rate: -rate,
        product,
        week,
      });
    }
  }
  const all = [...gaps.values()];
  const pairs = (lag: number) =>
    all.flatMap((now) => {
      const before = gaps.get(`${now.product}|${now.week - lag}`);
      return before === undefined ? [] : [{ now, before }];
    });
  const weekly = [...groupBy(pairs(1), ({ now }) => now.product).values()].flatMap((own) => {
    const [a, b] = [mean(own.map(({ now }) => now.gap)) ?? 0, mean(own.map(({ before }) => before.gap)) ?? 0];
    return own.map(({ now, before }) => [now.gap - a, before.gap - b] as const);
  });
  const persistence = weekly.reduce((sum, [y, x]) => sum + x * y, 0) / weekly.reduce((sum, [, x]) => sum + x * x, 0);
  // Of the windows that follow one another back from the last week, each counts once.
  const separate = pairs(4).filter(({ now }) => (lastWeek - 1 - now.week) % 4 === 0);
  const moves = [...groupBy(separate, ({ now }) => String(now.week)).values()].map(
    (own) =>
      [
        (own[0]?.now.rate ?? 0) - (own[0]?.before.rate ?? 0),
        mean(own.map(({ now, before }) => now.local - before.local)) ?? 0,
      ] as const,
  );
  const [mx, my] = [mean(moves.map(([x]) => x)) ?? 0, mean(moves.map(([, y]) => y)) ?? 0];
  const sxx = moves.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  const slope = moves.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / sxx;
  const rest = moves.reduce((sum, [x, y]) => sum + (y - my - slope * (x - mx)) ** 2, 0);
  expect(all.length).toBeGreaterThan(50);
  expectRow(row, 'EUR and PLN', {
    first_currency: 'EUR',
    second_currency: 'PLN',
    products: new Set(all.map(({ product }) => product)).size,
    gaps: all.length,
    median_gap: 100 * (median(all.map(({ gap }) => gap)) ?? 0),
    mean_abs_gap: 100 * (mean(all.map(({ gap }) => Math.abs(gap))) ?? 0),
    law_pct: (100 * all.filter(({ gap }) => Math.abs(gap) <= 0.01).length) / all.length,
    steps: weekly.length,
    persistence,
    half_life_weeks: Math.log(0.5) / Math.log(persistence),
    moves: separate.length,
    pass_windows: moves.length,
    pass_through: slope,
    pass_through_error: Math.sqrt(rest / (moves.length - 2) / sxx),
  });
});
