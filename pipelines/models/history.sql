-- Converts landed changes of the feed, of webhooks or of item histories to typed rows of history. `reject_reason`
-- states why a row can't be typed; it is null for a typed row. Landed values are unconverted text (section 2, Change).
-- needs: landed_changes
-- values: origin VARCHAR, run_id VARCHAR
WITH cast_once AS (
  SELECT
    *,
    exact_bigint(id) AS change_id,
    exact_bigint(item_id) AS item,
    exact_instant(observed_at) AS observed,
    exact_money(price) AS price_amount,
    exact_money(previous_price) AS previous_amount,
    exact_bigint(site_id) AS site
  FROM landed_changes
)
SELECT
  part, line_number, raw,
  change_id,
  item AS item_id,
  kind,
  observed AS observed_at,
  CAST(observed AS DATE) AS observed_date,
  price_amount AS price,
  previous_amount AS previous_price,
  currency, changes, title, url,
  site AS site_id,
  site_name, site_host, site_attribution,
  coalesce(CAST(getvariable('origin') AS VARCHAR), 'feed') AS origin,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id,
  CASE
    WHEN change_id IS NULL THEN 'id ' || coalesce('"' || id || '"', 'null') || ' is not an int64'
    -- A change of an unknown kind is kept, and its item is read in full (needs.sql).
    WHEN kind IS NULL THEN 'kind is missing'
    WHEN observed IS NULL
      THEN 'observedAt ' || coalesce('"' || c.observed_at || '"', 'null') || ' is not a date-time of the years 1 to 9999'
    WHEN c.price IS NOT NULL AND price_amount IS NULL THEN 'price "' || c.price || '" does not fit DECIMAL(18,4)'
    WHEN c.previous_price IS NOT NULL AND previous_amount IS NULL
      THEN 'previousPrice "' || c.previous_price || '" does not fit DECIMAL(18,4)'
    WHEN c.item_id IS NOT NULL AND item IS NULL THEN 'item.id "' || c.item_id || '" is not an int64'
    WHEN c.site_id IS NOT NULL AND site IS NULL THEN 'item.site.id "' || c.site_id || '" is not an int64'
  END AS reject_reason
FROM cast_once AS c
