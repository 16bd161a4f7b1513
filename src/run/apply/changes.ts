import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, columnsOf, join, type Sql, sql } from '../../sql/sql.js';
import { type CursorWindow, findHeld } from '../../tables/cursor-window.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { LAG_MS, ORIGIN } from '../../tables/table.js';
import type { TypedFile } from '../../typing/type-file.js';
import { countRepeated, countTyped, goodRows, leaveOutRepeated, type Tally } from '../../typing/typed-rows.js';

/** Columns of typed changes that aren't in the history table. */
const TYPED_COLUMNS = ['part', 'site_name', 'site_host', 'site_attribution'].map((name) => ({ name, type: 'VARCHAR' }));

export interface LandedChanges {
  typed: Relation;
  /** The changes from the feed, without duplicates. */
  feed: Relation;
  /** Changes that the feed hasn't returned yet. They come from a source of early changes, such as a webhook. */
  early: Relation;
  /** Changes that are only in a source of past changes, such as the endpoint for an item's history. */
  past: Relation;
  /** All changes that the history table doesn't contain yet, without duplicates. */
  fresh: Relation;
  /** Changes in `fresh` that became visible after later changes had been applied. */
  late: Relation;
  tally: Tally;
}

export interface KnownRows {
  items: Relation;
  history: Relation;
  stale_items: Relation;
}

/**
 * Reads the landed changes. If the feed and an early source both supplied a change, uses the feed's copy. If the run
 * reads the feeds of several datasets, one feed may be read further than the others. Its additional changes are also
 * new.
 * @param isSelected true if the lake copies only some datasets, so an early change of an unknown item may belong to
 * another dataset
 */
export async function readChanges(
  graph: RelationGraph,
  files: readonly TypedFile[],
  window: CursorWindow,
  { items, history }: Pick<KnownRows, 'items' | 'history'>,
  { runId, isSelected }: { runId: string; isSelected: boolean },
): Promise<LandedChanges> {
  if (files.length === 0) return noChanges(graph);
  const { from, again, applyFrom, to } = window;
  const count = countTyped(files);
  const good = goodRows(files);
  const own = sql`origin <> ${ORIGIN.early} OR item_id IN (SELECT item_id FROM ${items} WHERE gone_at IS NULL)`;
  const kept = isSelected ? sql`SELECT * FROM ${good} WHERE ${own}` : sql`SELECT * FROM ${good}`;
  const typed = graph.rowsOf('typed_changes', kept, count);
  const all = sql`(FROM ${typed} WHERE origin = ${ORIGIN.feed})`;
  const { typed: ofFeed, repeated } = await countRepeated(graph, all, 'change_id');
  const first = { rows: all, key: 'change_id', order: 'item_id IS NULL, observed_at' };
  const once = repeated === 0n ? all : leaveOutRepeated(graph, first);
  const has = (origin: TypedFile['origin']) => files.some((file) => file.origin === origin);
  const named = has(ORIGIN.early) ? nameItems(once, typed) : once;
  const feed = graph.rowsOf(
    'feed_changes',
    sql`SELECT * FROM ${named} WHERE change_id > least(${again}, ${from})`,
    count,
  );
  const held = findHeld(window);
  const mayOverlap = has(ORIGIN.early) || held > from;
  const known = mayOverlap
    ? graph.model('known_changes', { history, typed_changes: typed }, { held_up_to: held, run_id: runId })
    : graph.empty('known_changes', [{ name: 'change_id', type: 'BIGINT' }]);
  const heard = { feed_changes: feed, history, typed_changes: typed };
  const early = has(ORIGIN.early)
    ? graph.model('early_changes', { ...heard, known_changes: known }, { run_id: runId })
    : graph.empty('early_changes', 'history');
  const past = has(ORIGIN.past)
    ? graph.model(
        'past_changes',
        { ...heard, items, early_changes: early },
        { feed_cursor: to ?? null, run_id: runId, with_feed: to !== undefined },
      )
    : graph.empty('past_changes', 'history');
  const select = sql`SELECT ${columnsOf('history')} FROM`;
  const unheld = mayOverlap ? sql`${feed} ANTI JOIN ${known} USING (change_id)` : sql`${feed}`;
  const fresh = graph.rowsOf(
    'new_changes',
    join(
      [unheld, sql`${early}`, sql`${past}`].map((rows) => sql`${select} ${rows}`),
      ' UNION ALL ',
    ),
    count,
  );
  const late = sql`FROM ${fresh} WHERE change_id > ${again} AND change_id <= ${applyFrom} AND origin <> ${ORIGIN.past}`;
  const others =
    has(ORIGIN.early) || has(ORIGIN.past) ? await graph.count(sql`FROM ${good} WHERE origin <> ${ORIGIN.feed}`) : 0n;
  const total = ofFeed + others;
  return {
    typed,
    feed,
    early,
    past,
    fresh,
    late: again < applyFrom ? graph.rowsOf('late_changes', late, count) : graph.empty('late_changes', 'history'),
    tally: { typed: total, repeated: total - (await graph.count(fresh)) },
  };
}

