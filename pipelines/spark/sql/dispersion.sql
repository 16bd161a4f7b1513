-- Made by generate.py from pipelines/analysis/dispersion.sql: change that one. Source c5f18f7ece292efa.
-- step: dispersion__shop_prices
SELECT
  product_id,
  currency,
  site_id,
  MIN(price) AS price
FROM offers
WHERE
  is_counted AND price > 0 AND (
    :currency IS NULL OR currency = :currency
  )
GROUP BY
  product_id,
  currency,
  site_id;
-- step: dispersion__figures
SELECT
  product_id,
  currency,
  COUNT(*) AS shops,
  ARRAY_SORT(COLLECT_LIST(price)) AS prices,
  SUM(price) AS total,
  STDDEV_SAMP(CAST(price AS DOUBLE)) AS deviation,
  COLLECT_LIST(site_id) AS site_ids
FROM dispersion__shop_prices AS shop_prices
GROUP BY
  product_id,
  currency
HAVING
  COUNT(*) >= GREATEST(2, COALESCE(CAST(:min_shops AS BIGINT), 2));
-- step: dispersion__chosen, kept
SELECT
  figures.product_id,
  products.title,
  figures.currency,
  figures.shops,
  GET(prices, 0) AS lowest,
  GET(prices, 1) AS second_lowest,
  TRY_ELEMENT_AT(prices, -1) AS highest,
  CAST(total AS DOUBLE) / figures.shops AS mean,
  100 * deviation / (
    CAST(total AS DOUBLE) / figures.shops
  ) AS cv_pct,
  100 * CAST((
    TRY_ELEMENT_AT(prices, -1) - GET(prices, 0)
  ) AS DOUBLE) / CAST(GET(prices, 0) AS DOUBLE) AS range_pct,
  GET(prices, 1) - GET(prices, 0) AS gap,
  100 * CAST((
    GET(prices, 1) - GET(prices, 0)
  ) AS DOUBLE) / CAST(GET(prices, 0) AS DOUBLE) AS gap_pct,
  CAST((
    total - figures.shops * GET(prices, 0)
  ) AS DOUBLE) / figures.shops AS value_of_information,
  100 * CAST((
    total - figures.shops * GET(prices, 0)
  ) AS DOUBLE) / CAST(total AS DOUBLE) AS voi_pct,
  100 * ARRAY_SIZE(FILTER(prices, price -> price = GET(prices, 0))) / figures.shops AS lowest_share_pct,
  site_ids
FROM dispersion__figures AS figures
JOIN products
  USING (product_id)
WHERE
  :category IS NULL OR products.category_slug = :category
ORDER BY
  cv_pct DESC,
  figures.product_id NULLS LAST,
  figures.currency NULLS LAST
LIMIT CAST(COALESCE(CAST(:top AS BIGINT), 50) AS INT);
-- step: dispersion__credited
SELECT
  product_id,
  currency,
  ARRAY_SORT(COLLECT_LIST(DISTINCT attribution)) AS attribution
FROM (
  SELECT
    product_id,
    currency,
    EXPLODE(site_ids) AS site_id
  FROM dispersion__chosen AS chosen
)
JOIN sites
  USING (site_id)
WHERE
  is_current AND NOT attribution IS NULL
GROUP BY
  product_id,
  currency;
-- step: dispersion
SELECT
  chosen.product_id,
  chosen.title,
  chosen.currency,
  chosen.shops,
  chosen.lowest,
  chosen.second_lowest,
  chosen.highest,
  chosen.mean,
  chosen.cv_pct,
  chosen.range_pct,
  chosen.gap,
  chosen.gap_pct,
  chosen.value_of_information,
  chosen.voi_pct,
  chosen.lowest_share_pct,
  COALESCE(attribution, ARRAY()) AS attribution
FROM dispersion__chosen AS chosen
LEFT JOIN dispersion__credited AS credited
  USING (product_id, currency)
ORDER BY
  cv_pct DESC,
  product_id NULLS LAST,
  currency NULLS LAST;
