import { append, KEEP, replaceAll, replaceRows, type TableChange } from '../../lake/table-change.js';
import type { TableRows } from '../../lake/table-rows.js';
import { FEW_ROWS, type RelationGraph } from '../../sql/graph.js';
import { asRows, bindModel, type Needs, type Values } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { columnsOf, join, type Sql, sql } from '../../sql/sql.js';
import type { DataFile } from '../../tables/table.js';
import type { FeedSkew } from '../../typing/feed-skew.js';
import type { MergedItems } from '../open/wings.js';

/**
 * The rows to which changes are applied. `first`: the complete rows that the run has read, because the lake is empty.
 * `lake`: the published rows. `poll`: the published rows, with complete rows in place of those that differ. `reload`:
 * like `poll`, but the run has read all items, so items without a complete row may be marked as gone.
 */
export type MergeBase = { kind: 'first' } | LakeBase;

interface LakeBase {
  kind: 'lake' | 'poll' | 'reload';
  before: TableRows;
  /** True if all rows are rewritten because the files' layout changes. */
  isRewritten: boolean;
}

/** The items that a run may change, grouped by reason. */
export interface TouchedItems {
  exported: Relation;
  /** Changes that haven't been applied to items. */
  pending: Relation;
  different: Relation;
  stale: Relation;
  doubted: Relation;
  rejected: Relation;
  /** Websites and datasets with a new name. Undefined until the names are known. */
  renamed?: { sites: Relation; datasets: Relation };
}

