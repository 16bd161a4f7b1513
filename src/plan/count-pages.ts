const CHANGES_A_PAGE = 1_000;

/** Even no rows take one page. The page size is the feed's by default. */
export function countPages(rows: bigint, pageSize = CHANGES_A_PAGE): number {
  const size = BigInt(pageSize);
  return rows === 0n ? 1 : Number((rows + size - 1n) / size);
}