function noChanges(graph: RelationGraph): LandedChanges {
  const typed = graph.empty('typed_changes', [...loadTableSchema('history').columns, ...TYPED_COLUMNS]);
  const none = graph.empty('no_changes', 'history');
  return {
    typed,
    feed: typed,
    early: none,
    past: none,
    fresh: none,
    late: none,
    tally: { typed: 0n, repeated: 0n },
  };
}

/** Completes feed changes whose item is null with the item's fields from an early copy of the same change. */
function nameItems(changes: Sql, typed: Relation): Sql {
  const values = ['item_id', 'title', 'url', 'currency', 'site_id', 'site_name', 'site_host', 'site_attribution'];
  const named = code(values.map((name) => `coalesce(f.${name}, w.${name}) AS ${name}`).join(', '));
  return sql`(SELECT f.* REPLACE (${named})
    FROM (FROM ${changes}) AS f
    LEFT JOIN (
      SELECT DISTINCT ON (change_id) change_id, ${code(values.join(', '))} FROM ${typed}
      WHERE origin = ${ORIGIN.early} AND item_id IS NOT NULL ORDER BY change_id
    ) AS w ON f.item_id IS NULL AND w.change_id = f.change_id)`;
}

/**
 * Finds changes, landed by this run or stored in history, that haven't been applied to items. For new items, includes
 * changes from the hour before their rows were read, because rows may lag behind the feed. Also includes changes that
 * became visible late. Rows may already contain a late change, so the run reads its item in full.
 */
export function findPendingChanges(
  graph: RelationGraph,
  window: CursorWindow,
  { feed, early, late }: Pick<LandedChanges, 'feed' | 'early' | 'late'>,
  { items, history, stale_items }: KnownRows,
): Relation {
  const { applyFrom, to, watermark, isApplied } = window;
  const isPassed = to === undefined ? sql`origin <> ${ORIGIN.early}` : sql`change_id <= ${to}`;
  const select = (from: Relation) =>
    sql`SELECT ${columnsOf('history')} FROM ${from} WHERE change_id > ${applyFrom} AND ${isPassed}`;
  const parts = [select(feed), select(early), sql`SELECT ${columnsOf('history')} FROM ${late}`];
  if (findHeld(window) > applyFrom) parts.push(sql`${select(history)} AND item_id IS NOT NULL`);
  if (watermark !== undefined) {
    const unknown = isApplied ? sql`ANTI JOIN ${items} USING (item_id)` : sql``;
    parts.push(sql`SELECT ${columnsOf('history')} FROM ${feed} ${unknown} ANTI JOIN ${stale_items} USING (item_id)
      WHERE change_id <= ${watermark} AND ${isPassed} AND item_id IS NOT NULL AND observed_at >= (
        SELECT max(observed_at) FROM ${feed} WHERE change_id <= ${watermark}
      ) - INTERVAL ${LAG_MS} MILLISECOND`);
  }
  return graph.table(
    'pending_changes',
    sql`SELECT * FROM (${join(parts, ' UNION ALL ')})
    QUALIFY row_number() OVER (PARTITION BY change_id ORDER BY item_id IS NULL, origin = ${ORIGIN.early}, run_id) = 1`,
  );
}

/**
 * Returns the largest change id in history after the run if it is larger than `to`, or else 0. A larger id comes from
 * an early source or from the feed of one of several datasets. If the run has no feed, the id comes from a source of
 * past changes.
 */
export async function findAhead(
  graph: RelationGraph,
  { ahead, to = 0n }: Pick<CursorWindow, 'ahead' | 'to'>,
  { feed, early, past }: Pick<LandedChanges, 'feed' | 'early' | 'past'>,
): Promise<bigint> {
  const row = await graph.row(
    sql`SELECT max(change_id) AS newest
     FROM (SELECT change_id FROM ${feed} UNION ALL SELECT change_id FROM ${early}
       UNION ALL SELECT change_id FROM ${past})
     WHERE change_id > ${to}`,
  );
  const newest = (row?.newest as bigint | null) ?? 0n;
  return newest > ahead ? newest : ahead;
}
