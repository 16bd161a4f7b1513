-- Made by generate.py from pipelines/analysis/widest_spreads.sql: change that one. Source 248e0cea4ba25d6c.
-- step: widest_spreads__known, kept
SELECT
  slug,
  name,
  path
FROM (
  SELECT DISTINCT
    category_slug AS slug,
    category_name AS name,
    category_path AS path
  FROM items
  WHERE
    NOT category_slug IS NULL
)
WHERE
  NOT :category IS NULL;
-- step: widest_spreads__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM widest_spreads__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: widest_spreads__named, kept
SELECT
  slug,
  path
FROM (
  SELECT
    slug,
    path,
    place,
    MIN(place) OVER () AS _w
  FROM (
    SELECT
      slug,
      path,
      CASE
        WHEN slug = :category
        THEN 1
        WHEN LOWER(path) = LOWER(CAST(:category AS STRING))
        THEN 2
        WHEN LOWER(name) = LOWER(CAST(:category AS STRING))
        THEN 3
      END AS place
    FROM widest_spreads__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: widest_spreads__chosen_
SELECT
  path
FROM widest_spreads__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: widest_spreads__part
SELECT
  slug
FROM widest_spreads__named AS named
UNION
SELECT
  slug
FROM widest_spreads__known AS known, widest_spreads__chosen_ AS chosen, widest_spreads__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: widest_spreads__matching
SELECT
  spread.product_id,
  spread.currency,
  spread.offers,
  spread.shops,
  spread.min,
  spread.p25,
  spread.median,
  spread.p75,
  spread.max,
  spread.mean,
  spread.stddev,
  spread.spread,
  spread.spread_pct,
  spread.cheapest_site_id,
  spread.dearest_site_id,
  spread.outliers,
  spread.inlier_min,
  spread.inlier_median,
  spread.inlier_max,
  spread.inlier_mean,
  spread.inlier_spread_pct,
  spread.attribution,
  spread.run_id,
  spread.grade,
  spread.grade_reason,
  spread.left_out,
  spread.trusted_shops,
  spread.trusted_min,
  spread.trusted_median,
  spread.trusted_max,
  spread.trusted_spread_pct,
  spread.trusted_cheapest_site_id,
  spread.trusted_dearest_site_id,
  spread.unit,
  spread.unit_min,
  spread.unit_max,
  spread.unit_spread_pct,
  products.title,
  products.brand,
  products.category_slug,
  products.category_name,
  products.category_path
FROM price_spread AS spread
LEFT JOIN products
  USING (product_id)
WHERE
  (
    :currency IS NULL OR spread.currency = :currency
  )
  AND (
    :category IS NULL
    OR products.category_slug IN (
      SELECT
        slug
      FROM widest_spreads__part
    )
  )
  AND (
    :brand IS NULL OR LOWER(products.brand) = LOWER(CAST(:brand AS STRING))
  )
  AND spread.shops >= COALESCE(CAST(:min_shops AS BIGINT), 2)
  AND (
    COALESCE(CAST(:with_outliers AS BOOLEAN), TRUE) OR spread.outliers = 0
  );
-- step: widest_spreads__first
SELECT
  product_id,
  currency
FROM widest_spreads__matching AS matching
WHERE
  grade <= COALESCE(CAST(:grade AS STRING), 'B')
ORDER BY
  trusted_spread_pct DESC,
  spread_pct DESC,
  product_id NULLS LAST,
  currency NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 20), 2147483647) AS INT);
-- step: widest_spreads__chosen, kept
SELECT
  spread.product_id,
  spread.currency,
  spread.offers,
  spread.shops,
  spread.min,
  spread.p25,
  spread.median,
  spread.p75,
  spread.max,
  spread.mean,
  spread.stddev,
  spread.spread,
  spread.spread_pct,
  spread.cheapest_site_id,
  spread.dearest_site_id,
  spread.outliers,
  spread.inlier_min,
  spread.inlier_median,
  spread.inlier_max,
  spread.inlier_mean,
  spread.inlier_spread_pct,
  spread.attribution,
  spread.run_id,
  spread.grade,
  spread.grade_reason,
  spread.left_out,
  spread.trusted_shops,
  spread.trusted_min,
  spread.trusted_median,
  spread.trusted_max,
  spread.trusted_spread_pct,
  spread.trusted_cheapest_site_id,
  spread.trusted_dearest_site_id,
  spread.unit,
  spread.unit_min,
  spread.unit_max,
  spread.unit_spread_pct,
  products.title,
  products.brand,
  products.category_slug,
  products.category_name,
  products.category_path,
  CAST(ROW_NUMBER() OVER (
    ORDER BY trusted_spread_pct DESC, spread_pct DESC, product_id NULLS LAST, currency NULLS LAST
  ) AS BIGINT) AS place
