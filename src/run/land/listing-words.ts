import type { PricelakeError } from '../../io/errors.js';
import type { SiteCount } from '../../plan/choose-readings.js';

/** Listing states that stay unknown. */
export interface OpenListing {
  /** Websites; `isRead` where all their pages were read. */
  sites: (SiteCount & { isRead: boolean })[];
  /** Items that the run has not read, where the service's counts are not known. */
  unread: bigint;
  /** Calls that reading what is open would have taken, and that it might take. */
  wanted: { wanted: bigint; limit: bigint | null; news: boolean } | undefined;
  /** The error that ended it. */
  failure: PricelakeError | undefined;
}

const NAMES = 3;
const NAME_LENGTH = 60;

/** Items at most of which it is not established whether they are listed, and why; 0 and no words where it is. */
export function explainOpen(parts: readonly OpenListing[]): { unknown: bigint; reason: string } {
  const unknown = parts.reduce((sum, part) => sum + countUnknown(part), 0n);
  const reasons = parts.map(explainPart).filter((reason) => reason !== '');
  return { unknown, reason: [...new Set(reasons)].join('; ') };
}

/** Pages that contradict the counts leave the difference open; pages that were not read, all of the website. */
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
      ? 'item counts agree, but nothing shows that changedSince returns removals'
      : `item counts differ by ${difference} on ${nameSites(different)}`,
    ...(different.length > 0 && different.every(({ isRead }) => isRead) ? ['although all pages were read'] : []),
  ].join(', ');
  return `${told}${why}`;
}

function explainCalls(wanted: OpenListing['wanted']): string {
  if (wanted === undefined || wanted.limit === null || wanted.wanted <= wanted.limit) return '';
  const calls = wanted.wanted === 1n ? 'a call' : `about ${wanted.wanted} calls`;
  return `: reading them takes ${calls}, but only ${wanted.limit} may be used for it`;
}

function nameSites(sites: readonly SiteCount[]): string {
  const named = sites.slice(0, NAMES).map(({ name, site, service, lake }) => {
    return `${name === '' ? `website ${site}` : name.slice(0, NAME_LENGTH)} (service ${service}, lake ${lake})`;
  });
  const more = sites.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more websites` : ''}`;
}
