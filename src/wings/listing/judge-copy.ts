import { countOf, formatCount } from '../../formats/count.js';
import { isClearlyFewer } from '../../plan/is-clearly-fewer.js';

/** The numbers of listed items in a full copy and according to the service. */
export interface ListedCounts {
  /** The number of listed items according to the service. Undefined if it wasn't requested. */
  counted: bigint | undefined;
  /** The endpoint that returned `counted`. Defaults to `/facets`. */
  counter?: string;
  listed: bigint;
  /** The number of listed items, with each item counted once per dataset, as the service may count them. */
  listedByDataset: bigint;
  /** The number of recent listing changes, and of rows that couldn't be typed. The counts may differ by this. */
  moved: bigint;
}

/** The numbers of known items that a copy lacks, that were read one by one, and that the service returned. */
export interface MissingReads {
  missing: bigint;
  read: bigint;
  found: bigint;
}

/** The items that a copy lacks, grouped by their listing state in the lake. */
export interface CopyGap extends Record<'listed' | 'removed', MissingReads> {
  /** The number of missing items that are listed in the lake, but are too new to be expected in the copy. */
  recent: bigint;
}

export interface CopyVerdict {
  /** True if missing items are gone, separately for items that the lake shows as listed and as removed. */
  provesAbsence: { listed: boolean; removed: boolean };
  /** The maximum number of items whose listing state may be unknown. */
  unknown: bigint;
  /** The reason why listing states are unknown. Empty if the copy is complete. */
  reason: string;
}

/**
 * Decides what a full copy proves about the items that it lacks. These items count as gone only if the copy contains as
 * many listed items as `/facets` counts, and the service returns none of a sample of the missing items. A missing item
 * that the lake shows as removed needs no check to be kept, because its listing state is known. A missing item that
 * became known recently may have been removed, or the copy may lag behind, so its state is unknown.
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
