-- Shops against the market, over products that two or more shops sell in one currency: how often a shop has the lowest
-- price (ties count for all who share it), and its price index: 100 is the median price of each product, averaged
-- geometrically, so that half and twice the price cancel out.
-- $currency: only this currency, NULL for all · products with a price far from all others are left out
-- $top: so many shops, those with the most compared products first
WITH lowest AS (
  SELECT items.site_id, items.product_id, items.currency, min(items.price) AS price
  FROM items
  WHERE is_listed AND price > 0 AND product_id IS NOT NULL AND currency IS NOT NULL
    AND ($currency IS NULL OR currency = $currency)
  GROUP BY items.site_id, items.product_id, items.currency
),
compared AS (
  SELECT lowest.site_id, lowest.price = spread."min" AS is_cheapest, lowest.price::DOUBLE / spread.median::DOUBLE AS ratio
  FROM lowest
  JOIN price_spread AS spread USING (product_id, currency)
  WHERE spread.outliers = 0
),
figures AS (
  SELECT
    site_id,
    count(*) AS compared,
    count(*) FILTER (is_cheapest) AS cheapest,
    100 * count(*) FILTER (is_cheapest) / count(*) AS win_pct,
    100 * exp(avg(ln(ratio))) AS price_index,
    100 * quantile_cont(ratio, 0.25) AS index_p25,
    100 * quantile_cont(ratio, 0.75) AS index_p75
  FROM compared
  GROUP BY site_id
)
SELECT figures.site_id, sites.name, sites.host, figures.* EXCLUDE (site_id)
FROM figures
LEFT JOIN sites ON sites.site_id = figures.site_id AND sites.is_current
ORDER BY compared DESC, figures.site_id
LIMIT $top
