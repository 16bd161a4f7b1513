-- name: pack_size_suspected
-- severity: warn
-- description: No offer's price is a whole multiple or fraction of the others', which suggests a different pack size.
-- found: [offer costs|offers cost] a multiple or a fraction of the usual price: a different pack size, or a lost decimal point
-- next: Compare the titles of the product's offers: a pack of six may have the GTIN of one piece. Factors of 10 and 100 suggest a decimal point.
-- parameter: tolerance DOUBLE default 0.03: accepted deviation from the whole number, as a share of it
WITH far_off AS (
  SELECT item_id, product_id, currency, price, price_ratio, greatest(price_ratio, 1 / price_ratio) AS times, reason
  FROM offers
  WHERE price_ratio > 0 AND list_has_any(findings, ['outlier', 'scale'])
)
SELECT item_id, product_id, currency, price, price_ratio, round(times) AS times, reason
FROM far_off
WHERE times BETWEEN 1.5 AND 100.5 AND abs(times - round(times)) <= $tolerance * round(times)
