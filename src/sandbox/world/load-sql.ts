import { NUMBER_MARK } from './unpack-file.js';

/** Creates a macro that removes NUMBER_MARK from the numbers in JSON text. */
export const CREATE_LOAD_MACROS = `
CREATE MACRO unmarked_json(text) AS CASE WHEN contains(text, '${NUMBER_MARK}')
  THEN regexp_replace(text, '"${NUMBER_MARK}([-+.0-9eE]+)"', '\\1', 'g') ELSE text END;
`;

/** Reads Items (API §2). Declares the column types, so that DuckDB doesn't guess them. Prices stay text. */
export const READ_ITEMS = `
CREATE TABLE read AS SELECT * FROM read_json($path, format = 'newline_delimited', columns = {
  id: 'BIGINT', title: 'VARCHAR', brand: 'VARCHAR', mpn: 'VARCHAR', gtin: 'VARCHAR', price: 'JSON',
  previousPrice: 'JSON', priceChangedAt: 'TIMESTAMPTZ', currency: 'VARCHAR', url: 'VARCHAR', image: 'VARCHAR',
  attributes: 'JSON', category: 'JSON', datasets: 'VARCHAR[]', site: 'JSON', source: 'JSON',
  firstSeenAt: 'TIMESTAMPTZ', lastSeenAt: 'TIMESTAMPTZ', lastChangedAt: 'TIMESTAMPTZ', removedAt: 'TIMESTAMPTZ' });
CREATE TABLE loaded AS SELECT * REPLACE (
    TRY_CAST(unmarked_json(price::VARCHAR) AS DECIMAL(18,4)) AS price,
    TRY_CAST(unmarked_json(previousPrice::VARCHAR) AS DECIMAL(18,4)) AS previousPrice,
    unmarked_json(attributes::VARCHAR) AS attributes, unmarked_json(category::VARCHAR) AS category,
    unmarked_json(site::VARCHAR) AS site, unmarked_json(source::VARCHAR) AS source),
  unmarked_json(price::VARCHAR) AS price_text, unmarked_json(previousPrice::VARCHAR) AS previous_text,
  category->>'slug' AS slug, TRY_CAST(site->>'id' AS BIGINT) AS site_id, TRY_CAST(source->>'modelId' AS BIGINT) AS model_id
FROM read;
DROP TABLE read;
`;

/** Reads fields that the API document doesn't define, as JSON text to append to the other fields. */
export const READ_EXTRAS = `
CREATE TABLE extras AS
WITH found AS (
  SELECT json, list_filter(json_keys(json), lambda k: NOT list_contains($known, k)) AS keys
  FROM read_json_objects($path, format = 'newline_delimited')
), fields AS (
  SELECT (json->>'id')::BIGINT AS id, unnest(keys) AS key, generate_subscripts(keys, 1) AS place, json FROM found WHERE len(keys) > 0
)
SELECT id, string_agg(concat(',', to_json(key), ':', unmarked_json(json_extract(json, json_pointer(key))::VARCHAR)), '' ORDER BY place) AS extra,
  list(key) AS keys
FROM fields GROUP BY id;
`;

export const isText = (sql: string) => `coalesce(json_type(${sql}), 'NULL') = 'VARCHAR'`;

/** Finds items that lack a required field, repeated ids, and prices with more digits than the sandbox stores. */
export const JUDGE_ITEMS = `
SELECT CASE WHEN count(*) = 0 THEN 'the file holds no items'
  WHEN bool_or(price IS DISTINCT FROM TRY_CAST(price_text AS DECIMAL(38,18))
    OR previousPrice IS DISTINCT FROM TRY_CAST(previous_text AS DECIMAL(38,18))
    OR (price IS NULL) <> (price_text IS NULL) OR (previousPrice IS NULL) <> (previous_text IS NULL)) THEN 'a price has too many digits'
  WHEN bool_or(id IS NULL OR id <= 0 OR site_id IS NULL OR NOT ${isText("site->'name'")} OR NOT ${isText("site->'host'")}
    OR model_id IS NULL OR NOT ${isText("source->'name'")} OR firstSeenAt IS NULL OR lastSeenAt IS NULL OR lastChangedAt IS NULL
    OR coalesce(json_type(attributes), 'OBJECT') <> 'OBJECT'
    OR (category IS NOT NULL AND NOT (${isText("category->'slug'")} AND ${isText("category->'path'")} AND ${isText("category->'name'")})))
  THEN 'a field of an Item is missing'
  WHEN count(DISTINCT id) < count(*) THEN 'an id occurs more than once' END AS fault
FROM loaded`;

export const LOAD_ITEMS = `
INSERT INTO items
WITH names AS (
  SELECT unnest(from_json($datasets, '[{"name":"VARCHAR","bit":"INTEGER"}]'), max_depth := 2)
), masks AS (
  SELECT id, bit_or(1 << bit) AS mask FROM (SELECT id, unnest(CASE WHEN len(datasets) > 0 THEN datasets ELSE [$unnamed] END) AS name FROM loaded)
  JOIN names USING (name) GROUP BY id
), slugs AS (
  SELECT unnest(from_json($categories, '[{"id":"INTEGER","slug":"VARCHAR"}]'), max_depth := 2)
)
SELECT row_number() OVER (ORDER BY l.id) - 1, l.id, title, brand, mpn, gtin, product_key_of(gtin, brand, mpn),
  price, previousPrice, priceChangedAt::TIMESTAMP, currency, url, image, coalesce(attributes, '{}'),
  s.id, coalesce(category, 'null'),
  m.mask | CASE WHEN draw(l.id, $seed::BIGINT, 21) % $sampleOneIn::BIGINT = 0 THEN $sampleMask::INTEGER ELSE 0 END,
  site_id, site, model_id, source,
  firstSeenAt::TIMESTAMP, lastSeenAt::TIMESTAMP, lastChangedAt::TIMESTAMP, removedAt::TIMESTAMP, 0, e.extra, NULL,
  greatest(firstSeenAt, priceChangedAt, lastChangedAt, removedAt)::TIMESTAMP
FROM loaded l JOIN masks m ON m.id = l.id LEFT JOIN slugs s ON s.slug = l.slug LEFT JOIN extras e ON e.id = l.id
ORDER BY l.id;
INSERT INTO sources SELECT model_id, true, max(lastSeenAt)::TIMESTAMP FROM loaded GROUP BY ALL;
`;

/**
 * Adds the past changes that the items imply: when each was first seen, its last price change, and its removal. An item
 * with a later lastChangedAt gets a title change at that time.
 */
export const INSERT_LOADED_PAST = `
INSERT INTO pending
WITH described AS (
  SELECT *, price_changed_at > first_seen_at AND price IS DISTINCT FROM previous_price AS price_moved,
    greatest(first_seen_at, price_changed_at, removed_at) AS described_until FROM items
)
SELECT n, 0, first_seen_at, CASE WHEN price_moved THEN previous_price ELSE price END, NULL, '{}', mask FROM described
UNION ALL
SELECT n, 1, price_changed_at, price, previous_price,
  concat('{', price_member(previous_price, price), '}'), mask FROM described WHERE price_moved
UNION ALL
SELECT n, 2, removed_at, price, NULL, '{}', mask FROM described WHERE removed_at > first_seen_at
UNION ALL
SELECT n, 1, last_changed_at, price, NULL, concat('{"title":[null,', json_text(title), ']}'), mask FROM described
WHERE last_changed_at > described_until;
`;

export const DROP_LOADED = 'DROP TABLE loaded; DROP TABLE extras;';
