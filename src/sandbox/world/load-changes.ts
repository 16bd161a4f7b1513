import { findBadChange } from './find-bad-line.js';
import { isText } from './load-sql.js';
import { KINDS, publishOrdered, selectChangeLines } from './publish-changes.js';
import { readNdjson } from './unpack-file.js';
import type { World } from './world.js';
import type { WorldSession } from './world-database.js';

/**
 * Adds the Changes in an NDJSON file, optionally gzipped, to the feed. The items must be loaded already. Returns the
 * time of the latest change in milliseconds since 1970.
 */
export async function publishRecordedPast(world: World, session: WorldSession, file: string): Promise<number> {
  let latest: unknown;
  await readNdjson(world.directory, {
    file,
    row: 'Change',
    hint: 'Each line must be a Change as GET /api/v1/changes returns it, oldest first; item is null if it is not among the Items.',
    async read(path) {
      await session.run(READ_CHANGES, { path });
      const found = await session.row(JUDGE_CHANGES);
      latest = found?.latest;
      return found?.fault;
    },
    async findBadLine(path) {
      const rows = await session.rows('SELECT item_id FROM items');
      return findBadChange(path, new Set(rows.map(({ item_id }) => item_id as bigint)));
    },
  });
  await session.run(ORDER_RECORDED);
  // Publishes each change with its item exactly as the file has it.
  await publishOrdered(world, session, selectChangeLines("coalesce(o.item_json, 'null')"));
  return Number(latest);
}

/** Reads Changes (API §2) in the order of the file. Declares the column types, so that DuckDB doesn't guess them. */
const READ_CHANGES = `
CREATE TABLE read_changes AS SELECT * FROM read_json($path, format = 'newline_delimited', columns = {
  id: 'BIGINT', kind: 'VARCHAR', observedAt: 'TIMESTAMPTZ', price: 'JSON', previousPrice: 'JSON', changes: 'JSON', item: 'JSON' });
CREATE TABLE recorded AS
SELECT row_number() OVER () - 1 AS c, id, list_position(${KINDS}, kind) - 1 AS kind, observedAt::TIMESTAMP AS observed_at,
  TRY_CAST(unmarked_json(price::VARCHAR) AS DECIMAL(18,4)) AS price,
  TRY_CAST(unmarked_json(previousPrice::VARCHAR) AS DECIMAL(18,4)) AS previous_price,
  unmarked_json(price::VARCHAR) AS price_text, unmarked_json(previousPrice::VARCHAR) AS previous_text,
  unmarked_json(changes::VARCHAR) AS changes, nullif(unmarked_json(item::VARCHAR), 'null') AS item_json
FROM read_changes;
DROP TABLE read_changes;
`;

/** Finds changes that lack a required field, are out of order, or belong to an unknown item. */
const JUDGE_CHANGES = `
SELECT epoch_ms(max(observed_at)) AS latest, CASE WHEN count(*) = 0 THEN 'the file holds no changes'
  WHEN bool_or(id IS NULL OR id <= 0 OR kind IS NULL OR observed_at IS NULL OR id <= id_before OR observed_at < observed_before
    OR coalesce(json_type(changes), 'NULL') <> 'OBJECT'
    OR price IS DISTINCT FROM TRY_CAST(price_text AS DECIMAL(38,18)) OR (price IS NULL) <> (coalesce(price_text, 'null') = 'null')
    OR previous_price IS DISTINCT FROM TRY_CAST(previous_text AS DECIMAL(38,18))
    OR (previous_price IS NULL) <> (coalesce(previous_text, 'null') = 'null')
    OR (item_json IS NOT NULL AND (n IS NULL OR coalesce(json_type(item_json->'title'), 'NULL') NOT IN ('VARCHAR', 'NULL')
      OR NOT ${isText("item_json->'site'->'name'")} OR NOT ${isText("item_json->'site'->'host'")}))) THEN 'a change is broken' END AS fault
FROM (
  SELECT r.*, i.n, lag(r.id) OVER (ORDER BY c) AS id_before, lag(r.observed_at) OVER (ORDER BY c) AS observed_before
  FROM recorded r LEFT JOIN items i ON i.item_id = TRY_CAST(r.item_json->>'id' AS BIGINT)
)`;

/** Creates the table that `publishOrdered` reads. Changes whose item no longer exists are visible to all callers. */
const ORDER_RECORDED = `
CREATE OR REPLACE TABLE ordered AS
SELECT c, r.id AS change_id, i.n, kind::TINYINT AS kind, observed_at, r.price, r.previous_price, changes, item_json,
  coalesce(i.mask, (SELECT bit_or(mask) FROM items)) AS mask,
  CASE WHEN r.price < r.previous_price THEN -1 WHEN r.price > r.previous_price THEN 1 ELSE 0 END::TINYINT AS move
FROM recorded r LEFT JOIN items i ON i.item_id = TRY_CAST(r.item_json->>'id' AS BIGINT) ORDER BY c;
DROP TABLE recorded;
`;
