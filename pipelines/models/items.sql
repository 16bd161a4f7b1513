-- Landed items → typed items. One row in, one row out: `reject_reason` is null, or says why the row can't be typed.
-- View landed_items: every value as the text that arrived, JSON numbers unrounded (section 2, Item).
WITH typed AS (
  SELECT
    part, line_number, raw,
    exact_bigint(id) AS item_id,
    title, brand, mpn, gtin,
    valid_gtin14(gtin) AS gtin14,
    product_key(gtin, brand, mpn) AS product_id,
    exact_money(price) AS price,
    exact_money(previous_price) AS previous_price,
    exact_instant(price_changed_at) AS price_changed_at,
    currency, url, image, attributes,
    category_name, category_path, category_slug, category_source, datasets,
    exact_bigint(site_id) AS site_id,
    site_name, site_host, site_attribution,
    exact_bigint(source_id) AS source_id,
    source_name,
    exact_instant(first_seen_at) AS first_seen_at,
    exact_instant(last_seen_at) AS last_seen_at,
    exact_instant(last_changed_at) AS last_changed_at,
    exact_instant(removed_at) AS removed_at,
    removed_at IS NULL AS is_listed,
    CAST(NULL AS TIMESTAMP WITH TIME ZONE) AS gone_at,
    extra,
    CAST(read_at AS TIMESTAMP WITH TIME ZONE) AS read_at,
    CAST(NULL AS BIGINT) AS change_id,
    CAST(getvariable('run_id') AS VARCHAR) AS run_id,
    CASE
      WHEN exact_bigint(id) IS NULL THEN 'id ' || coalesce('"' || id || '"', 'null') || ' is not an int64'
      WHEN exact_bigint(site_id) IS NULL THEN 'site.id ' || coalesce('"' || site_id || '"', 'null') || ' is not an int64'
      WHEN price IS NOT NULL AND exact_money(price) IS NULL THEN 'price "' || price || '" does not fit DECIMAL(18,4)'
      WHEN previous_price IS NOT NULL AND exact_money(previous_price) IS NULL
        THEN 'previousPrice "' || previous_price || '" does not fit DECIMAL(18,4)'
      WHEN source_id IS NOT NULL AND exact_bigint(source_id) IS NULL
        THEN 'source.modelId "' || source_id || '" is not an int64'
      WHEN price_changed_at IS NOT NULL AND exact_instant(price_changed_at) IS NULL
        THEN 'priceChangedAt "' || price_changed_at || '" is not a date-time of the years 1 to 9999'
      WHEN first_seen_at IS NOT NULL AND exact_instant(first_seen_at) IS NULL
        THEN 'firstSeenAt "' || first_seen_at || '" is not a date-time of the years 1 to 9999'
      WHEN last_seen_at IS NOT NULL AND exact_instant(last_seen_at) IS NULL
        THEN 'lastSeenAt "' || last_seen_at || '" is not a date-time of the years 1 to 9999'
      WHEN last_changed_at IS NOT NULL AND exact_instant(last_changed_at) IS NULL
        THEN 'lastChangedAt "' || last_changed_at || '" is not a date-time of the years 1 to 9999'
      WHEN removed_at IS NOT NULL AND exact_instant(removed_at) IS NULL
        THEN 'removedAt "' || removed_at || '" is not a date-time of the years 1 to 9999'
    END AS reject_reason
  FROM landed_items
)
SELECT * FROM typed
