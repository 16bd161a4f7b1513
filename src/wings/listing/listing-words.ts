import type { PricelakeError } from '../../io/errors.js';
import type { SiteCount } from './choose-readings.js';

export interface OpenListing {
  /** The websites whose items may have wrong listing states. `isRead` is true if all pages of the website were read. */
  sites: (SiteCount & { isRead: boolean })[];
  /** The number of items that the run hasn't read, if the service's counts are unknown; otherwise 0. */
  unread: bigint;
  /** The number of calls that reading the remaining items would take (`wanted`), and the allowed number (`limit`). */
  wanted: { wanted: bigint; limit: bigint | null; news: boolean } | undefined;
  failure: PricelakeError | undefined;
}

const NAMES = 3;
const NAME_LENGTH = 60;

/** Returns the maximum number of items with an unknown listing state, and the reason, which may be empty. */
export function explainOpen(parts: readonly OpenListing[]): { unknown: bigint; reason: string } {
  const unknown = parts.reduce((sum, part) => sum + countUnknown(part), 0n);
  const reasons = parts.map(explainPart).filter((reason) => reason !== '');
  return { unknown, reason: [...new Set(reasons)].join('; ') };
}

/**
 * Counts the items with an unknown listing state. If all pages of a website were read, these are as many as the
 * difference in counts. Otherwise, they are all items of the website that weren't read.
 */
function countUnknown({ sites, unread }: OpenListing): bigint {
  const open = sites.map((site) => {
    const difference = countDifference(site);
    return site.isRead || site.unread < difference ? difference : site.unread;
  });
  return open.reduce((sum, items) => sum + items, unread);
}

function countDifference({ service, lake }: SiteCount): bigint {
  return service > lake ? service - lake : lake - service;
}

function explainPart({ sites, unread, wanted, failure }: OpenListing): string {
  const why = failure === undefined ? explainCalls(wanted) : `: ${failure.message}`;
  if (sites.length === 0) {
    return unread === 0n ? '' : `it is unknown which of ${unread} items are still listed${why}`;
  }
  const different = sites.filter((site) => countDifference(site) > 0n);
  const difference = different.reduce((sum, site) => sum + countDifference(site), 0n);
  const told = [
    different.length === 0
      ? 'item counts agree, but there is no evidence that changedSince returns removals'
      : `item counts differ by ${difference} on ${nameSites(different)}`,
    ...(different.length > 0 && different.every(({ isRead }) => isRead) ? ['although all pages were read'] : []),
  ].join(', ');
  return `${told}${why}`;
}

function explainCalls(wanted: OpenListing['wanted']): string {
  if (wanted === undefined || wanted.limit === null || wanted.wanted <= wanted.limit) return '';
  const calls = wanted.wanted === 1n ? 'a call' : `about ${wanted.wanted} calls`;
  return `; reading them would take ${calls}, but the limit is ${wanted.limit}`;
}

function nameSites(sites: readonly SiteCount[]): string {
  const named = sites.slice(0, NAMES).map(({ name, site, service, lake }) => {
    return `${name === '' ? `website ${site}` : name.slice(0, NAME_LENGTH)} (service ${service}, lake ${lake})`;
  });
  const more = sites.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more websites` : ''}`;
}
