-- Selects whole rows that differ from the lake: new items, and items with different values, listed by their API names.
-- The time an item was last seen, the order of attributes and of their members, and a website's name (in the sites
-- table) don't count as differences. A row that is older than the lake's doesn't differ either, because lists and exports
-- may lag behind the feed or an earlier response. They lag by at most an hour. So if another row is more than an hour newer
-- than the lake's row, a row looks older only because of the feed's skew, and it differs. A row is at most as new as the
-- time at which it was read, because a service may return a time in the future.
-- needs: exported_items, items
-- values: feed_skew INTERVAL
WITH newest AS (
  SELECT max(least(greatest(last_changed_at, last_seen_at), read_at)) - INTERVAL 1 HOUR AS until FROM exported_items
)
SELECT
  e.item_id,
  k.item_id IS NULL AS is_new,
  list_filter([
    CASE WHEN e.title IS DISTINCT FROM k.title THEN 'title' END,
    CASE WHEN e.brand IS DISTINCT FROM k.brand THEN 'brand' END,
    CASE WHEN e.mpn IS DISTINCT FROM k.mpn THEN 'mpn' END,
    CASE WHEN e.gtin IS DISTINCT FROM k.gtin THEN 'gtin' END,
    CASE WHEN e.price IS DISTINCT FROM k.price THEN 'price' END,
    CASE WHEN e.previous_price IS DISTINCT FROM k.previous_price THEN 'previousPrice' END,
    CASE WHEN e.price_changed_at IS DISTINCT FROM k.price_changed_at THEN 'priceChangedAt' END,
    CASE WHEN e.currency IS DISTINCT FROM k.currency THEN 'currency' END,
    CASE WHEN e.url IS DISTINCT FROM k.url THEN 'url' END,
    CASE WHEN e.image IS DISTINCT FROM k.image THEN 'image' END,
    CASE WHEN e.attributes IS DISTINCT FROM k.attributes
      AND json_members(e.attributes) IS DISTINCT FROM json_members(k.attributes) THEN 'attributes' END,
    CASE WHEN (e.category_name, e.category_path, e.category_slug, e.category_source)
      IS DISTINCT FROM (k.category_name, k.category_path, k.category_slug, k.category_source) THEN 'category' END,
    CASE WHEN list_sort(e.datasets) IS DISTINCT FROM list_sort(k.datasets) THEN 'datasets' END,
    CASE WHEN e.site_id IS DISTINCT FROM k.site_id THEN 'site' END,
    CASE WHEN (e.source_id, e.source_name) IS DISTINCT FROM (k.source_id, k.source_name) THEN 'source' END,
    CASE WHEN e.first_seen_at IS DISTINCT FROM k.first_seen_at THEN 'firstSeenAt' END,
    CASE WHEN e.last_changed_at IS DISTINCT FROM k.last_changed_at THEN 'lastChangedAt' END,
    CASE WHEN e.removed_at IS DISTINCT FROM k.removed_at THEN 'removedAt' END,
    CASE WHEN k.gone_at IS NOT NULL THEN 'gone' END
  ], lambda name: name IS NOT NULL) AS differences
FROM exported_items AS e
CROSS JOIN newest
LEFT JOIN items AS k USING (item_id)
WHERE is_new
  OR (len(differences) > 0 AND NOT is_older_row(
    e.last_changed_at, e.last_seen_at, e.removed_at, k.last_changed_at, k.last_seen_at, k.removed_at,
    (e.price IS NOT DISTINCT FROM k.price AND e.title IS NOT DISTINCT FROM k.title) OR k.last_changed_at < newest.until,
    getvariable('feed_skew')))
