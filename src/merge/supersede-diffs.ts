import path from 'node:path';
import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import type { DataFile, TableState } from '../tables/table.js';
import { type RelationOptions, tableRelation, toRelationFile } from '../tables/table-relation.js';
import { selectColumns } from './batch.js';

/** Files of history that hold rows which give way, and SQL of the rows of them that stay. */
export interface SupersededDiffs {
  rows: bigint;
  replaced: DataFile[];
  /** Undefined when no row gives way. */
  kept: string | undefined;
}

/**
 * Finds rows of history that a comparison wrote and that changes of this run report as well. Only files that hold rows
 * without a change id, of the days on which the changes were observed or later, are read.
 * @param root folder of the lake
 */
export async function supersedeDiffs(db: Database, root: string, history: TableState): Promise<SupersededDiffs> {
  const none = { rows: 0n, replaced: [], kept: undefined };
  const loose = history.files.filter(hasRowsWithoutId);
  if (loose.length === 0) return none;
  const first = await db.row(
    "SELECT strftime(min(observed_date) - INTERVAL 1 DAY, '%Y-%m-%d') AS day FROM new_changes WHERE change_id IS NOT NULL",
  );
  if (typeof first?.day !== 'string') return none;
  const { day } = first;
  const files = loose.filter(({ partitionValues }) => (partitionValues.observed_date ?? day) >= day);
  if (files.length === 0) return none;
  const place = (file: DataFile) => path.join(root, 'history', file.path);
  const relation = (some: DataFile[], more?: RelationOptions['more']) =>
    tableRelation(
      'history',
      some.map((file) => toRelationFile(file, place(file))),
      more === undefined ? history : { ...history, more },
    );
  await db.run(`CREATE OR REPLACE VIEW diff_rows AS
    SELECT * FROM ${relation(files, 'filename = true')} WHERE change_id IS NULL`);
  await db.run(`CREATE OR REPLACE TABLE superseded_diffs AS ${readModel('superseded_diffs')}`);
  const found = await db.rows('SELECT filename, count(*) AS n FROM superseded_diffs GROUP BY filename');
  if (found.length === 0) return none;
  const names = new Set(found.map(({ filename }) => filename));
  const replaced = files.filter((file) => names.has(place(file)));
  return {
    rows: found.reduce((sum, { n }) => sum + (n as bigint), 0n),
    replaced,
    kept: `SELECT ${selectColumns('history')} FROM ${relation(replaced)} AS h
      WHERE NOT (origin = 'diff' AND EXISTS (
        FROM superseded_diffs AS s WHERE (s.item_id, s.observed_at, s.kind) = (h.item_id, h.observed_at, h.kind)))`,
  };
}

/** By the file's statistics; a file without them may. */
function hasRowsWithoutId({ stats }: DataFile): boolean {
  const { nullCount } = (stats === '' ? {} : JSON.parse(stats)) as { nullCount?: { change_id?: number } };
  return nullCount?.change_id !== 0;
}
