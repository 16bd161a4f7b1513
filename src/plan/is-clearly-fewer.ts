/** Counts may differ by this number, or by a hundredth, because items change while they are counted. */
const ALWAYS_ACCEPTED = 2n;
const ACCEPTED_SHARE = 100n;

/** True if fewer rows came than the service counts, by more than changes meanwhile can explain. */
export function isClearlyFewer(came: bigint, counted: bigint, moved = 0n): boolean {
  const share = counted / ACCEPTED_SHARE;
  return counted - came > moved + (share > ALWAYS_ACCEPTED ? share : ALWAYS_ACCEPTED);
}
