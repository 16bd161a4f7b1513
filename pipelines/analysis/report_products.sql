-- Products whose price history is worth a look, each in the currency with the most offers.
-- $product_ids: these products; without any, the widest spreads in $min_shops shops or more that have no far-off price
-- $currency: only this currency, NULL for all · $top: so many products
WITH candidates AS (
  SELECT
    prices.product_id,
    prices.currency,
    prices.offers,
    spread.shops,
    spread.spread_pct,
    list_position($product_ids, prices.product_id) AS asked_at
  FROM product_prices AS prices
  LEFT JOIN price_spread AS spread USING (product_id, currency)
  WHERE ($currency IS NULL OR prices.currency = $currency)
    AND CASE
      WHEN len($product_ids) = 0 THEN spread.outliers = 0 AND spread.shops >= $min_shops AND spread.spread_pct > 0
      ELSE list_contains($product_ids, prices.product_id)
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
LIMIT $top