FROM price_spread AS spread
JOIN widest_spreads__first AS first
  USING (product_id, currency)
LEFT JOIN products
  USING (product_id);
-- step: widest_spreads__counted, kept
SELECT
  product_id,
  currency,
  site_id,
  price,
  availability,
  delivered_price
FROM offers
SEMI JOIN widest_spreads__chosen AS chosen
  USING (product_id, currency)
WHERE
  is_counted;
-- step: widest_spreads__in_stock
SELECT
  product_id,
  currency,
  in_stock_min,
  in_stock_shop
FROM (
  SELECT
    product_id,
    currency,
    price AS in_stock_min,
    name AS in_stock_shop,
    ROW_NUMBER() OVER (PARTITION BY product_id, currency ORDER BY price NULLS LAST, site_id NULLS LAST) AS _w
  FROM widest_spreads__counted AS counted
  LEFT JOIN (
    SELECT
      site_id,
      name
    FROM sites
    WHERE
      is_current
  ) AS names
    USING (site_id)
  WHERE
    availability = 'in stock'
) AS _t
WHERE
  CAST(_w AS BIGINT) = 1;
-- step: widest_spreads__delivered
SELECT
  product_id,
  currency,
  delivered_min,
  delivered_shop
FROM (
  SELECT
    product_id,
    currency,
    delivered_price AS delivered_min,
    name AS delivered_shop,
    ROW_NUMBER() OVER (
      PARTITION BY product_id, currency
      ORDER BY delivered_price NULLS LAST, site_id NULLS LAST
    ) AS _w
  FROM widest_spreads__counted AS counted
  LEFT JOIN (
    SELECT
      site_id,
      name
    FROM sites
    WHERE
      is_current
  ) AS names
    USING (site_id)
  WHERE
    NOT delivered_price IS NULL
) AS _t
WHERE
  CAST(_w AS BIGINT) = 1;
-- step: widest_spreads
SELECT
  product_id,
  title,
  brand,
  category_path,
  currency,
  offers,
  shops,
  `min`,
  p25,
  median,
  p75,
  `max`,
  mean,
  stddev,
  spread,
  spread_pct,
  cheapest_site_id,
  cheapest.name AS cheapest_shop,
  dearest_site_id,
  dearest.name AS dearest_shop,
  outliers,
  inlier_min,
  inlier_median,
  inlier_max,
  inlier_mean,
  inlier_spread_pct,
  chosen.attribution,
  grade,
  grade_reason,
  left_out,
  trusted_shops,
  trusted_min,
  trusted_median,
  trusted_max,
  CAST((
    trusted_max - trusted_min
  ) AS DECIMAL(18, 4)) AS trusted_spread,
  trusted_spread_pct,
  trusted_cheapest_site_id,
  trusted_cheapest.name AS trusted_cheapest_shop,
  trusted_dearest_site_id,
  trusted_dearest.name AS trusted_dearest_shop,
  unit,
  unit_min,
  unit_max,
  unit_spread_pct,
  category_slug,
  category_name,
  in_stock_min,
  in_stock_shop,
  delivered_min,
  delivered_shop
FROM widest_spreads__chosen AS chosen
LEFT JOIN widest_spreads__in_stock AS in_stock
  USING (product_id, currency)
LEFT JOIN widest_spreads__delivered AS delivered
  USING (product_id, currency)
LEFT JOIN sites AS cheapest
  ON cheapest.site_id = cheapest_site_id AND cheapest.is_current
LEFT JOIN sites AS dearest
  ON dearest.site_id = dearest_site_id AND dearest.is_current
LEFT JOIN sites AS trusted_cheapest
  ON trusted_cheapest.site_id = trusted_cheapest_site_id
  AND trusted_cheapest.is_current
LEFT JOIN sites AS trusted_dearest
  ON trusted_dearest.site_id = trusted_dearest_site_id AND trusted_dearest.is_current
ORDER BY
  place NULLS LAST;
