/** SQL of the exact floor. It does the same work as the plain floor, but with the package's own exact casts. */

import { readModel } from '../../src/sql/model.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { columnsOf } from '../../src/sql/sql.js';
import { type LandedFile, landedChangesSql, landedItemsSql } from '../../src/typing/landed.js';
import { detectShape } from '../../src/typing/shape.js';
import type { ChangesPlaces } from './plain.js';

const ITEMS = columnsOf('items').text;
const HISTORY = columnsOf('history').text;

const BEGIN = `SET TimeZone = 'UTC';
SET preserve_insertion_order = false;
${readModel('macros')};
SET VARIABLE run_id = 'floor';
`;

const lines = (path: string): LandedFile => ({
  path,
  layout: 'lines',
  marked: false,
  part: 'part',
  readAt: '2026-01-01T00:00:00Z',
});

const writeItems = (select: string, folder: string) => `COPY (${select}) TO ${quoteLiteral(folder)}
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (site_id), WRITE_PARTITION_COLUMNS true);
`;

/** Returns SQL that types a downloaded export and writes it as zstd Parquet, partitioned by website like a lake. */
export function firstCopySql(source: string, target: string): string {
  const landed = landedItemsSql([lines(source)], detectShape(new Map()));
  return `${BEGIN}CREATE TEMP VIEW landed_items AS ${landed};
${writeItems(`SELECT ${ITEMS} FROM (${readModel('items')})`, target)}`;
}

/**
 * Returns SQL that types the downloaded changes, writes them as days of history, and rewrites the affected partitions
 * with the newest row of each item. It applies no other rules.
 */
export function changesSql({ source, reread, items, target }: ChangesPlaces): string {
  const old = `read_parquet(${quoteLiteral(`${items}/*.parquet`)}, hive_partitioning = false)`;
  return `${BEGIN}CREATE TEMP VIEW landed_changes AS ${landedChangesSql(lines(source))};
CREATE TEMP TABLE changes AS SELECT ${HISTORY} FROM (${readModel('history')});
COPY changes TO ${quoteLiteral(`${target}/history`)}
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (observed_date), WRITE_PARTITION_COLUMNS true);
CREATE TEMP TABLE reread AS SELECT ${ITEMS} FROM ${old} WHERE false;
CREATE TEMP VIEW landed_items AS ${landedItemsSql([lines(reread)], detectShape(new Map()))};
INSERT INTO reread SELECT ${ITEMS} FROM (${readModel('items')})
  QUALIFY row_number() OVER (PARTITION BY item_id ORDER BY last_changed_at DESC) = 1;
CREATE TEMP TABLE told AS
  SELECT item_id, arg_max(price, change_id) AS price, arg_max(previous_price, change_id) AS previous_price,
    max(observed_at) AS observed_at, arg_max(kind, change_id) AS kind, max(change_id) AS change_id
  FROM changes WHERE item_id IS NOT NULL GROUP BY item_id;
${writeItems(
  `SELECT * FROM reread
  UNION ALL
  SELECT i.* REPLACE (
    CASE WHEN t.kind = 'CHANGED' THEN t.price ELSE i.price END AS price,
    coalesce(t.previous_price, i.previous_price) AS previous_price,
    coalesce(t.observed_at, i.last_changed_at) AS last_changed_at,
    CASE WHEN t.kind = 'REMOVED' THEN t.observed_at ELSE i.removed_at END AS removed_at,
    coalesce(t.kind <> 'REMOVED', i.is_listed) AS is_listed,
    coalesce(t.change_id, i.change_id) AS change_id)
  FROM ${old} AS i LEFT JOIN told AS t USING (item_id)
  WHERE i.site_id IN (SELECT DISTINCT site_id FROM changes) AND i.item_id NOT IN (SELECT item_id FROM reread)`,
  `${target}/items`,
)}`;
}
