import { createWatched, type WatchOptions } from '../analyze/watch-list.js';
import type { Database } from '../duckdb/connection.js';
import { parseRows } from './read-rows.js';
import { type Watched, watchedRow } from './rows.js';

/** What a price list finds, as `pricelake watch` tells it. */
export interface WatchedFacts {
  lines: bigint;
  matched: bigint;
  /** Products that a shop sells below the lowest allowed price, and cheaper than the list's own price. */
  below: bigint;
  undercut: bigint;
  /** Those that matter most first. */
  rows: Watched[];
}

/** A longer list is in the files that `pricelake watch` writes. */
export const MOST_WATCHED = 500;

/** @throws PricelakeError as createWatched does for a list that can't be read */
export async function readWatched(db: Database, options: WatchOptions): Promise<WatchedFacts> {
  await createWatched(db, options);
  const counts = await db.row(
    `SELECT count(*) AS lines, count(*) FILTER (is_matched) AS matched, count(*) FILTER (below_shops > 0) AS below,
       count(*) FILTER (undercut_shops > 0) AS undercut FROM watched`,
  );
  const reader = await db.read(
    `FROM watched ORDER BY coalesce(below_shops, 0) > 0 DESC, is_matched DESC, gap_pct DESC NULLS LAST, line LIMIT ${MOST_WATCHED}`,
  );
  const { lines, matched, below, undercut } = counts as Record<'lines' | 'matched' | 'below' | 'undercut', bigint>;
  return { lines, matched, below, undercut, rows: parseRows(reader, watchedRow) };
}
