-- part of: judged_offers and all_offers
-- Facts about single offers. Reads offered (columns of items). Returns what attributes and the pipeline file's words
-- state (offer_attributes.sql), and facts: the findings that need no comparison of prices, each with its reason.
WITH told AS MATERIALIZED (FROM 'offer_attributes.sql')
SELECT
  offered.* EXCLUDE (source_id),
  told.* EXCLUDE (item_id),
  -- Prices that people type to fill a required field. Some are real, so the prices of other shops decide.
  price IN (1111, 11111, 111111, 1234, 12345, 123456, 9999, 99999, 999999, 9999.99, 99999.99, 999999.99) AS is_filler,
  CASE WHEN price <= 0.01 OR shop_currencies.currency <> offered.currency OR is_stale OR availability = 'out of stock' OR condition <> 'new'
    THEN list_filter([
      {'finding': 'placeholder', 'why': CASE WHEN price <= 0.01 THEN 'a price of ' || price || ' only fills the field' END},
      {'finding': 'currency', 'why': 'priced in ' || offered.currency || ', but its shop sells in ' || nullif(shop_currencies.currency, offered.currency)},
      {'finding': 'stale', 'why': CASE WHEN is_stale THEN 'its source was last seen on ' || (sources.last_seen_at AT TIME ZONE 'UTC')::DATE END},
      {'finding': 'out_of_stock', 'why': CASE WHEN availability = 'out of stock' THEN 'out of stock' END},
      {'finding': 'condition', 'why': nullif(condition, 'new')}
    ], lambda one: one.why IS NOT NULL) ELSE [] END AS facts
FROM offered
LEFT JOIN told USING (item_id)
LEFT JOIN shop_currencies ON shop_currencies.site_id = offered.site_id
LEFT JOIN sources ON sources.site_id = offered.site_id AND sources.source_id = offered.source_id
