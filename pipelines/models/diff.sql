-- Computes rows of history for differences between whole rows and the lake that no change of the feed explains.
-- needs: exported_items, history, items, mismatched_items
-- values: run_id VARCHAR
WITH pairs AS (
  SELECT d.is_new, d.differences, e, k
  FROM mismatched_items AS d
  JOIN (
    SELECT
      item_id, title, brand, mpn, gtin, price, price_changed_at, currency, url, image, attributes, category_path, site_id,
      first_seen_at, last_seen_at, last_changed_at, removed_at, read_at
    FROM exported_items
  ) AS e USING (item_id)
  LEFT JOIN (
    SELECT item_id, title, brand, mpn, gtin, price, currency, url, image, attributes, category_path, site_id, removed_at
    FROM items
  ) AS k USING (item_id)
),
steps AS (
  SELECT *,
    CASE
      WHEN is_new THEN 'NEW'
      WHEN k.removed_at IS NULL AND e.removed_at IS NOT NULL THEN 'REMOVED'
      WHEN k.removed_at IS NOT NULL AND e.removed_at IS NULL THEN 'RELISTED'
      ELSE 'CHANGED'
    END AS kind
  FROM pairs
  -- Values that depend on other values, or on the read itself, don't count as changes.
  WHERE is_new OR len(list_filter(differences, lambda name: name NOT IN
    ('datasets', 'gone', 'lastChangedAt', 'previousPrice', 'priceChangedAt', 'firstSeenAt', 'source'))) > 0
),
timed AS (
  SELECT *,
    coalesce(
      CASE kind
        WHEN 'NEW' THEN e.first_seen_at
        WHEN 'REMOVED' THEN e.removed_at
        -- No field states when an item was relisted, so the row's first time after the removal is an upper bound.
        WHEN 'RELISTED' THEN CASE
          WHEN e.last_changed_at > k.removed_at THEN e.last_changed_at
          WHEN e.price_changed_at > k.removed_at THEN e.price_changed_at
          WHEN e.last_seen_at > k.removed_at THEN e.last_seen_at
          ELSE e.read_at
        END
        WHEN 'CHANGED' THEN CASE WHEN e.price IS DISTINCT FROM k.price THEN e.price_changed_at END
      END, e.last_changed_at, e.read_at) AS observed_at
  FROM steps
),
-- An item that was added and removed between two reads gets two changes.
events AS (
  SELECT kind, observed_at, is_new, differences, e, k FROM timed
  UNION ALL
  SELECT 'REMOVED', e.removed_at, is_new, ['removedAt'], e, k FROM timed WHERE is_new AND e.removed_at > observed_at
)
SELECT
  CAST(NULL AS BIGINT) AS change_id,
  e.item_id,
  kind,
  observed_at,
  CAST(timezone('UTC', observed_at) AS DATE) AS observed_date,
  e.price AS price,
  CASE WHEN NOT is_new AND e.price IS DISTINCT FROM k.price THEN k.price END AS previous_price,
  e.currency AS currency,
  CASE WHEN is_new THEN '{}' ELSE '{' || concat_ws(',',
    CASE WHEN list_contains(differences, 'title') THEN '"title":' || json_array(k.title, e.title) END,
    CASE WHEN list_contains(differences, 'brand') THEN '"brand":' || json_array(k.brand, e.brand) END,
    CASE WHEN list_contains(differences, 'mpn') THEN '"mpn":' || json_array(k.mpn, e.mpn) END,
    CASE WHEN list_contains(differences, 'gtin') THEN '"gtin":' || json_array(k.gtin, e.gtin) END,
    CASE WHEN list_contains(differences, 'price') THEN '"price":' || money_pair(k.price, e.price) END,
    CASE WHEN list_contains(differences, 'currency') THEN '"currency":' || json_array(k.currency, e.currency) END,
    CASE WHEN list_contains(differences, 'url') THEN '"url":' || json_array(k.url, e.url) END,
    CASE WHEN list_contains(differences, 'image') THEN '"image":' || json_array(k.image, e.image) END,
    CASE WHEN list_contains(differences, 'attributes')
      THEN '"attributes":[' || coalesce(k.attributes, 'null') || ',' || coalesce(e.attributes, 'null') || ']' END,
    CASE WHEN list_contains(differences, 'category') THEN '"category":' || json_array(k.category_path, e.category_path) END,
    CASE WHEN list_contains(differences, 'site') THEN '"site":' || json_array(k.site_id, e.site_id) END
  ) || '}' END AS changes,
  e.title AS title,
  e.url AS url,
  e.site_id AS site_id,
  'diff' AS origin,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id
FROM events
WHERE NOT EXISTS (
  SELECT 1 FROM history AS h WHERE h.item_id = events.e.item_id AND h.observed_at = events.observed_at AND h.kind = events.kind
)
