-- The prices of one product over time: one row per price of each listing, the shop with the lowest current price first.
-- A price is valid from from_at until before to_at, which is null if it is current; began and ended have the same
-- meaning as in the price_spells view. is_suspect: the price looks wrong. is_counted: true if a current price counts (the
-- offers table), null for past ones.
-- Variables:
-- · product (product; required): the product
-- · currency (currency): only prices in this currency
-- · days (whole number; default all): only prices that were valid in this many past days
WITH spells AS (
  SELECT *
  FROM price_spells
  WHERE product_id = getvariable('product')
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
),
moment AS (
  SELECT make_timestamptz(seen_us) AS now FROM (FROM 'data_clock.sql')
)
SELECT
  spells.site_id,
  coalesce(sites.name, spells.site_id::VARCHAR) AS shop,
  item_id,
  product_id,
  currency,
  price,
  from_at,
  to_at,
  began,
  ended,
  is_suspect,
  CASE WHEN to_at IS NULL THEN is_counted END AS is_counted,
  moment.now AS known_until,
  sites.attribution
FROM spells
CROSS JOIN moment
LEFT JOIN (
  SELECT item_id, is_counted FROM (FROM 'all_offers.sql') WHERE product_id = getvariable('product')
) AS judged USING (item_id)
LEFT JOIN sites ON sites.site_id = spells.site_id AND sites.is_current
WHERE getvariable('days') IS NULL OR to_at IS NULL OR to_at > now - to_days(getvariable('days')::INTEGER)
ORDER BY
  min(CASE WHEN to_at IS NULL THEN price END) OVER (PARTITION BY item_id) NULLS LAST,
  item_id,
  from_at
