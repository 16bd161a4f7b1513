-- part of: the report
-- Products that were asked for, each in the currency with the most offers.
-- Variables: product_ids (list) · currency (optional)
SELECT
  prices.product_id,
  prices.currency,
  prices.offers,
  coalesce(spread.shops, 1) AS shops,
  trusted_spread_pct AS spread_pct,
  grade,
  grade_reason,
  title,
  brand
FROM product_prices AS prices
JOIN products USING (product_id)
LEFT JOIN price_spread AS spread USING (product_id, currency)
WHERE list_contains(getvariable('product_ids')::VARCHAR[], prices.product_id)
  AND (getvariable('currency') IS NULL OR prices.currency = getvariable('currency'))
QUALIFY row_number() OVER (PARTITION BY prices.product_id ORDER BY prices.offers DESC, prices.currency) = 1
ORDER BY list_position(getvariable('product_ids')::VARCHAR[], prices.product_id)
