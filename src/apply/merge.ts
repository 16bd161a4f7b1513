import type { DuckDBValue } from '@duckdb/node-api';
import { append, KEEP, replaceAll, replaceRows, type TableChange } from '../lake/table-change.js';
import type { RelationGraph } from '../sql/graph.js';
import { asRows, type Needs, type Source, type Values } from '../sql/model.js';
import type { Relation } from '../sql/relation.js';
import { columnsOf, sql } from '../sql/sql.js';
import type { BaseRows, LakeBase, MergeBase } from './merge-base.js';

/** Items that must be read whole. */
export interface NeededItems {
  rows: Relation;
  /** Items to read now, and the time since which they changed; undefined if there are none. */
  wanted: { itemIds: Set<bigint>; changedSince: string } | undefined;
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
  const ids = await graph.db.read(`SELECT item_id FROM "${rows.name}" WHERE NOT is_left ORDER BY item_id`);
  const itemIds = new Set(ids.getColumns()[0] as DuckDBValue[] as bigint[]);
  return { rows, wanted: { itemIds, changedSince: String(since.since) } };
}

/** The result of applying pending changes and whole reads. */
export interface Merge {
  /** The change of table items. */
  change: TableChange;
  /** The rows that changed, as they are after the run. */
  merged: Relation;
  /** The same items' rows before the run. */
  before: Relation;
  /** Number of items whose row changes; undefined if all rows are new. */
  changed: bigint | undefined;
}

/** Applies pending changes and whole reads to the merge base (model apply). `gone` counts the missing items. */
export async function mergeItems(
  graph: RelationGraph,
  base: MergeBase,
  { rows, places }: BaseRows,
  needs: Omit<Needs<'apply'>, 'base_items'>,
  { gone, ...values }: Values<'apply'> & { gone: bigint },
): Promise<Merge> {
  const applied = graph.model('apply', { ...needs, base_items: rows }, values);
  const merged = gone === 0n ? applied : addMissing(graph, applied, needs.missing_items);
  const changed = await graph.count(merged);
  const added = sql`SELECT ${columnsOf('items')} FROM ${merged}`;
  if (base.kind === 'first') return { ...mergeFirst(graph, rows, merged, changed), changed: undefined };
  if (changed === 0n && !base.isRewritten)
    return { change: KEEP, merged, before: graph.empty('items_before', 'items'), changed };
  const change = base.isRewritten
    ? rewrite(base, merged)
    : await replaceRows(graph, base.before, {
        key: 'item_id',
        gone: merged,
        ...(places === undefined ? {} : { places: sql`${places} SEMI JOIN ${merged} USING (item_id)` }),
        added,
        maxAdded: changed,
        fillsSmall: true,
      });
  const old = base.kind === 'lake' ? sql`${rows}` : base.before.ofFiles(change.remove);
  const select = sql`SELECT ${columnsOf('items')} FROM ${old} SEMI JOIN ${merged} USING (item_id)`;
  return { change, merged, before: graph.rowsOf('items_before', select, changed), changed };
}

function addMissing(graph: RelationGraph, applied: Relation, missing: Source): Relation {
  return graph.table(
    'merged_items',
    sql`SELECT * FROM ${applied} UNION ALL BY NAME SELECT * FROM ${asRows(missing)} ANTI JOIN ${applied} USING (item_id)`,
  );
}

function mergeFirst(graph: RelationGraph, rows: Relation, merged: Relation, changed: bigint) {
  const all = sql`SELECT ${columnsOf('items')} FROM ${rows}`;
  const others = sql`${all} ANTI JOIN ${merged} USING (item_id) UNION ALL SELECT ${columnsOf('items')} FROM ${merged}`;
  return { change: append(changed === 0n ? all : others), merged, before: graph.empty('items_before', 'items') };
}

/** Writes all rows again, into files of another layout. */
function rewrite({ before }: LakeBase, merged: Relation): TableChange {
  const columns = columnsOf('items');
  return replaceAll(
    before,
    sql`SELECT ${columns} FROM ${before.rows} ANTI JOIN ${merged} USING (item_id) UNION ALL SELECT ${columns} FROM ${merged}`,
  );
}
