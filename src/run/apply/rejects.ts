/** Selects the rows that couldn't be typed. */

import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, join, readFiles, type Sql, sql } from '../../sql/sql.js';
import { CHANGE_ORIGINS } from '../../tables/table.js';
import { isChangeOrigin, type TypedFile } from '../../typing/type-file.js';

/** Selects rows for the rejects table: the file position, the reason and the raw text. */
export function selectRejects(
  files: readonly TypedFile[],
  { runId, at }: { runId: string; at: string },
): Sql | undefined {
  const rows = selectRejected(files);
  if (rows === undefined) return undefined;
  return sql`SELECT ${runId} AS run_id, if(list_contains(${CHANGE_ORIGINS}, origin), 'history', 'items') AS table_name,
    part, line_number, reason, raw, CAST(${at} AS TIMESTAMP WITH TIME ZONE) AS rejected_at FROM (${rows})`;
}

const ROW_COLUMNS = [
  { name: 'origin', type: 'VARCHAR' },
  { name: 'item_id', type: 'BIGINT' },
  { name: 'change_id', type: 'BIGINT' },
  { name: 'kind', type: 'VARCHAR' },
  { name: 'observed_at', type: 'TIMESTAMP WITH TIME ZONE' },
];

export interface RejectedRows {
  /** The rejected rows. `item_id` is null if the id is unreadable. */
  rows: Relation;
  /** Items that appear only in rejected rows. */
  items: Relation;
}

/** Reads the ids and times of rejected rows. Omits rows of item histories, which aren't applied to items. */
export function readRejectedRows(graph: RelationGraph, files: readonly TypedFile[]): Relation {
  const rows = selectRejected(files.filter(({ origin }) => origin !== 'history'));
  if (rows === undefined) return graph.empty('rejected_rows', ROW_COLUMNS);
  return graph.table(
    'rejected_rows',
    sql`SELECT ${code(ROW_COLUMNS.map(({ name }) => name).join(', '))} FROM (${rows})`,
  );
}

/** Selects rejected rows with all columns that could be typed, or returns undefined if there are none. */
function selectRejected(files: readonly TypedFile[]): Sql | undefined {
  const parts = files.filter(({ rejected }) => rejected > 0).flatMap(selectRejectedOf);
  return parts.length === 0 ? undefined : join(parts, ' UNION ALL ');
}

function selectRejectedOf({ origin, part, typedPath, badPath }: TypedFile): Sql[] {
  const place = sql`SELECT ${origin} AS origin, ${part} AS part`;
  const change = isChangeOrigin(origin)
    ? code('change_id, kind, observed_at')
    : code('NULL::BIGINT AS change_id, NULL::VARCHAR AS kind, last_changed_at AS observed_at');
  const typed = sql`${place}, line_number, reject_reason AS reason, raw, item_id, ${change}
    FROM ${readFiles('read_parquet', [typedPath])} WHERE reject_reason IS NOT NULL`;
  if (badPath === undefined) return [typed];
  const columns = "columns = {n: 'BIGINT', raw: 'VARCHAR', reason: 'VARCHAR', id: 'VARCHAR'}";
  const bad = sql`${place}, n, reason, raw, exact_bigint(id), NULL, NULL, NULL
    FROM ${readFiles('read_json', [badPath], ["format = 'newline_delimited'", columns])}`;
  return [typed, bad];
}

/**
 * Counts changes that don't name their item (API §2, Change) and rows with an unreadable id. Skips changes up to the
 * watermark, because the complete rows were read after these changes and include them.
 */
export async function countUnnamed(
  graph: RelationGraph,
  { pending, rejected, watermark }: { pending: Relation; rejected: Relation; watermark: bigint | undefined },
): Promise<bigint> {
  const row = await graph.row(sql`SELECT (
      SELECT count(*) FROM ${pending} WHERE item_id IS NULL AND change_id > ${watermark ?? 0n}
    ) + (
      SELECT count(*) FROM ${rejected}
      WHERE item_id IS NULL AND origin IN ('export', 'page', 'feed')
        AND ${watermark === undefined ? sql`true` : sql`NOT coalesce(change_id <= ${watermark}, false)`}
    ) AS n`);
  return row?.n as bigint;
}