/** The rows of all items that the run may change, before pending changes are applied. */
export interface BaseRows {
  rows: Relation;
  /** The files that contain each item; undefined if they weren't looked up. */
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

function selectTouched(touched: TouchedItems): Sql {
  const condition = sql`item_id IN (${selectIds(touched)})`;
  const { renamed } = touched;
  if (renamed === undefined) return condition;
  return sql`${condition} OR site_id IN (SELECT site_id FROM ${renamed.sites})
    OR list_has_any(datasets, (SELECT list(former) FROM ${renamed.datasets}))`;
}

function selectIds({ pending, different, stale, doubted, rejected }: TouchedItems): Sql {
  const others = [different, stale, doubted, rejected].map((items) => sql`UNION SELECT item_id FROM ${items}`);
  return sql`SELECT item_id FROM ${pending} WHERE item_id IS NOT NULL ${join(others, ' ')}`;
}

/**
 * Reads the base rows from the lake. Copies few rows to a table, because each scan of a view would open all columns of
 * all files. Uses a view for many rows.
 */
async function readLakeBase(graph: RelationGraph, { before }: LakeBase, condition: Sql): Promise<BaseRows> {
  if (before.files.length === 0) return { rows: before.rows };
  const all = before.ofFiles(before.files, { places: true });
  const places = graph.table('base_places', sql`SELECT item_id, filename FROM ${all} WHERE ${condition}`);
  const touched = await before.listFiles(places);
  const columns = columnsOf('items');
  if ((await graph.count(places)) > FEW_ROWS) {
    return { rows: graph.view('base_items', sql`SELECT ${columns} FROM ${before.ofFiles(touched)}`), places };
  }
  const few = sql`SELECT * FROM ${before.ofFiles(touched, { places: true })} SEMI JOIN ${places} USING (item_id)`;
  const stored = graph.table('stored_items', few);
  return { rows: graph.view('base_items', sql`SELECT ${columns} FROM ${stored}`), places };
}

async function selectOld({ before }: LakeBase, condition: Sql): Promise<Sql> {
  const columns = columnsOf('items');
  if (before.isKept) return sql`SELECT ${columns} FROM ${before.rows} WHERE ${condition}`;
  const touched = await before.listFiles(sql`${before.ofFiles(before.files, { places: true })} WHERE ${condition}`);
  return sql`SELECT ${columns} FROM ${before.ofFiles(touched)}`;
}

/** The result of applying pending changes and full item reads. */
export interface Merge extends MergedItems {
  change: TableChange;
}

/** The values of the `apply` model, and the number of items to mark as gone. */
export type MergeValues = Values<'apply'> & { gone: bigint };

/** Applies changes and full item reads to the base rows (the `apply` model), and adds rows of items that are gone. */
export function selectMerged(needs: Needs<'apply'>, { gone, ...values }: MergeValues): Sql {
  const applied = bindModel('apply', needs, values);
  if (gone === 0n) return applied;
  return sql`WITH applied AS MATERIALIZED (${applied})
    SELECT * FROM applied
    UNION ALL BY NAME
    SELECT * FROM ${asRows(needs.missing_items)} ANTI JOIN applied USING (item_id)`;
}

/** Computes the change to the items table. @param merged the rows of `selectMerged` */
export async function mergeItems(
  graph: RelationGraph,
  base: MergeBase,
  { rows, places }: BaseRows,
  merged: Relation,
): Promise<Merge> {
  const changed = await graph.count(merged);
  const columns = columnsOf('items');
  const added = sql`SELECT ${columns} FROM ${merged}`;
  const none = graph.empty('items_before', 'items');
  const withOthers = (all: Relation) =>
    sql`SELECT ${columns} FROM ${all} ANTI JOIN ${merged} USING (item_id) UNION ALL ${added}`;
  if (base.kind === 'first') {
    const whole = changed === 0n ? sql`SELECT ${columns} FROM ${rows}` : withOthers(rows);
    return { change: append(whole), merged, before: none, changed: undefined };
  }
  if (changed === 0n && !base.isRewritten) return { change: KEEP, merged, before: none, changed };
  const change = base.isRewritten
    ? replaceAll(base.before, withOthers(base.before.rows))
    : await replaceRows(graph, base.before, {
        key: 'item_id',
        gone: merged,
        ...(places === undefined ? {} : { places: sql`${places} SEMI JOIN ${merged} USING (item_id)` }),
        added,
        maxAdded: changed,
        fillsSmall: true,
      });
  const old = base.kind === 'lake' ? sql`${rows}` : base.before.ofFiles(change.remove);
  const select = sql`SELECT ${columns} FROM ${old} SEMI JOIN ${merged} USING (item_id)`;
  return { change, merged, before: graph.rowsOf('items_before', select, changed), changed };
}

/**
 * Computes a change that adds at most `maxRows` changes and differences to history. A change of this run may explain a
 * difference that an earlier comparison wrote. The change then replaces the difference's row. Rows of differences have
 * no change id, so the function reads only files with such rows, from one day before the first change.
 */
export async function extendHistory(
  graph: RelationGraph,
  history: TableRows,
  { fresh, diffs, maxRows }: { fresh: Relation; diffs: Relation; maxRows: bigint },
  skew: FeedSkew,
): Promise<TableChange> {
  const columns = columnsOf('history');
  const added = sql`SELECT ${columns} FROM ${fresh} UNION ALL SELECT ${columns} FROM ${diffs}`;
  const files = await findLooseFiles(graph, history, fresh);
  if (files.length === 0) return append(added, maxRows);
  const loose = sql`SELECT * FROM ${history.ofFiles(files, { places: true })} WHERE change_id IS NULL`;
  const superseded = graph.model('superseded_diffs', { diff_rows: loose, new_changes: fresh }, { feed_skew: skew.us });
  const gone = graph.table(
    'gone_diffs',
    sql`SELECT DISTINCT item_id, observed_at, kind, 'diff' AS origin FROM ${superseded}`,
  );
  const key = 'item_id, observed_at, kind, origin';
  return replaceRows(graph, history, { key, gone, places: sql`${superseded}`, added, maxAdded: maxRows });
}

async function findLooseFiles(graph: RelationGraph, history: TableRows, fresh: Relation): Promise<DataFile[]> {
  const loose = history.files.filter(hasRowsWithoutId);
  if (loose.length === 0) return [];
  const first = await graph.row(
    sql`SELECT strftime(min(observed_date) - INTERVAL 1 DAY, '%Y-%m-%d') AS day FROM ${fresh} WHERE change_id IS NOT NULL`,
  );
  const day = first?.day;
  if (typeof day !== 'string') return [];
  return loose.filter(({ partitionValues }) => (partitionValues.observed_date ?? day) >= day);
}

/** True if, according to its statistics, a file may contain rows without a change id. */
function hasRowsWithoutId({ stats }: DataFile): boolean {
  const { nullCount } = (stats === '' ? {} : JSON.parse(stats)) as { nullCount?: { change_id?: number } };
  return nullCount?.change_id !== 0;
}
