import { countOf, formatCount } from '../../formats/count.js';
import { isClearlyFewer } from '../../plan/is-clearly-fewer.js';

/** The listed items of a complete copy, and the number that the service counts. */
export interface ListedCounts {
  /** Undefined if the service was not asked. */
  counted: bigint | undefined;
  /** The endpoint that counted them. Default `/facets`. */
  counter?: string;
  listed: bigint;
  /** The number of listed items, counting an item once for each of its datasets, as a service may do. */
  listedByDataset: bigint;
  /** Changes of listings that the counts may not show yet, and rows that could not be typed. */
  moved: bigint;
}

/** The known items that the copy lacks, and how many of a sample of them the service still shows one by one. */
export interface MissingReads {
  missing: bigint;
  read: bigint;
  found: bigint;
}

/** The reads of missing items by their listing state in the lake. */
export interface CopyGap extends Record<'listed' | 'removed', MissingReads> {
  /** Missing items that the lake lists and that are too new to be expected in the copy. */
  recent: bigint;
}

export interface CopyVerdict {
  /** True if an item that the copy lacks is gone; separately for listed items and for removed ones. */
  provesAbsence: { listed: boolean; removed: boolean };
  /** The most items of which it is not established whether they are listed. */
  unknown: bigint;
  /** The reason; empty if the copy is complete. */
  reason: string;
}

/**
 * Judges a complete copy. An item that it lacks is gone only if the copy lists as many items as `/facets` counts, and
 * the service shows none of a sample of the missing items. Removed items that the copy lacks can be kept without a
 * check, because their listing state is known. A recent item that it lacks may have been removed by a change that does
 * not name it, or may be missing only because the copy lags, so its listing is unknown.
 */
export function judgeCopy(counts: ListedCounts, reads: CopyGap): CopyVerdict {
  const { counted = 0n, counter = '/facets', listed: came, listedByDataset, moved } = counts;
  const isShort = isClearlyFewer(came, counted, moved) && isClearlyFewer(listedByDataset, counted, moved);
  const lacking = isShort ? counted - came : 0n;
  const { listed, removed, recent } = reads;
  const reasons = [
    ...(isShort
      ? [
          `the copy is not complete: it lists ${formatCount(came)} of ${countOf(counted, 'item')} that ${counter} counts`,
        ]
      : []),
    ...[listed, removed].filter((one) => !isProved(one)).map(explainMissing),
    ...(recent === 0n ? [] : [`the copy lacks ${countOf(recent, 'item')} that first appeared within the last hour`]),
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
    ? `${lacks}, and none could be read one by one`
    : `${lacks}, but the service shows ${formatCount(found)} of ${formatCount(read)} that were read one by one`;
}
