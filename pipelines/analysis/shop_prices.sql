-- part of: explore
-- The prices that each shop asked for a product over time: one row per shop and period with the same lowest price, the
-- currently cheapest shop first. Uses offers that count today, and offers that would count if they were in stock or if
-- their shop had no cheaper listing of the product, while they were listed and not known to be out of stock. Omits
-- suspect prices (price_spells). is_counted: the shop has an offer that counts today. to_at: null if the price is
-- current; until_at: the end of the period, or when the service last saw any item.
-- Variables:
-- · product (product; required): the product
-- · currency (currency; required): only prices in this currency
WITH own AS MATERIALIZED (
  SELECT item_id, site_id, is_counted
  FROM (FROM 'all_offers.sql')
  WHERE product_id = getvariable('product') AND currency = getvariable('currency')
    AND (is_counted OR list_has_all(['out_of_stock', 'duplicate'], findings))
),
told AS MATERIALIZED (
  SELECT item_id, site_id, price, epoch_us(from_at) AS from_us, epoch_us(to_at) AS to_us
  FROM price_spells
  JOIN own USING (item_id, site_id)
  WHERE product_id = getvariable('product') AND currency = getvariable('currency') AND NOT is_suspect
),
ending AS (
  SELECT greatest(max(seen_us), max(coalesce(to_us, from_us)) + 1) AS end_us
  FROM told, (SELECT seen_us FROM (FROM 'data_clock.sql'))
),
spells AS MATERIALIZED (
  SELECT item_id, site_id, price, from_us, coalesce(to_us, end_us) AS to_us FROM told, ending
),
outs AS MATERIALIZED (
  SELECT item_id, site_id, from_us, CASE WHEN to_us < now_us THEN to_us ELSE end_us END AS to_us
  FROM (FROM 'listing_stock.sql'), ending
  WHERE product_id = getvariable('product') AND state = 'out of stock' AND item_id IN (SELECT item_id FROM own)
),
edges AS (
  SELECT site_id, unnest([from_us, to_us]) AS at_us FROM spells
  UNION
  SELECT site_id, unnest([from_us, to_us]) FROM outs
),
pieces AS (
  SELECT site_id, at_us AS from_us, lead(at_us) OVER (PARTITION BY site_id ORDER BY at_us) AS to_us FROM edges
),
lowest AS (
  SELECT pieces.site_id, pieces.from_us, pieces.to_us, min(price) AS price, arg_min(spells.item_id, price) AS item_id
  FROM pieces
  JOIN spells
    ON spells.site_id = pieces.site_id AND spells.from_us <= pieces.from_us AND spells.to_us >= pieces.to_us
  ANTI JOIN outs
    ON outs.item_id = spells.item_id AND outs.from_us <= pieces.from_us AND outs.to_us >= pieces.to_us
  GROUP BY ALL
),
numbered AS (
  SELECT *, count(*) FILTER (is_other) OVER (PARTITION BY site_id ORDER BY from_us) AS stretch
  FROM (
    SELECT
      *,
      lag(to_us) OVER in_order IS DISTINCT FROM from_us OR lag(price) OVER in_order <> price AS is_other
    FROM lowest
    WINDOW in_order AS (PARTITION BY site_id ORDER BY from_us)
  )
),
stretches AS (
  SELECT site_id, any_value(price) AS price, min(from_us) AS from_us, max(to_us) AS to_us, arg_max(item_id, from_us) AS item_id
  FROM numbered
  GROUP BY site_id, stretch
)
SELECT
  stretches.site_id,
  coalesce(sites.name, stretches.site_id::VARCHAR) AS shop,
  price,
  make_timestamptz(from_us) AS from_at,
  CASE WHEN to_us < end_us THEN make_timestamptz(to_us) END AS to_at,
  make_timestamptz(to_us) AS until_at,
  counted.is_counted,
  item_id,
  sites.attribution
FROM stretches
CROSS JOIN ending
JOIN (SELECT site_id, bool_or(is_counted) AS is_counted FROM own GROUP BY site_id) AS counted USING (site_id)
LEFT JOIN sites ON sites.site_id = stretches.site_id AND sites.is_current
ORDER BY
  counted.is_counted DESC,
  min(CASE WHEN to_us = end_us THEN price END) OVER (PARTITION BY stretches.site_id) NULLS LAST,
  stretches.site_id,
  from_us
