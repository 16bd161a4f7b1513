import type { RelationGraph } from '../sql/graph.js';
import type { Relation } from '../sql/relation.js';
import { join, sql } from '../sql/sql.js';
import type { ItemReads } from './typed-rows.js';

/**
 * The difference between the `observedAt` of a change and the `lastChangedAt` in its item's row. The API document
 * doesn't say that these two times are equal.
 */
export interface FeedSkew {
  /** The difference in microseconds; null if it couldn't be measured. SQL then assumes two minutes. */
  us: bigint | null;
  /** True if rows of this run or of an earlier run prove the difference. False if it is an estimate. */
  isKnown: boolean;
}

export const UNKNOWN_SKEW: FeedSkew = { us: null, isKnown: false };

export const describeSkew = ({ us, isKnown }: FeedSkew) => ({ feed_skew: us, feed_skew_is_known: isKnown });

export interface SkewEvidence {
  pending: Relation;
  history: Relation;
  runs: Relation;
  exported: ItemReads;
  reread: ItemReads;
}

/**
 * Measures the difference (skew) from rows and changes of the same items.
 * @param lacksChanges true if a change couldn't be typed. The distance from a row to another change may then mislead,
 * so an estimated skew counts as 0
 */
export async function measureFeedSkew(
  graph: RelationGraph,
  evidence: SkewEvidence,
  { lacksChanges = false } = {},
): Promise<FeedSkew> {
  const news = await readSkew(graph, evidence, false);
  const all = news.isSure ? news : await readSkew(graph, evidence, true);
  const known = all.isSure ? all.us : await readKnownSkew(graph, evidence.runs);
  const us = known ?? (lacksChanges ? 0n : all.us);
  return { us: us ?? null, isKnown: known !== undefined };
}

/** Returns the latest recorded skew. Few rows may not show whether their times are skewed or the rows are outdated. */
async function readKnownSkew(graph: RelationGraph, runs: Relation): Promise<bigint | undefined> {
  const row = await graph.row(sql`SELECT arg_max(feed_skew_us, run_number) AS us FROM ${runs}`);
  return typeof row?.us === 'bigint' ? row.us : undefined;
}

interface Skew {
  us: bigint | undefined;
  /** True if the rows prove the skew. False if it is an estimate. */
  isSure: boolean;
}

/** Computes the skew from the time between each row and the change nearest to it. */
async function readSkew(
  graph: RelationGraph,
  { pending, history, exported, reread }: SkewEvidence,
  withHistory: boolean,
): Promise<Skew> {
  const reported = join(
    (withHistory ? [pending, history] : [pending]).map((rows) => sql`SELECT item_id, observed_at FROM ${rows}`),
    ' UNION ALL ',
  );
  const row = await graph.row(sql`WITH reads AS (
      SELECT item_id, last_changed_at FROM ${reread.rows}
      UNION ALL SELECT item_id, last_changed_at FROM ${exported.rows} SEMI JOIN ${pending} USING (item_id)
      UNION ALL (SELECT item_id, last_changed_at FROM ${exported.rows} LIMIT 1000)
    ),
    distances AS (
      SELECT r.item_id, r.last_changed_at, epoch_us(c.observed_at) - epoch_us(r.last_changed_at) AS distance
      FROM reads AS r JOIN (${reported}) AS c USING (item_id)
      WHERE c.observed_at BETWEEN r.last_changed_at - INTERVAL 2 MINUTE AND r.last_changed_at + INTERVAL 2 MINUTE
    ),
    nearest AS (SELECT arg_min(distance, abs(distance)) AS distance FROM distances GROUP BY item_id, last_changed_at),
    counted AS (SELECT distance, count(DISTINCT item_id) AS items FROM distances GROUP BY distance)
    SELECT quantile_disc(distance, 0.5) AS middle, bool_or(distance = 0) AS is_exact,
      (SELECT max_by(distance, {'items': items, 'nearness': -abs(distance)}) FROM counted
        WHERE items > 1 AND 2 * items > (SELECT count(DISTINCT item_id) FROM distances)) AS agreed
    FROM nearest`);
  // One of an item's changes may be close to its row by chance. The skew is therefore the distance that most items
  // share. If most items share two distances, because changes come in pairs, the smaller distance is used. With the
  // larger one, a row could count as including a change that was made after it.
  if (typeof row?.agreed === 'bigint' && row.agreed > 0n) return { us: row.agreed + SECOND_US, isSure: true };
  if (row?.is_exact === true) return { us: 0n, isSure: true };
  // Estimates the skew only if history is included: an outdated row contains the changes of earlier runs.
  if (!withHistory || typeof row?.middle !== 'bigint') return { us: undefined, isSure: false };
  return { us: row.middle > 0n ? row.middle + SECOND_US : 0n, isSure: false };
}

/** Added to a measured skew, because the times of rows and changes may be rounded to seconds. */
const SECOND_US = 1_000_000n;
