-- name: pack_size_suspected
-- severity: warn
-- description: No offer costs two or more whole times as much as the others, or a whole fraction of it, which suggests another pack size.
-- found: [offer costs|offers cost] a multiple or a fraction of the usual price: another pack size, or a lost decimal point
-- next: Compare the titles of the product's offers: a pack of six may have the GTIN of one piece. Factors of 10 and 100 suggest a decimal point.
-- parameter: tolerance DOUBLE default 0.03: accepted distance from the whole number, as a share of it
WITH far_off AS (
  SELECT
    items.item_id,
    items.product_id,
    items.currency,
    items.title,
    items.price,
    spread.inlier_median,
    greatest(items.price, spread.inlier_median)::DOUBLE / least(items.price, spread.inlier_median)::DOUBLE AS times
  FROM items
  JOIN price_spread AS spread USING (product_id, currency)
  WHERE spread.outliers > 0 AND items.is_listed AND items.price > 0
    AND items.price NOT BETWEEN spread.inlier_min AND spread.inlier_max
)
SELECT item_id, product_id, currency, price, inlier_median, round(times) AS times, title
FROM far_off
WHERE times BETWEEN 1.5 AND 100.5 AND abs(times - round(times)) <= $tolerance * round(times)
