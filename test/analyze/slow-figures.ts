import { DuckDBDecimalValue, type DuckDBValue } from '@duckdb/node-api';
import type { Offer, World } from './offer-world.js';

/** Figures of one product in one currency, money in units of 0.0001: the obvious way, with bigints and fractions. */
export interface SlowSpread {
  offers: number;
  shops: number;
  min: bigint;
  p25: bigint;
  median: bigint;
  p75: bigint;
  max: bigint;
  mean: bigint;
  stddev: number;
  cheapest: bigint;
  dearest: bigint;
  /** Null if fewer than two shops have a price that counts. */
  trusted: { min: bigint; median: bigint; max: bigint; cheapest: bigint; dearest: bigint } | null;
  trustedShops: number;
  leftOut: number;
  grade: string;
  attribution: string[];
}

export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return sorted.length === 0 ? null : ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2;
}

export function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}

type Priced = Offer & { units: bigint; productId: string; currency: string };

/** Listed offers with product, price and currency. */
export function listPriced(world: World): Priced[] {
  return world.offers.filter(
    (o): o is Priced => o.listed && o.productId !== null && o.units !== null && o.currency !== null,
  );
}

/** The spreads of a world by prices alone, as those of past days are. */
export function computeSpreads(world: World): Map<string, SlowSpread> {
  const spreads = new Map<string, SlowSpread>();
  const priced = listPriced(world).filter((o) => o.units > 0n);
  for (const [key, offers] of groupBy(priced, (o) => `${o.productId}|${o.currency}`)) {
    if (new Set(offers.map((o) => o.siteId)).size >= 2) spreads.set(key, computeSpread(offers, world));
  }
  return spreads;
}

function computeSpread(offers: Priced[], world: World): SlowSpread {
  const prices = sortAscending(offers.map((o) => o.units));
  const n = BigInt(prices.length);
  const min = prices[0] ?? 0n;
  const max = prices.at(-1) ?? 0n;
  const total = prices.reduce((a, b) => a + b, 0n);
  const median = roundHalfUp(interpolate(prices, 2n), 4n);
  const siteAt = (price: bigint) =>
    sortAscending(offers.filter((o) => o.units === price).map((o) => o.siteId))[0] ?? 0n;
  const texts = offers.map((o) => world.sites.get(o.siteId)).filter((text) => typeof text === 'string');
  return {
    offers: prices.length,
    shops: new Set(offers.map((o) => o.siteId)).size,
    min,
    p25: roundHalfUp(interpolate(prices, 1n), 4n),
    median,
    p75: roundHalfUp(interpolate(prices, 3n), 4n),
    max,
    mean: roundHalfUp(total, n),
    stddev: computeDeviation(prices),
    cheapest: siteAt(min),
    dearest: siteAt(max),
    ...describeTrusted(offers),
    attribution: [...new Set(texts)].sort(),
  };
}

/** Four times the value at (n - 1) * k / 4 between the sorted prices. */
function interpolate(prices: bigint[], k: bigint): bigint {
  const position = BigInt(prices.length - 1) * k;
  const low = prices[Number(position / 4n)] ?? 0n;
  const high = prices[Number(position / 4n) + 1] ?? low;
  return 4n * low + (high - low) * (position % 4n);
}

/** The lowest price of each shop counts, unless it is far from the median of these. */
function describeTrusted(offers: readonly Priced[]) {
  const lowest = [...groupBy(offers, (one) => String(one.siteId)).values()].map((own) =>
    own.reduce((best, one) => (one.units < best.units ? one : best)),
  );
  const isFar = findFar(lowest.map((one) => one.units));
  const trusted = lowest.filter((one) => !isFar(one.units));
  const prices = sortAscending(trusted.map((one) => one.units));
  const isOutlierLeft = offers.some((one) => isFar(one.units));
  const siteAt = (price: bigint) =>
    sortAscending(trusted.filter((one) => one.units === price).map((one) => one.siteId))[0] ?? 0n;
  const [min = 0n] = prices;
  const max = prices.at(-1) ?? 0n;
  const median = prices.length < 2 ? 0n : roundHalfUp(interpolate(prices, 2n), 4n);
  return {
    trusted: prices.length < 2 ? null : { min, median, max, cheapest: siteAt(min), dearest: siteAt(max) },
    trustedShops: prices.length,
    leftOut: offers.length - prices.length,
    grade: gradePrices(prices, { shops: lowest.length, isSound: !isOutlierLeft }),
  };
}

/** Among at least three prices, finds those below half or above twice their median. */
export function findFar(prices: bigint[]): (price: bigint) => boolean {
  const sorted = sortAscending(prices);
  const twice = (sorted[(sorted.length - 1) >> 1] ?? 0n) + (sorted[sorted.length >> 1] ?? 0n);
  return (price) => prices.length >= 3 && (price > twice || 4n * price < twice);
}

/** The grade of prices that count, in order. `isSound` if nothing else speaks against an A. */
export function gradePrices(prices: bigint[], { shops, isSound }: { shops: number; isSound: boolean }): string {
  const n = prices.length;
  const isApart = (low: number) => 10n * (prices[low + 1] as bigint) > 16n * (prices[low] as bigint);
  if (n < 2 || 2 * n < shops || isApart(0) || isApart(n - 2)) return 'C';
  const hasGroups = prices.slice(1).some((_price, index) => isApart(index));
  return n >= 4 && isSound && !hasGroups ? 'A' : 'B';
}

function computeDeviation(prices: bigint[]): number {
  const n = BigInt(prices.length);
  const total = prices.reduce((a, b) => a + b, 0n);
  const squares = prices.reduce((sum, price) => sum + (n * price - total) ** 2n, 0n);
  return Math.sqrt(Number(squares) / Number(n * n) / Number(n - 1n)) / 10_000;
}

function roundHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

export function sortAscending(values: bigint[]): bigint[] {
  return [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** The oldest listed offer's value that is not null; a missing first sight is youngest, then the lower id is older. */
export function findOldest(offers: Offer[], value: (offer: Offer) => string | null): string | null {
  const oldestFirst = [...offers].sort((a, b) => {
    const age = (a.firstSeen ?? Infinity) - (b.firstSeen ?? Infinity);
    return age || (a.itemId < b.itemId ? -1 : 1);
  });
  for (const offer of oldestFirst) if (value(offer) !== null) return value(offer);
  return null;
}

export const units = (value: DuckDBValue | undefined) => (value instanceof DuckDBDecimalValue ? value.value : value);

/** The same figures of a row of price_spread or price_spread_daily, but for its deviation and its credits. */
export const readSpread = (row: Record<string, DuckDBValue>) => ({
  offers: Number(row.offers),
  shops: Number(row.shops),
  min: units(row.min),
  p25: units(row.p25),
  median: units(row.median),
  p75: units(row.p75),
  max: units(row.max),
  mean: units(row.mean),
  cheapest: row.cheapest_site_id,
  dearest: row.dearest_site_id,
  ...readTrusted(row),
});

/** The trusted figures of such a row. */
export const readTrusted = (row: Record<string, DuckDBValue>) => ({
  trusted:
    row.trusted_min === null
      ? null
      : {
          min: units(row.trusted_min),
          median: units(row.trusted_median),
          max: units(row.trusted_max),
          cheapest: row.trusted_cheapest_site_id,
          dearest: row.trusted_dearest_site_id,
        },
  trustedShops: Number(row.trusted_shops),
  leftOut: Number(row.left_out),
  grade: row.grade,
});
