const CHANGES_A_PAGE = 1_000;

/** Returns the number of pages, at least 1. The page size defaults to the feed's page size. */
export function countPages(rows: bigint, pageSize = CHANGES_A_PAGE): number {
  const size = BigInt(pageSize);
  return rows === 0n ? 1 : Number((rows + size - 1n) / size);
}
