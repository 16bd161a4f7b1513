import { append, replaceRows, type TableChange } from '../lake/table-change.js';
import type { TableRows } from '../lake/table-rows.js';
import type { RelationGraph } from '../sql/graph.js';
import type { Relation } from '../sql/relation.js';
import { columnsOf, sql } from '../sql/sql.js';
import type { DataFile } from '../tables/table.js';
import type { FeedSkew } from './feed-skew.js';

/** Rows that history gets. */
export interface NewHistory {
  /** Changes that history lacks. */
  fresh: Relation;
  /** Differences that no change shows. */
  diffs: Relation;
  /** At most so many rows in both. */
  maxRows: bigint;
}

/**
 * Adds rows to history. A change of this run replaces the row that a comparison wrote for the same difference. Such rows
 * have no change id, so this reads only files that hold some, from the day of the first change on.
 */
export async function extendHistory(
  graph: RelationGraph,
  history: TableRows,
  { fresh, diffs, maxRows }: NewHistory,
  skew: FeedSkew,
): Promise<TableChange> {
  const columns = columnsOf('history');
  const added = sql`SELECT ${columns} FROM ${fresh} UNION ALL SELECT ${columns} FROM ${diffs}`;
  const files = await findLooseFiles(graph, history, fresh);
  if (files.length === 0) return append(added, maxRows);
  const loose = sql`SELECT * FROM ${history.ofFiles(files, { filename: true })} WHERE change_id IS NULL`;
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

/** Reads the file's statistics. A file without statistics may have such rows. */
function hasRowsWithoutId({ stats }: DataFile): boolean {
  const { nullCount } = (stats === '' ? {} : JSON.parse(stats)) as { nullCount?: { change_id?: number } };
  return nullCount?.change_id !== 0;
}
