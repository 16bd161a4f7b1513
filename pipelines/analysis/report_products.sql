-- part of: the report
-- Products whose price history is worth a look, each in the currency with the most offers.
-- Variables, none of which need be set: product_ids: these products; without any, the widest spreads among products in
-- min_shops (4) shops or more that have no outlier · currency · top (6)
WITH candidates AS (
  SELECT
    prices.product_id,
    prices.currency,
    prices.offers,
    spread.shops,
    spread.spread_pct,
    list_position(asked, prices.product_id) AS asked_at
  FROM product_prices AS prices
  LEFT JOIN price_spread AS spread USING (product_id, currency),
    (SELECT coalesce(getvariable('product_ids')::VARCHAR[], []) AS asked)
  WHERE (getvariable('currency') IS NULL OR prices.currency = getvariable('currency'))
    AND CASE
      WHEN len(asked) = 0 THEN spread.outliers = 0 AND spread.shops >= coalesce(getvariable('min_shops')::BIGINT, 4) AND spread.spread_pct > 0
      ELSE list_contains(asked, prices.product_id)
    END
  QUALIFY row_number() OVER (PARTITION BY prices.product_id ORDER BY prices.offers DESC, prices.currency) = 1
)
SELECT
  product_id,
  currency,
  candidates.offers,
  coalesce(candidates.shops, 1) AS shops,
  spread_pct,
  title,
  brand,
  gtin14
FROM candidates
JOIN products USING (product_id)
ORDER BY asked_at, spread_pct DESC, product_id
LIMIT coalesce(getvariable('top')::BIGINT, 6)
