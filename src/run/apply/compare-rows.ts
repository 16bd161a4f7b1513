import type { RelationGraph } from '../../sql/graph.js';
import { bindModel } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import { LAG_MS } from '../../tables/table.js';
import type { FeedSkew } from '../../typing/feed-skew.js';
import type { KnownRows, LandedChanges } from './changes.js';
import type { MergeBase } from './merge.js';

export interface Comparison {
  /** The number of items whose complete rows differ from the lake for a reason that isn't among the landed changes. */
  differences: bigint;
  /** A JSON object with the number of items in which each field differs. */
  columns: string;
  /** The number of items that the lake lacks and that no landed change adds. */
  missed: bigint;
  /** The number of items in the lake that a complete copy doesn't contain. */
  gone: bigint;
  /** The number of missing items that may be in a dataset that the key can't read now. The lake keeps their rows. */
  unreadable: bigint;
}

export const NO_COMPARISON: Comparison = { differences: 0n, columns: '{}', missed: 0n, gone: 0n, unreadable: 0n };

export interface ComparedRows {
  counts: Comparison;
  different: Relation;
  changes: Relation;
  /** The lake's rows that are marked as gone because a complete copy doesn't contain their items. */
  missing: Relation;
  /** New items that may be missing only because the copy is outdated. The run requests each of them. */
  doubted: Relation;
}

export interface ComparedSources extends KnownRows {
  exported_items: Relation;
  pending_changes: Relation;
  fresh: LandedChanges['fresh'];
}

export interface ComparisonFacts {
  runId: string;
  /** The time recorded for differences, in ISO 8601 format. */
  at: string;
  skew: FeedSkew;
  /** The cursor up to which the feed was read; undefined without a feed. */
  cursor: bigint | undefined;
  /** The names of the datasets that the key can read; undefined if it can read all of the lake's datasets. */
  datasets: readonly string[] | undefined;
  /** The names of datasets that are new to the lake. Their items don't count as differences. */
  added: readonly string[];
  /** False if a row couldn't be typed. No item then counts as missing, because this row may be the item's row. */
  isReadWhole: boolean;
  /** The ids of items that the service no longer returned when they were requested individually. */
  unlisted: readonly bigint[];
  /** True if a complete copy's lack of an item proves that the item is gone, for listed items and for removed items. */
  provesAbsence: { listed: boolean; removed: boolean };
}

const DIFFERENCE_COLUMNS = [
  { name: 'item_id', type: 'BIGINT' },
  { name: 'is_new', type: 'BOOLEAN' },
  { name: 'differences', type: 'VARCHAR[]' },
];

/** Compares complete rows with the lake. Keeps rows of items whose dataset the key can't read now. */
export async function compareItems(
  graph: RelationGraph,
  base: MergeBase,
  { items, history, stale_items, exported_items, pending_changes, fresh }: ComparedSources,
  facts: ComparisonFacts,
): Promise<ComparedRows> {
  const { runId, at, skew, cursor, datasets, added, isReadWhole, unlisted, provesAbsence } = facts;
  const isWhole = base.kind === 'reload' && isReadWhole;
  const isCompared = base.kind === 'poll' || base.kind === 'reload';
  const none = graph.empty('no_differences', DIFFERENCE_COLUMNS);
  const different = isCompared ? graph.model('compare', { exported_items, items }, { feed_skew: skew.us }) : none;
  const mismatched = isCompared
    ? graph.model(
        'mismatches',
        { different_items: different, exported_items, history, new_changes: fresh, pending_changes, stale_items },
        { added_datasets: added, feed_cursor: cursor ?? null, feed_skew: skew.us, with_feed: cursor !== undefined },
      )
    : none;
  const hasMismatches = isCompared && (await graph.count(mismatched)) > 0n;
  const changes = hasMismatches
    ? graph.model('diff', { exported_items, history, items, mismatched_items: mismatched }, { run_id: runId })
    : graph.empty('diff_changes', 'history');
  const lacked = bindModel(
    'missing',
    { exported_items, items },
    { read_at: at, readable_datasets: datasets ?? null, run_id: runId },
  );
  const { listed, removed } = provesAbsence;
  const some =
    isWhole && listed && removed
      ? sql``
      : sql` WHERE item_id IN (${code(unlisted.join(', ') || 'NULL')})
    OR ${isWhole} AND CASE WHEN removed_at IS NULL THEN ${listed} ELSE ${removed} END`;
  const missing =
    isWhole || unlisted.length > 0
      ? graph.table('missing_items', sql`SELECT * FROM (${lacked})${some}`)
      : graph.empty('missing_items', 'items');
  const doubted = isWhole
    ? graph.table(
        'doubted_items',
        sql`SELECT item_id, first_seen_at AS observed_at FROM ${missing}
        WHERE first_seen_at > (SELECT max(last_changed_at) FROM ${exported_items}) - INTERVAL ${LAG_MS} MILLISECOND`,
      )
    : graph.empty('doubted_items', DOUBTED_COLUMNS);
  const counts = await countDifferences(graph, mismatched, missing);
  const lacked_items = sql`FROM (FROM ${items} WHERE gone_at IS NULL) ANTI JOIN ${exported_items} USING (item_id)`;
  const lacking = isWhole ? await graph.count(lacked_items) : counts.gone;
  return {
    counts: { ...counts, unreadable: isWhole && listed && removed ? lacking - counts.gone : 0n },
    different,
    changes,
    missing,
    doubted,
  };
}

/** The columns of a table of items to read again: the id, and the time of the first change that the lake may lack. */
export const DOUBTED_COLUMNS = [
  { name: 'item_id', type: 'BIGINT' },
  { name: 'observed_at', type: 'TIMESTAMP WITH TIME ZONE' },
];

/** Adds to `doubted` the changed items that the run hasn't read in full. */
export function addChanged(
  graph: RelationGraph,
  doubted: Relation,
  { changed, exported }: { changed: Relation; exported: Relation },
): Relation {
  return graph.table(
    'doubted_items',
    sql`FROM ${doubted} UNION ALL
      SELECT item_id, min(observed_at) FROM ${changed} ANTI JOIN ${exported} USING (item_id)
      WHERE item_id IS NOT NULL GROUP BY item_id`,
  );
}

async function countDifferences(graph: RelationGraph, mismatched: Relation, missing: Relation) {
  const counts = await graph.row(sql`SELECT (SELECT count(*) FROM ${mismatched} WHERE NOT is_new) AS differences,
    (SELECT count(*) FROM ${mismatched} WHERE is_new) AS missed,
    (SELECT coalesce(CAST(json_group_object(name, n) AS VARCHAR), '{}') FROM (
      SELECT name, count(*) AS n FROM (SELECT unnest(differences) AS name FROM ${mismatched} WHERE NOT is_new)
      GROUP BY name ORDER BY name)
    ) AS columns,
    (SELECT count(*) FROM ${missing}) AS gone`);
  return {
    differences: counts?.differences as bigint,
    missed: counts?.missed as bigint,
    columns: String(counts?.columns),
    gone: counts?.gone as bigint,
  };
}
