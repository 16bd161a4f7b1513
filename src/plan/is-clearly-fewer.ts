/** Counts may differ by this number or by 1%, whichever is more, because items change while they are counted. */
const ALWAYS_ACCEPTED = 2n;
const ACCEPTED_SHARE = 100n;

/** True if far fewer rows arrived than the service counts. @param moved rows that changes may explain */
export function isClearlyFewer(came: bigint, counted: bigint, moved = 0n): boolean {
  const share = counted / ACCEPTED_SHARE;
  return counted - came > moved + (share > ALWAYS_ACCEPTED ? share : ALWAYS_ACCEPTED);
}
