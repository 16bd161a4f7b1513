import { countOf, formatCount } from '../../formats/count.js';
import { isClearlyFewer } from '../../plan/is-clearly-fewer.js';

/** The number of listed items in a full copy, and according to the service. */
export interface ListedCounts {
  /** The service's count; undefined if it wasn't requested. */
  counted: bigint | undefined;
  /** The endpoint that returned the count; default `/facets`. */
  counter?: string;
  listed: bigint;
  /** The number of listed items, with an item counted once for each of its datasets, as a service may count. */
  listedByDataset: bigint;
  /** The number of listing changes that the service's count may not include yet, plus rows that couldn't be typed. */
  moved: bigint;
}

/** Known items that are missing from the copy, and how many of a sample the service still returns individually. */
export interface MissingReads {
  missing: bigint;
  read: bigint;
  found: bigint;
}

/** Missing items by their listing state in the lake. */
export interface CopyGap extends Record<'listed' | 'removed', MissingReads> {
  /** Missing items that are listed in the lake but too new to be expected in the copy. */
  recent: bigint;
}

export interface CopyVerdict {
  /** True if items that are missing from the copy are gone; separately for listed and for removed items. */
  provesAbsence: { listed: boolean; removed: boolean };
  /** The maximum number of items that may or may not be listed. */
  unknown: bigint;
  /** Why items are unknown; empty if the copy is complete. */
  reason: string;
}

/**
 * Judges a full copy. A missing item is considered gone only if the copy lists as many items as `/facets` counts, and
 * the service returns none of a sample of the missing items. Removed items that are missing can be kept without a
 * check, because their listing state is known. A recent item that is missing may have been removed, or the copy may
 * lag, so its listing state is unknown.
 */
export function judgeCopy(counts: ListedCounts, reads: CopyGap): CopyVerdict {
  const { counted = 0n, counter = '/facets', listed: came, listedByDataset, moved } = counts;
  const isShort = isClearlyFewer(came, counted, moved) && isClearlyFewer(listedByDataset, counted, moved);
  const lacking = isShort ? counted - came : 0n;
  const { listed, removed, recent } = reads;
  const reasons = [
    ...(isShort
      ? [`the copy is incomplete: it lists ${formatCount(came)} of ${countOf(counted, 'item')} that ${counter} counts`]
      : []),
    ...[listed, removed].filter((one) => !isProved(one)).map(explainMissing),
    ...(recent === 0n
      ? []
      : [
          `${countOf(recent, 'item')} that first appeared within the last hour ${recent === 1n ? 'is' : 'are'} missing from the copy`,
        ]),
  ];
  const unread = (isProved(listed) ? 0n : listed.missing - listed.read) + recent;
  return {
    provesAbsence: { listed: isProved(listed) && !isShort, removed: isProved(removed) && !isShort },
    unknown: lacking > unread ? lacking : unread,
    reason: reasons.join('; '),
  };
}

function isProved({ missing, read, found }: MissingReads): boolean {
  return missing === 0n || (read > 0n && found === 0n);
}

function explainMissing({ missing, read, found }: MissingReads): string {
  const lacks = `the copy lacks ${countOf(missing, 'known item')}`;
  return read === 0n
    ? `${lacks}, and none of them could be read individually`
    : `${lacks}, but the service returns ${formatCount(found)} of ${formatCount(read)} that were read individually`;
}
