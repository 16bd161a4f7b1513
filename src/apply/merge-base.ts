import type { TableRows } from '../lake/table-rows.js';
import { FEW_ROWS, type RelationGraph } from '../sql/graph.js';
import type { Relation } from '../sql/relation.js';
import { columnsOf, join, type Sql, sql } from '../sql/sql.js';

/**
 * The source of the rows that changes apply to. `first`: the whole rows are the lake. `lake`: published rows. `poll`:
 * published rows, and whole rows in place of those that differ. `reload`: as `poll`, with whole rows of all items; an item
 * without one is marked gone.
 */
export type MergeBase = { kind: 'first' } | LakeBase;

export interface LakeBase {
  kind: 'lake' | 'poll' | 'reload';
  before: TableRows;
  /** True if all rows are written again, into files of another layout. */
  isRewritten: boolean;
}

/** The items that a run may change, by the reason. */
export interface TouchedItems {
  exported: Relation;
  /** Changes that are not yet in items. */
  pending: Relation;
  /** Items whose whole rows differ from the lake. */
  different: Relation;
  stale: Relation;
  doubted: Relation;
  rejected: Relation;
  /** Websites and datasets whose current name differs from rows of items; undefined if names are not known yet. */
  renamed?: { sites: Relation; datasets: Relation };
}

/** Rows, before the run, of all items that may change. */
export interface BaseRows {
  rows: Relation;
  /** The items and their files, if these were looked up. */
  places?: Relation;
}

export async function readBase(graph: RelationGraph, base: MergeBase, touched: TouchedItems): Promise<BaseRows> {
  const { exported, different } = touched;
  if (base.kind === 'first') return { rows: exported };
  const condition = selectTouched(touched);
  if (base.kind === 'lake') return readLakeBase(graph, base, condition);
  const news = sql`FROM ${exported} SEMI JOIN ${different} USING (item_id)`;
  const select = sql`SELECT ${columnsOf('items')} ${news}
    UNION ALL SELECT * FROM (${await selectOld(base, condition)}) ANTI JOIN (${news}) USING (item_id)`;
  if (!base.before.isKept) return { rows: graph.view('base_items', select) };
  return { rows: graph.rowsOf('base_items', select, await graph.count(different)) };
}

/** A condition over items. */
function selectTouched({ pending, different, stale, doubted, rejected, renamed }: TouchedItems): Sql {
  const ids = [different, stale, doubted, rejected].map((items) => sql`UNION SELECT item_id FROM ${items}`);
  const condition = sql`item_id IN (SELECT item_id FROM ${pending} WHERE item_id IS NOT NULL ${join(ids, ' ')})`;
  if (renamed === undefined) return condition;
  return sql`${condition} OR site_id IN (SELECT site_id FROM ${renamed.sites})
    OR list_has_any(datasets, (SELECT list(former) FROM ${renamed.datasets}))`;
}

/** Keeps few rows in memory, because each statement over files opens every column of each file again. */
async function readLakeBase(graph: RelationGraph, { before }: LakeBase, condition: Sql): Promise<BaseRows> {
  if (before.files.length === 0) return { rows: before.rows };
  const all = before.ofFiles(before.files, { filename: true });
  const places = graph.table('base_places', sql`SELECT item_id, filename FROM ${all} WHERE ${condition}`);
  const touched = await before.listFiles(places);
  const rows = sql`SELECT ${columnsOf('items')} FROM ${before.ofFiles(touched)}`;
  const count = await graph.count(places);
  const few = sql`${rows} SEMI JOIN ${places} USING (item_id)`;
  return { rows: count > FEW_ROWS ? graph.view('base_items', rows) : graph.table('base_items', few), places };
}

async function selectOld({ before }: LakeBase, condition: Sql): Promise<Sql> {
  const columns = columnsOf('items');
  if (before.isKept) return sql`SELECT ${columns} FROM ${before.rows} WHERE ${condition}`;
  const touched = await before.listFiles(sql`${before.ofFiles(before.files, { filename: true })} WHERE ${condition}`);
  return sql`SELECT ${columns} FROM ${before.ofFiles(touched)}`;
}
