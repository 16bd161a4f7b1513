import { countOf, formatCount } from '../formats/count.js';

/** Counts of a world that moves while it is read differ by so many, or by a hundredth. */
const ALWAYS_ACCEPTED = 2n;
const ACCEPTED_SHARE = 100n;

/** True if fewer rows came than the service counts, by more than the world can have moved meanwhile. */
export function isClearlyFewer(came: bigint, counted: bigint, moved = 0n): boolean {
  const share = counted / ACCEPTED_SHARE;
  return counted - came > moved + (share > ALWAYS_ACCEPTED ? share : ALWAYS_ACCEPTED);
}

/** The listed items of a complete copy, beside those that the service counts. */
export interface ListedCounts {
  /** Undefined if the service was not asked. */
  counted: bigint | undefined;
  /** The endpoint that counts them. Default `/facets`. */
  counter?: string;
  listed: bigint;
  /** The same with each item counted in each of its datasets, as a service may do. */
  listedByDataset: bigint;
  /** Changes of listings that counts may not show yet, and rows that could not be typed. */
  moved: bigint;
}

/** Known items that the copy lacks, and how many of a sample of them the service still shows one by one. */
export interface MissingReads {
  missing: bigint;
  read: bigint;
  found: bigint;
}

/** The conclusions from a copy. */
export interface CopyVerdict {
  /** True if a listed item, or one that is no longer listed, is gone if the copy lacks it. */
  provesAbsence: { listed: boolean; removed: boolean };
  /** Items at most of which it is not established whether they are listed. */
  unknown: bigint;
  /** Why; empty if the copy is complete. */
  reason: string;
}

/**
 * Judges a complete copy. An item that it lacks is gone only if the copy lists as many items as `/facets` counts, and if
 * the service shows none of a sample of the missing items. A removed item that is kept needs no further look: it is known
 * how it is listed.
 */
export function judgeCopy(counts: ListedCounts, reads: Record<'listed' | 'removed', MissingReads>): CopyVerdict {
  const { counted = 0n, counter = '/facets', listed: came, listedByDataset, moved } = counts;
  const isShort = isClearlyFewer(came, counted, moved) && isClearlyFewer(listedByDataset, counted, moved);
  const lacking = isShort ? counted - came : 0n;
  const { listed, removed } = reads;
  const reasons = [
    ...(isShort
      ? [
          `the copy is not complete: it lists ${formatCount(came)} of ${countOf(counted, 'item')} that ${counter} counts`,
        ]
      : []),
    ...[listed, removed].filter((one) => !isProved(one)).map(explainMissing),
  ];
  const unread = isProved(listed) ? 0n : listed.missing - listed.read;
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
