import type { Database } from '../duckdb/connection.js';

/**
 * The newest instant that the service has written into a row; undefined where there is none. Reads the views `history` and
 * `items`.
 */
export async function findNewestTime(db: Database): Promise<Date | undefined> {
  const row = await db.row(`SELECT epoch_ms(greatest(
    (SELECT max(observed_at) FROM history), (SELECT max(last_seen_at) FROM items))) AS newest`);
  const newest = row?.newest as bigint | null | undefined;
  return newest === null || newest === undefined ? undefined : new Date(Number(newest));
}
