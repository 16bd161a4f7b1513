import { ITEMS_A_PAGE } from '../../api/contract.js';
import type { EntryOf } from '../../journal/run-entry.js';
import { countPages } from '../../plan/count-pages.js';

/** The number of a website's items, by the service and in the lake. */
export interface SiteCount {
  site: bigint;
  name: string;
  /** Listed items by `/facets`. */
  service: bigint;
  lake: bigint;
  removed: bigint;
  /** Items of the lake that this run has not read. */
  unread: bigint;
}

/**
 * A reading of pages of `/items` with a status, of one website, or of all for null. With `removals`, it stops after
 * that many, newest first; with null, it reads all pages.
 */
export type Reading = EntryOf<'listing.plan'>['readings'][number];

export interface ReadingFacts {
  sites: readonly SiteCount[];
  /** True if the service shows removals by `changedSince`, so that equal counts hide nothing. */
  returnsRemovals: boolean;
  /** True if counts by currency or category differ, although the counts by website agree. */
  isSuspect: boolean;
  /** True if an earlier reading of this run did not make the counts agree. */
  isSecond: boolean;
  /** The calls that the run may still make; null is unlimited. */
  callsLeft: bigint | null;
}

interface ReadingPlan {
  readings: Reading[];
  /** The expected number of calls. */
  calls: bigint;
  /** The allowed number of calls; null is unlimited. */
  limit: bigint | null;
  wanted: bigint;
}

/** Readings may take half of the remaining calls for a certain difference, and a tenth for a possible one. */
const SHARE_CERTAIN = 2n;
const SHARE_DOUBTFUL = 10n;

interface Priced {
  readings: Reading[];
  calls: bigint;
}

/**
 * Chooses the cheapest readings that find items with a wrong listing state. Counts that differ name the websites. But
 * if `changedSince` may hide removals, a removal and a relisting in the same website cancel out, so everything is read
 * if that is cheap.
 */
export function chooseReadings(facts: ReadingFacts): ReadingPlan {
  const { sites, returnsRemovals, isSuspect, isSecond, callsLeft } = facts;
  const doubtful = share(callsLeft, SHARE_DOUBTFUL);
  const certain = returnsRemovals ? doubtful : share(callsLeft, SHARE_CERTAIN);
  const all = cheapest(null, sumCounts(sites), isSecond);
  const differing = sites.filter(({ service, lake }) => service !== lake);
  if (!returnsRemovals) {
    const limit = isSuspect ? certain : doubtful;
    if (fits(all.calls, limit)) return { ...all, limit, wanted: all.calls };
    if (differing.length === 0) return { readings: [], calls: 0n, limit, wanted: all.calls };
  }
  const own = differing.map((count) => cheapest(count.site, count, isSecond));
  const ownCalls = own.reduce((sum, { calls }) => sum + calls, 0n);
  const whole = ownCalls <= all.calls ? { readings: own.flatMap(({ readings }) => readings), calls: ownCalls } : all;
  const wanted = whole.calls;
  const newest = isSecond ? undefined : priceNewestRemovals(differing);
  const isNewestEnough = differing.every(({ service, lake }) => service < lake);
  const isNewestBetter =
    newest !== undefined && (isNewestEnough ? newest.calls * 2n <= wanted : !fits(wanted, certain));
  if (newest !== undefined && isNewestBetter && fits(newest.calls, certain))
    return { ...newest, limit: certain, wanted };
  if (fits(wanted, certain)) return { ...whole, limit: certain, wanted };
  return { ...takeCheapest(own, certain), limit: certain, wanted };
}

function fits(calls: bigint, limit: bigint | null): boolean {
  return limit === null || calls <= limit;
}

function share(callsLeft: bigint | null, part: bigint): bigint | null {
  return callsLeft === null ? null : callsLeft / part;
}

/**
 * Compares two ways: to read listed items and then each one that is missing, or to read removed items and then each one
 * that came back.
 */
function cheapest(
  site: bigint | null,
  { service, lake, removed }: Pick<SiteCount, 'service' | 'lake' | 'removed'>,
  isSecond: boolean,
): Priced {
  const fewer = lake > service ? lake - service : 0n;
  const more = service > lake ? service - lake : 0n;
  const active = BigInt(countPages(service, ITEMS_A_PAGE)) + fewer;
  const gone = BigInt(countPages(removed + fewer, ITEMS_A_PAGE)) + more;
  // A second reading must be of listed items, because only these include items that the lake has never seen.
  const status = isSecond || active <= gone ? 'active' : 'removed';
  return { readings: [{ status, site, removals: null }], calls: status === 'active' ? active : gone };
}

function sumCounts(sites: readonly SiteCount[]): Pick<SiteCount, 'service' | 'lake' | 'removed'> {
  const sum = (pick: (count: SiteCount) => bigint) => sites.reduce((total, count) => total + pick(count), 0n);
  return {
    service: sum(({ service }) => service),
    lake: sum(({ lake }) => lake),
    removed: sum(({ removed }) => removed),
  };
}

/** Prices pages of removed items of all websites, last seen first; undefined if no removal is missing. */
function priceNewestRemovals(differing: readonly SiteCount[]): Priced | undefined {
  const removals = differing.reduce((sum, { service, lake }) => (lake > service ? sum + lake - service : sum), 0n);
  if (removals === 0n) return undefined;
  return {
    readings: [{ status: 'removed', site: null, removals }],
    calls: BigInt(countPages(removals, ITEMS_A_PAGE)) + 1n,
  };
}

function takeCheapest(own: readonly Priced[], limit: bigint | null): Priced {
  const taken: Priced = { readings: [], calls: 0n };
  for (const { readings, calls } of [...own].sort((a, b) => Number(a.calls - b.calls))) {
    if (!fits(taken.calls + calls, limit)) break;
    taken.readings.push(...readings);
    taken.calls += calls;
  }
  return taken;
}
