import { ITEMS_A_PAGE } from '../../api/contract.js';
import type { EntryOf } from '../../journal/run-entry.js';
import { countPages } from '../../plan/count-pages.js';

/** The number of items of a website, both according to the service and in the lake. */
export interface SiteCount {
  site: bigint;
  name: string;
  /** The number of listed items according to `/facets`. */
  service: bigint;
  lake: bigint;
  removed: bigint;
  /** The number of items in the lake that this run hasn't read. */
  unread: bigint;
}

/**
 * A request to read pages of `/items`. It selects items with one status, of one website or, if `site` is null, of all.
 * If `removals` is null, all pages are read. If it is a number, the newest removals are read, up to this number.
 */
export type Reading = EntryOf<'listing.plan'>['readings'][number];

export interface ReadingFacts {
  sites: readonly SiteCount[];
  /** True if polls are known to return removed items. Equal counts then prove that the listing states are right. */
  returnsRemovals: boolean;
  /** True if the counts by currency or category differ, although the counts by website are equal. */
  isSuspect: boolean;
  /** True if this run has already read items, and the counts still differed. */
  isSecond: boolean;
  /** The number of calls that the run may still make; null means unlimited. */
  callsLeft: bigint | null;
}

interface ReadingPlan {
  readings: Reading[];
  /** The expected number of calls. */
  calls: bigint;
  /** The maximum number of calls; null means unlimited. */
  limit: bigint | null;
  wanted: bigint;
}

/** Reads may use a half of the remaining calls if counts certainly differ, and a tenth if they may differ. */
const SHARE_CERTAIN = 2n;
const SHARE_DOUBTFUL = 10n;

interface Priced {
  readings: Reading[];
  calls: bigint;
}

/**
 * Chooses the cheapest reads that will find the items with wrong listing states. A website whose counts differ has such
 * items. If `changedSince` may not return removals, a website with equal counts may have them too, because a removal
 * and a relisting cancel each other out. In this case, all websites are read if that is cheap enough.
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

/** Chooses the cheaper reads: listed items and each missing one, or removed items and each relisted one. */
function cheapest(
  site: bigint | null,
  { service, lake, removed }: Pick<SiteCount, 'service' | 'lake' | 'removed'>,
  isSecond: boolean,
): Priced {
  const fewer = lake > service ? lake - service : 0n;
  const more = service > lake ? service - lake : 0n;
  const active = BigInt(countPages(service, ITEMS_A_PAGE)) + fewer;
  const gone = BigInt(countPages(removed + fewer, ITEMS_A_PAGE)) + more;
  // A second read must return listed items, because only these may include items that the lake has never seen.
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

/** Estimates the calls for reading the newest removals; undefined if no website has fewer items than in the lake. */
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
