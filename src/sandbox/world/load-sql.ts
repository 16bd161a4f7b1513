/** Reads Items (section 2) line by line; every column is declared, nothing is guessed. */
export const READ_ITEMS = `
CREATE TABLE loaded AS SELECT * FROM read_json($path, format = 'newline_delimited', columns = {
  id: 'BIGINT', title: 'VARCHAR', brand: 'VARCHAR', mpn: 'VARCHAR', gtin: 'VARCHAR', price: 'DECIMAL(18,4)',
  previousPrice: 'DECIMAL(18,4)', priceChangedAt: 'TIMESTAMPTZ', currency: 'VARCHAR', url: 'VARCHAR', image: 'VARCHAR',
  attributes: 'JSON', category: 'STRUCT(name VARCHAR, path VARCHAR, slug VARCHAR, source VARCHAR)', datasets: 'VARCHAR[]',
  site: 'STRUCT(id BIGINT, name VARCHAR, host VARCHAR, attribution VARCHAR)', source: 'STRUCT("modelId" BIGINT, name VARCHAR)',
  firstSeenAt: 'TIMESTAMPTZ', lastSeenAt: 'TIMESTAMPTZ', lastChangedAt: 'TIMESTAMPTZ', removedAt: 'TIMESTAMPTZ' });
`;

/** Rows that lack what an Item must have, and ids that occur twice. */
export const COUNT_BROKEN = `
SELECT count(*) AS items, count(*) - count(DISTINCT id) AS repeated,
  count(*) FILTER (id IS NULL OR id <= 0 OR site.id IS NULL OR site.name IS NULL OR site.host IS NULL OR source.modelId IS NULL
    OR source.name IS NULL OR firstSeenAt IS NULL OR lastSeenAt IS NULL OR lastChangedAt IS NULL
    OR coalesce(json_type(attributes), 'OBJECT') <> 'OBJECT') AS broken
FROM loaded`;

export const FIND_REPEATED = 'SELECT id FROM loaded GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 1';

export const LOAD_ITEMS = `
INSERT INTO items
WITH names AS (
  SELECT unnest(from_json($datasets, '[{"name":"VARCHAR","bit":"INTEGER"}]'), max_depth := 2)
), masks AS (
  SELECT id, bit_or(1 << bit) AS mask FROM (SELECT id, unnest(CASE WHEN len(datasets) > 0 THEN datasets ELSE [$unnamed] END) AS name FROM loaded)
  JOIN names USING (name) GROUP BY id
), slugs AS (
  SELECT category_id, slug FROM categories
)
SELECT row_number() OVER (ORDER BY l.id) - 1, l.id, title, brand, mpn, gtin, product_key_of(gtin, brand, mpn),
  price, previousPrice, priceChangedAt::TIMESTAMP, currency, url, image, coalesce(json(attributes)::VARCHAR, '{}'),
  s.category_id, coalesce(CASE WHEN category.slug IS NOT NULL THEN to_json(category)::VARCHAR END, 'null'),
  m.mask | CASE WHEN hash(l.id, $seed::BIGINT, 21) % $sampleOneIn::BIGINT = 0 THEN $sampleMask::INTEGER ELSE 0 END,
  site.id, to_json(site)::VARCHAR, source.modelId, to_json(source)::VARCHAR,
  firstSeenAt::TIMESTAMP, lastSeenAt::TIMESTAMP, lastChangedAt::TIMESTAMP, removedAt::TIMESTAMP, 0
FROM loaded l JOIN masks m ON m.id = l.id LEFT JOIN slugs s ON s.slug = category.slug
ORDER BY l.id;
INSERT INTO sites SELECT site.id, max(site.name), max(site.host), max(site.attribution) FROM loaded GROUP BY ALL;
INSERT INTO sources SELECT source.modelId, max(site.id), max(source.name), true, 12, 0, max(lastSeenAt)::TIMESTAMP FROM loaded GROUP BY ALL;
`;

/**
 * The past that the items tell of: first seen, then the last price change, then the removal.
 * An item that changed later still gets a change of its title, so that lastChangedAt is a change's time.
 */
export const INSERT_LOADED_PAST = `
INSERT INTO pending
WITH told AS (
  SELECT *, price_changed_at > first_seen_at AND price IS DISTINCT FROM previous_price AS price_moved,
    greatest(first_seen_at, price_changed_at, removed_at) AS told_at FROM items
)
SELECT n, 0, first_seen_at, CASE WHEN price_moved THEN previous_price ELSE price END, NULL, '{}', mask FROM told
UNION ALL
SELECT n, 1, price_changed_at, price, previous_price,
  concat('{"price":[', json_money(previous_price), ',', json_money(price), ']}'), mask FROM told WHERE price_moved
UNION ALL
SELECT n, 2, removed_at, price, NULL, '{}', mask FROM told WHERE removed_at > first_seen_at
UNION ALL
SELECT n, 1, last_changed_at, price, NULL, concat('{"title":[null,', json_text(title), ']}'), mask FROM told
WHERE last_changed_at > told_at;
DROP TABLE loaded;
`;
