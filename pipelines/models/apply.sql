-- Rows of items that the pending changes and whole reads make new: for each touched item the newest whole read,
-- then the changes that came after it, in order. Replays and overlaps do nothing.
-- Views: ground_items (rows so far), reread_items (whole reads, one an item), pending_changes, site_names.
WITH touched AS (
  SELECT item_id FROM pending_changes WHERE item_id IS NOT NULL
  UNION
  SELECT item_id FROM reread_items
),
base AS (
  SELECT * FROM (
    SELECT *, false AS is_reread FROM ground_items SEMI JOIN touched USING (item_id)
    UNION ALL BY NAME
    SELECT *, true AS is_reread FROM reread_items
  )
  QUALIFY row_number() OVER (PARTITION BY item_id ORDER BY last_changed_at DESC NULLS LAST, is_reread DESC) = 1
),
-- A change at exactly the time that the row shows is applied again: in order, that gives the same row.
eligible AS (
  SELECT c.*, c.previous_price IS NOT NULL OR coalesce(json_exists(c.changes, '$.price'), false) AS is_price_change
  FROM pending_changes AS c
  LEFT JOIN base AS b USING (item_id)
  WHERE c.item_id IS NOT NULL
    AND (b.change_id IS NULL OR c.change_id > b.change_id)
    AND (b.last_changed_at IS NULL OR c.observed_at >= b.last_changed_at)
),
told AS (
  SELECT
    item_id,
    max(change_id) AS change_id,
    min(observed_at) AS first_observed_at,
    max(observed_at) AS observed_at,
    max(observed_at) FILTER (WHERE kind <> 'REMOVED') AS seen_at,
    arg_max(title, change_id) AS title,
    arg_max(url, change_id) AS url,
    arg_max(currency, change_id) AS currency,
    arg_max(site_id, change_id) AS site_id,
    arg_max({'price': price, 'previous_price': previous_price, 'observed_at': observed_at}, change_id)
      FILTER (WHERE is_price_change) AS price_change,
    arg_max(price, change_id) FILTER (WHERE kind IN ('NEW', 'RELISTED')) AS listing_price,
    arg_max({'kind': kind, 'observed_at': observed_at}, change_id)
      FILTER (WHERE kind IN ('NEW', 'REMOVED', 'RELISTED')) AS listing
  FROM eligible
  GROUP BY item_id
)
SELECT
  coalesce(b.item_id, t.item_id) AS item_id,
  coalesce(t.title, b.title) AS title,
  b.brand, b.mpn, b.gtin, b.gtin14, b.product_id,
  CASE WHEN t.price_change IS NOT NULL THEN t.price_change.price ELSE coalesce(t.listing_price, b.price) END AS price,
  CASE WHEN t.price_change IS NOT NULL THEN t.price_change.previous_price ELSE b.previous_price END AS previous_price,
  CASE WHEN t.price_change IS NOT NULL THEN t.price_change.observed_at ELSE b.price_changed_at END AS price_changed_at,
  coalesce(b.currency, t.currency) AS currency,
  coalesce(b.url, t.url) AS url,
  b.image, b.attributes, b.category_name, b.category_path, b.category_slug, b.category_source, b.datasets,
  coalesce(b.site_id, t.site_id) AS site_id,
  coalesce(b.site_name, s.name) AS site_name,
  coalesce(b.site_host, s.host) AS site_host,
  b.source_id, b.source_name,
  coalesce(b.first_seen_at, t.first_observed_at) AS first_seen_at,
  greatest(b.last_seen_at, t.seen_at) AS last_seen_at,
  greatest(b.last_changed_at, t.observed_at) AS last_changed_at,
  CASE WHEN t.listing IS NULL THEN b.removed_at WHEN t.listing.kind = 'REMOVED' THEN t.listing.observed_at END AS removed_at,
  CASE WHEN t.listing IS NULL THEN coalesce(b.is_listed, true) ELSE t.listing.kind <> 'REMOVED' END AS is_listed,
  b.extra,
  b.read_at,
  coalesce(t.change_id, b.change_id) AS change_id,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id,
  coalesce(b.is_reread, false) AS is_reread
FROM base AS b
FULL JOIN told AS t USING (item_id)
LEFT JOIN site_names AS s ON s.site_id = t.site_id
WHERE (t.item_id IS NOT NULL OR b.is_reread) AND coalesce(b.site_id, t.site_id) IS NOT NULL
