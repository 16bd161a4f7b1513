/** Rows that could not be typed: what they leave behind, and which items they are of. */
import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { quoteList, quoteLiteral } from '../duckdb/quote.js';
import type { TableName } from '../tables/table.js';
import { isChangeOrigin, type TypedFile } from '../typing/type-file.js';

/** SQL of table `rejects`: the rows that could not be typed, with place, reason and raw text. */
export function selectRejects(files: readonly TypedFile[], at: string): string | undefined {
  const parts = files.filter(({ rejected }) => rejected > 0).flatMap(rejectParts);
  if (parts.length === 0) return undefined;
  return `SELECT CAST(getvariable('run_id') AS VARCHAR) AS run_id, table_name, part, line_number, reason, raw,
    CAST(${quoteLiteral(at)} AS TIMESTAMP WITH TIME ZONE) AS rejected_at FROM (${parts.join(' UNION ALL ')})`;
}

function rejectParts({ origin, part, typedPath, badPath }: TypedFile): string[] {
  const table: TableName = isChangeOrigin(origin) ? 'history' : 'items';
  const place = `'${table}' AS table_name, ${quoteList([part])}[1] AS part`;
  const typed = `SELECT ${place}, line_number, reject_reason AS reason, raw
      FROM read_parquet(${quoteList([typedPath])}) WHERE reject_reason IS NOT NULL`;
  if (badPath === undefined) return [typed];
  return [typed, `SELECT ${place}, n AS line_number, reason, raw FROM ${badRows(badPath)}`];
}

function badRows(badPath: string): string {
  return `read_json(${quoteList([badPath])}, format = 'newline_delimited',
    columns = {n: 'BIGINT', raw: 'VARCHAR', reason: 'VARCHAR', id: 'VARCHAR'})`;
}

const ROW_COLUMNS = [
  { name: 'origin', type: 'VARCHAR' },
  { name: 'item_id', type: 'BIGINT' },
  { name: 'change_id', type: 'BIGINT' },
  { name: 'kind', type: 'VARCHAR' },
  { name: 'observed_at', type: 'TIMESTAMP WITH TIME ZONE' },
];

/**
 * Table `rejected_rows`: what can be read of the rows that could not be typed; `item_id` is null where nothing says
 * which item they are of. Items' histories are left out: they tell nothing that items need.
 */
export async function createRejectedRows(db: Database, files: readonly TypedFile[]): Promise<void> {
  const parts = files.filter(({ rejected, origin }) => rejected > 0 && origin !== 'history').flatMap(readableParts);
  if (parts.length === 0) await db.defineEmpty('rejected_rows', ROW_COLUMNS);
  else await db.define('table', 'rejected_rows', parts.join(' UNION ALL '));
}

function readableParts({ origin, typedPath, badPath }: TypedFile): string[] {
  const of = `SELECT ${quoteLiteral(origin)} AS origin`;
  const told = isChangeOrigin(origin)
    ? 'change_id, kind, observed_at'
    : 'NULL::BIGINT AS change_id, NULL::VARCHAR AS kind, last_changed_at AS observed_at';
  const typed = `${of}, item_id, ${told} FROM read_parquet(${quoteList([typedPath])}) WHERE reject_reason IS NOT NULL`;
  if (badPath === undefined) return [typed];
  return [typed, `${of}, exact_bigint(id), NULL, NULL, NULL FROM ${badRows(badPath)}`];
}

/**
 * Table `rejected_items`: items that rejected rows should have told of, and that nothing else shows. Needs
 * `rejected_rows`, `exported_items`, `feed_changes`, the view `items` and variable `watermark`.
 */
export async function createRejectedItems(db: Database): Promise<void> {
  await db.define('table', 'rejected_items', readModel('rejected_items'));
}

/**
 * How many changes and rows are of items that nothing names: changes whose item is null (section 2, Change), and rows
 * whose id can't be read. Whole rows that were read behind a change show it.
 */
export async function countUnnamed(db: Database): Promise<bigint> {
  const row = await db.row(`SELECT (
      SELECT count(*) FROM pending_changes
      WHERE item_id IS NULL AND change_id > coalesce(getvariable('watermark'), 0)
    ) + (
      SELECT count(*) FROM rejected_rows
      WHERE item_id IS NULL AND origin IN ('export', 'page', 'feed')
        AND NOT coalesce(change_id <= getvariable('watermark'), false)
    ) AS n`);
  return row?.n as bigint;
}
