-- Landed changes of the feed, of webhooks or of items' histories → typed history. `reject_reason` is null, or says why the row can't be typed.
-- View landed_changes: every value as the text that arrived (section 2, Change).
SELECT
  part, line_number, raw,
  exact_bigint(id) AS change_id,
  exact_bigint(item_id) AS item_id,
  kind,
  exact_instant(observed_at) AS observed_at,
  CAST(exact_instant(observed_at) AS DATE) AS observed_date,
  exact_money(price) AS price,
  exact_money(previous_price) AS previous_price,
  currency, changes, title, url,
  exact_bigint(site_id) AS site_id,
  site_name, site_host, site_attribution,
  coalesce(CAST(getvariable('origin') AS VARCHAR), 'feed') AS origin,
  CAST(getvariable('run_id') AS VARCHAR) AS run_id,
  CASE
    WHEN exact_bigint(id) IS NULL THEN 'id ' || coalesce('"' || id || '"', 'null') || ' is not an int64'
    WHEN kind IS NULL OR kind NOT IN ('NEW', 'CHANGED', 'REMOVED', 'RELISTED')
      THEN 'kind ' || coalesce('"' || kind || '"', 'null') || ' is not NEW, CHANGED, REMOVED or RELISTED'
    WHEN exact_instant(observed_at) IS NULL
      THEN 'observedAt ' || coalesce('"' || observed_at || '"', 'null') || ' is not a date-time of the years 1 to 9999'
    WHEN price IS NOT NULL AND exact_money(price) IS NULL THEN 'price "' || price || '" does not fit DECIMAL(18,4)'
    WHEN previous_price IS NOT NULL AND exact_money(previous_price) IS NULL
      THEN 'previousPrice "' || previous_price || '" does not fit DECIMAL(18,4)'
    WHEN item_id IS NOT NULL AND exact_bigint(item_id) IS NULL THEN 'item.id "' || item_id || '" is not an int64'
    WHEN site_id IS NOT NULL AND exact_bigint(site_id) IS NULL THEN 'item.site.id "' || site_id || '" is not an int64'
  END AS reject_reason
FROM landed_changes
