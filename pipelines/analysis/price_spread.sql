-- Price spread: how much the prices of one product differ, per currency, for products in two or more shops.
-- Prices are counted in units of 0.0001 as integers. (FROM 'spread_figures.sql') stands for the query of that file, which
-- makes the figures: pricelake query --analysis price_spread runs both.
WITH offer_prices AS (
  SELECT
    product_id,
    currency,
    site_id,
    -- A product of DECIMAL(18,4) overflows from 10^10 on; the wider one costs three times as much.
    CASE
      WHEN price < 10000000000 THEN (price * 10000)::BIGINT
      ELSE (price::DECIMAL(23, 4) * 10000)::BIGINT
    END AS units
  FROM items
  WHERE is_listed AND product_id IS NOT NULL AND currency IS NOT NULL AND price > 0
),
price_groups AS MATERIALIZED (
  SELECT
    row_number() OVER () AS key,
    product_id,
    currency,
    sum(units) AS total,
    list_sort(list(units)) AS prices,
    list_distinct(list(site_id)) AS site_ids,
    len(site_ids)::BIGINT AS shops,
    -- Price and site in one sortable number; on a tie of prices the lowest site id wins at both ends.
    min(units::HUGEINT * 18446744073709551616 + site_id) AS cheapest,
    max(units::HUGEINT * 18446744073709551616 - site_id) AS dearest
  FROM offer_prices
  GROUP BY product_id, currency
  HAVING min(site_id) <> max(site_id)
),
spread_figures AS (FROM 'spread_figures.sql'),
credited AS (
  SELECT key, list_sort(list(DISTINCT attribution)) AS attribution
  FROM (SELECT key, unnest(site_ids) AS site_id FROM price_groups)
  JOIN (SELECT site_id, attribution FROM sites WHERE is_current AND attribution IS NOT NULL) USING (site_id)
  GROUP BY key
)
SELECT
  product_id,
  currency,
  spread_figures.* EXCLUDE (key),
  coalesce(attribution, []) AS attribution,
  getvariable('run_id')::VARCHAR AS run_id
FROM spread_figures
JOIN price_groups USING (key)
LEFT JOIN credited USING (key)
