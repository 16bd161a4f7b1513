import type { DuckDBValue } from '@duckdb/node-api';
import type { Statements } from '../sql/connection.js';
import { valueToText } from '../sql/value-json.js';
import type { Mapping } from '../tables/item-names.js';
import { findLandedRows, type LandedRows } from './landed-rows.js';

export type Row = Record<string, DuckDBValue>;

export const toText = (value: DuckDBValue | undefined): string | null =>
  value === null || value === undefined ? null : valueToText(value);

export interface WhySource {
  db: Statements;
  lakeRoot: string;
  /** Maps columns of export rows to fields of Item (`source.mapping`). */
  mapping: Mapping;
  signal: AbortSignal;
}

/** An item's rows in the lake, and its rows in downloaded files. */
export interface ItemFacts {
  item: Row;
  /** The item's changes, oldest first. */
  changes: readonly Row[];
  landed: LandedRows;
}

/** Reads the facts about items, in the order of `ids`. Searches downloaded files only once for all items. */
export async function readItemFacts(
  { db, lakeRoot, mapping, signal }: WhySource,
  ids: readonly bigint[],
): Promise<ItemFacts[]> {
  const list = `item_id IN (SELECT unnest([${ids.join(', ')}]::BIGINT[]))`;
  const items = await db.rows(`FROM items WHERE ${list}`);
  const changes = await readChanges(db, list);
  const newest = await db.row('SELECT coalesce(max(run_number), 0)::BIGINT AS published FROM runs');
  const landed = await findLandedRows(lakeRoot, newest?.published as bigint, { ids, mapping, signal });
  return ids.map((id) => ({
    item: items.find(({ item_id }) => item_id === id) ?? {},
    changes: changes.filter(({ item_id }) => item_id === id),
    landed: { ...landed, rows: landed.rows.filter(({ itemId }) => itemId === id) },
  }));
}

/** Reads all changes of the items, oldest first. Adds columns that are true if a change sets the price or the title. */
function readChanges(db: Statements, condition: string): Promise<Row[]> {
  // This repeats a rule of macros.sql, because its macros exist only in the sessions of runs.
  return db.rows(
    `SELECT *,
      previous_price IS NOT NULL OR coalesce(list_contains(json_keys(changes), 'price'), false) AS is_price_change,
      coalesce(list_contains(json_keys(changes), 'title')
        AND coalesce(changes->>'$.title[1]', '') = coalesce(title, ''), false) AS is_title_change
    FROM history WHERE ${condition} ORDER BY observed_at, change_id`,
  );
}
