/** Two counts may differ by 2 items, or by 1% if that is more, because items change while they are counted. */
const ALWAYS_ACCEPTED = 2n;
const ACCEPTED_SHARE = 100n;

/** True if far fewer rows were received than the service counted. @param moved an additional accepted difference */
export function isClearlyFewer(came: bigint, counted: bigint, moved = 0n): boolean {
  const share = counted / ACCEPTED_SHARE;
  return counted - came > moved + (share > ALWAYS_ACCEPTED ? share : ALWAYS_ACCEPTED);
}
