import type { IdSet } from '../../io/id-set.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Needs, Values } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { columnsOf, type Sql, sql } from '../../sql/sql.js';
import { describeSkew, type FeedSkew } from '../../typing/feed-skew.js';
import type { ItemReads } from '../../typing/typed-rows.js';
import type { RejectedRows } from './rejects.js';

export interface NeededItems {
  rows: Relation;
  /** The items to read now, and the earliest time at which one of the items may have changed. */
  wanted: { itemIds: IdSet; changedSince: string } | undefined;
}

export async function findNeeds(
  graph: RelationGraph,
  needs: Needs<'needs'>,
  values: Values<'needs'>,
): Promise<NeededItems> {
  const rows = graph.model('needs', needs, values);
  const read = sql`${rows} WHERE NOT is_left`;
  const since = await graph.row(
    sql`SELECT strftime(coalesce(min(observed_at), to_timestamp(0)) - INTERVAL 1 MINUTE, '%Y-%m-%dT%H:%M:%S.%fZ') AS since
    FROM ${read} HAVING count(*) > 0`,
  );
  if (since === undefined || since.since === null) return { rows, wanted: undefined };
  return { rows, wanted: { itemIds: await graph.itemIds(read), changedSince: String(since.since) } };
}

export interface JudgedReads {
  /** One row for each item that was or should have been read in full. `reason` is null if the read is up to date. */
  judged: Relation;
  taken: Relation;
}

export interface JudgedSources {
  base_items: Relation;
  history: Relation;
  needed_items: Relation;
  pending_changes: Relation;
  stale_items: Relation;
  rejected: RejectedRows;
  reread: ItemReads;
}

export interface JudgingFacts {
  at: string;
  skew: FeedSkew;
}

/** Returns the relations and values that the `judged_reads` model needs. */
export function describeJudging({ rejected, reread, ...sources }: JudgedSources, { at, skew }: JudgingFacts) {
  return {
    needs: { ...sources, rejected_items: rejected.items, rejected_rows: rejected.rows, reread_items: reread.rows },
    values: { ...describeSkew(skew), read_at: at },
  };
}

/** Selects the fully read rows that replace rows of the items table. The arguments are SQL that can follow FROM. */
export function selectTaken(reread: Sql, judged: Sql): Sql {
  return sql`SELECT r.* REPLACE (j.change_id AS change_id), j.reason IS NULL AS is_current
    FROM ${reread} AS r JOIN ${judged} AS j USING (item_id) WHERE NOT j.is_rejected`;
}

/** Lists the items whose row was read in full but doesn't include their newest changes. */
export async function listStaleReads(graph: RelationGraph, { judged }: JudgedReads): Promise<bigint[]> {
  const rows = await graph.rows(sql`SELECT item_id FROM ${judged}
    WHERE reason IS NOT NULL AND reason <> 'not found' AND NOT is_untyped(reason) ORDER BY item_id`);
  return rows.map((row) => row.item_id as bigint);
}

/** The rows of the `stale_items` table. It lists the items whose newest changes aren't in any row that was read. */
export interface StaleItems {
  count: bigint;
  /** The table's rows after the run; undefined if they don't change. */
  rows: Sql | undefined;
  /** The rows that the run removes, because their items are no longer stale; undefined if there are none. */
  leaving: Sql | undefined;
}

/** Computes the next rows of `stale_items`. If an item's row can't be typed, the item stays in the table. */
export async function findStaleItems(
  graph: RelationGraph,
  { judged }: JudgedReads,
  { stale_items, exported_items, runId }: { stale_items: Relation; exported_items: Relation; runId: string },
): Promise<StaleItems> {
  const next = graph.table(
    'next_stale_items',
    sql`SELECT item_id, reason, first_change_id AS change_id, observed_at, first_read_at, ${runId} AS run_id
    FROM ${judged} WHERE reason IS NOT NULL
    UNION ALL BY NAME
    SELECT * FROM ${stale_items} ANTI JOIN ${judged} USING (item_id) ANTI JOIN ${exported_items} USING (item_id)
    WHERE is_untyped(reason)`,
  );
  const facts = (rows: Relation) => sql`SELECT item_id, reason, change_id, first_read_at FROM ${rows}`;
  const left = sql`${stale_items} ANTI JOIN ${next} USING (item_id)`;
  const row = await graph.row(sql`SELECT count(*) AS n, (SELECT count(*) FROM ${left}) AS leaving,
    (SELECT count(*) FROM (${facts(next)} INTERSECT ${facts(stale_items)})) AS same
    FROM ${next}`);
  const count = row?.n as bigint;
  const select = (rows: Relation | Sql) => sql`SELECT ${columnsOf('stale_items')} FROM ${rows}`;
  const leaving = row?.leaving === 0n ? undefined : select(left);
  const isSame = leaving === undefined && count === row?.same;
  return { count, rows: isSame ? undefined : select(next), leaving };
}
