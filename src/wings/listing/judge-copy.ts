import { countOf, formatCount } from '../../formats/count.js';
import { isClearlyFewer } from '../../plan/is-clearly-fewer.js';

/** The number of listed items in a full copy, and according to the service. */
export interface ListedCounts {
  /** The number of listed items according to the service; undefined if it wasn't requested. */
  counted: bigint | undefined;
  /** The endpoint that returned `counted`; defaults to `/facets`. */
  counter?: string;
  listed: bigint;
  /** Like `listed`, but an item counts once for each of its datasets, as it may in the service's count. */
  listedByDataset: bigint;
  /** By how much the service's count may differ: recent listing changes, and rows that couldn't be typed. */
  moved: bigint;
}

/** The number of known items that a copy lacks, how many were read one by one, and how many the service returned. */
export interface MissingReads {
  missing: bigint;
  read: bigint;
  found: bigint;
}

/** The missing items, grouped by their listing state in the lake. */
export interface CopyGap extends Record<'listed' | 'removed', MissingReads> {
  /** The number of missing items that are listed in the lake, but are too new to be expected in the copy. */
  recent: bigint;
}

export interface CopyVerdict {
  /** True if items that the copy lacks are gone; one value for listed items, and one for removed items. */
  provesAbsence: { listed: boolean; removed: boolean };
  /** The maximum number of items whose listing state is unknown. */
  unknown: bigint;
  /** The reason why states are unknown; empty if the copy is complete. */
  reason: string;
}

/**
 * Decides what a full copy proves about missing items. They count as gone only if the copy contains as many listed
 * items as `/facets` counts, and the service returns none of the missing items in a sample. A missing item that the
 * lake shows as removed can be kept without a check, because its listing state is known. A recent item that is missing
 * may have been removed, or the copy may lag, so its state is unknown.
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
