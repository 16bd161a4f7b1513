-- Converts landed items to typed items, row by row. `reject_reason` states why a row can't be typed; it is null for a
-- typed row. Landed values are unconverted text, with unrounded JSON numbers (section 2, Item). If a time is nullable,
-- a programming language's zero time counts as null.
-- needs: landed_items
-- values: run_id VARCHAR
WITH landed AS (
  SELECT * REPLACE (
    CASE WHEN NOT is_zero_time(price_changed_at) THEN price_changed_at END AS price_changed_at,
    CASE WHEN NOT is_zero_time(removed_at) THEN removed_at END AS removed_at
  )
  FROM landed_items
),
cast_once AS (
  SELECT
    *,
    exact_bigint(id) AS item_id,
    exact_money(price) AS price_amount,
    exact_money(previous_price) AS previous_amount,
    exact_instant(price_changed_at) AS price_changed,
    exact_bigint(site_id) AS site,
    exact_bigint(source_id) AS source,
    exact_instant(first_seen_at) AS first_seen,
    exact_instant(last_seen_at) AS last_seen,
    exact_instant(last_changed_at) AS last_changed,
    exact_instant(removed_at) AS removed
  FROM landed
)
SELECT
  part, line_number, raw,
  item_id,
  title, brand, mpn, gtin,
  valid_gtin14(gtin) AS gtin14,
  product_key(gtin, brand, mpn) AS product_id,
  price_amount AS price,
  previous_amount AS previous_price,
  price_changed AS price_changed_at,
  currency, url, image, attributes,
  category_name, category_path, category_slug, category_source, datasets,
  site AS site_id,
  site_name, site_host, site_attribution,
  source AS source_id,
  source_name,
  first_seen AS first_seen_at,
  last_seen AS last_seen_at,
  last_changed AS last_changed_at,
  removed AS removed_at,
  c.removed_at IS NULL AS is_listed,
  CAST(NULL AS TIMESTAMP WITH TIME ZONE) AS gone_at,
  extra,
  CAST(read_at AS TIMESTAMP WITH TIME ZONE) AS read_at,
  CAST(NULL AS BIGINT) AS change_id,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id,
  CASE
    WHEN item_id IS NULL THEN 'id ' || coalesce('"' || id || '"', 'null') || ' is not an int64'
    WHEN site IS NULL THEN 'site.id ' || coalesce('"' || c.site_id || '"', 'null') || ' is not an int64'
    WHEN c.price IS NOT NULL AND price_amount IS NULL THEN 'price "' || c.price || '" does not fit DECIMAL(18,4)'
    WHEN c.previous_price IS NOT NULL AND previous_amount IS NULL
      THEN 'previousPrice "' || c.previous_price || '" does not fit DECIMAL(18,4)'
    WHEN c.source_id IS NOT NULL AND source IS NULL
      THEN 'source.modelId "' || c.source_id || '" is not an int64'
    WHEN c.price_changed_at IS NOT NULL AND price_changed IS NULL
      THEN 'priceChangedAt "' || c.price_changed_at || '" is not a date-time of the years 1 to 9999'
    WHEN c.first_seen_at IS NOT NULL AND first_seen IS NULL
      THEN 'firstSeenAt "' || c.first_seen_at || '" is not a date-time of the years 1 to 9999'
    WHEN c.last_seen_at IS NOT NULL AND last_seen IS NULL
      THEN 'lastSeenAt "' || c.last_seen_at || '" is not a date-time of the years 1 to 9999'
    WHEN c.last_changed_at IS NOT NULL AND last_changed IS NULL
      THEN 'lastChangedAt "' || c.last_changed_at || '" is not a date-time of the years 1 to 9999'
    WHEN c.removed_at IS NOT NULL AND removed IS NULL
      THEN 'removedAt "' || c.removed_at || '" is not a date-time of the years 1 to 9999'
  END AS reject_reason
FROM cast_once AS c
