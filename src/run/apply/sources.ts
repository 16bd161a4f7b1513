import type { StaleAfter } from '../../config/pipeline.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Source } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { columnsOf, type Sql, sql } from '../../sql/sql.js';

/** The sources table as it is after the run. */
export interface NextSources {
  /** All rows of the table; undefined if no row has changed. */
  changed: Sql | undefined;
  /** Sources that became stale, or are no longer stale. The rows of their offers must be written again. */
  flipped: Relation;
}

export interface SeenSources {
  /** The sources table as it was before the run. */
  sources: Relation;
  /** Rows with `site_id`, `source_id`, `last_seen_at`, and the kind of read as `read_by`. */
  seen: Sql;
  /** The websites that were probed, with the `source_id` and `last_seen_at` of their most recently seen item. */
  probed: Sql;
  /** The items from which each source's usual interval is measured. If undefined, sources keep their `stale_after`. */
  measured: Source | undefined;
  /** True if the run has read all items. */
  isWhole: boolean;
}

/** The reported columns. The table isn't written again if only other columns change. */
const REPORTED = sql`site_id, source_id, last_seen_at, clock_at, stale_after, is_stale`;

/** Finds when each source was last seen, and which sources are stale (the `sources` model). */
export async function findSources(
  graph: RelationGraph,
  { sources, seen, probed, measured, isWhole }: SeenSources,
  { staleAfter, at, runId }: { staleAfter: StaleAfter; at: string; runId: string },
): Promise<NextSources> {
  const isMultiple = 'intervals' in staleAfter;
  const seconds = isMultiple ? 0 : staleAfter.seconds;
  const limits =
    isMultiple && measured !== undefined
      ? graph.model('source_limits', { items: measured }, { intervals: BigInt(staleAfter.intervals), read_at: at })
      : graph.empty('source_limits', 'sources');
  const rows = graph.model(
    'sources',
    { probed_sites: probed, seen_items: seen, source_limits: limits, sources },
    {
      ...{ is_whole: isWhole, read_at: at, run_id: runId },
      keeps_limits: isMultiple && measured === undefined,
      stale_after: seconds === 0 ? null : BigInt(seconds),
    },
  );
  const different = sql`SELECT ${REPORTED} FROM ${rows} EXCEPT SELECT ${REPORTED} FROM ${sources}`;
  const changed = (await graph.count(different)) > 0n ? sql`SELECT ${columnsOf('sources')} FROM ${rows}` : undefined;
  // Compares only the days, because an offer of a stale source records the day on which the source was last seen.
  const flipped = graph.table(
    'flipped_sources',
    sql`SELECT site_id, source_id FROM ${rows} AS n LEFT JOIN ${sources} AS k USING (site_id, source_id)
    WHERE CASE WHEN n.is_stale THEN epoch_us(n.last_seen_at) // 86400000000 END
      IS DISTINCT FROM CASE WHEN k.is_stale THEN epoch_us(k.last_seen_at) // 86400000000 END`,
  );
  return { changed, flipped };
}
