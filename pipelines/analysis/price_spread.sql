-- Price spread of each product: how much its prices differ, per currency, for products in two or more shops; and how
-- reliable the figures are (docs/concepts/spreads.md). The trusted figures and the grade use the offers that count.
-- Reads the tables offers (judged_offers.sql) and sites. (FROM '….sql') is replaced by the query in that file.
-- pricelake query --analysis price_spread runs them all.
WITH priced AS (
  SELECT
    {'product_id': product_id, 'currency': currency} AS key,
    site_id,
    price,
    is_counted,
    findings,
    CASE WHEN doubts <> [] THEN 'the offer at ' || price || ': ' || reason END AS doubt,
    list_contains(doubts, 'title') AS is_strange
  FROM offers
  WHERE price > 0
),
spread_figures AS (FROM 'spread_figures.sql'),
-- A unit price of zero at four decimals is too small to compare. Prices per kilogram and per piece can't be compared.
per_unit AS (
  SELECT {'product_id': product_id, 'currency': currency} AS key, min(unit) AS unit, min(unit_price) AS unit_min, max(unit_price) AS unit_max
  FROM offers
  WHERE is_counted AND unit_price > 0
  GROUP BY product_id, currency
  HAVING min(site_id) <> max(site_id) AND min(unit) = max(unit)
),
credited AS (
  SELECT key, list_sort(list(DISTINCT attribution)) AS attribution
  FROM priced
  JOIN (SELECT site_id, attribution FROM sites WHERE is_current AND attribution IS NOT NULL) USING (site_id)
  GROUP BY key
)
SELECT
  key.product_id AS product_id,
  key.currency AS currency,
  spread_figures.* EXCLUDE (key),
  unit,
  unit_min,
  unit_max,
  100 * (unit_max - unit_min)::DOUBLE / unit_min::DOUBLE AS unit_spread_pct,
  coalesce(attribution, []) AS attribution,
  getvariable('run_id')::VARCHAR AS run_id
FROM spread_figures
LEFT JOIN per_unit USING (key)
LEFT JOIN credited USING (key)
