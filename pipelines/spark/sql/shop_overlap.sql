-- Made by generate.py from pipelines/analysis/shop_overlap.sql: change that one. Source 6352832b18e3b887.
-- step: shop_overlap__known, kept
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
-- step: shop_overlap__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM shop_overlap__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: shop_overlap__named, kept
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
    FROM shop_overlap__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: shop_overlap__chosen
SELECT
  path
FROM shop_overlap__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: shop_overlap__part
SELECT
  slug
FROM shop_overlap__named AS named
UNION
SELECT
  slug
FROM shop_overlap__known AS known, shop_overlap__chosen AS chosen, shop_overlap__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: shop_overlap__shop_prices, kept
SELECT
  product_id,
  currency,
  site_id,
  price
FROM offers
WHERE
  is_counted
  AND price > 0
  AND (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :category IS NULL
    OR product_id IN (
      SELECT
        product_id
      FROM products
      WHERE
        category_slug IN (
          SELECT
            slug
          FROM shop_overlap__part
        )
    )
  );
-- step: shop_overlap__ranges, kept
SELECT
  site_id,
  currency,
  COUNT(*) AS products
FROM shop_overlap__shop_prices AS shop_prices
GROUP BY
  site_id,
  currency;
-- step: shop_overlap__asked_prices
SELECT
  product_id,
  currency,
  site_id,
  price
FROM shop_overlap__shop_prices AS shop_prices
WHERE
  :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT);
-- step: shop_overlap__pairs
SELECT
  first.site_id AS first_site_id,
  second.site_id AS second_site_id,
  first.currency,
  COUNT(*) AS products,
  COUNT(*) FILTER(WHERE
    first.price < second.price) AS cheaper,
  COUNT(*) FILTER(WHERE
    first.price = second.price) AS same,
  COUNT(*) FILTER(WHERE
    first.price > second.price) AS more_expensive,
  100 * EXP(AVG(LN(CAST(first.price AS DOUBLE)) - LN(CAST(second.price AS DOUBLE)))) AS price_level
FROM shop_overlap__asked_prices AS first
JOIN shop_overlap__shop_prices AS second
  ON second.product_id = first.product_id AND second.currency = first.currency
WHERE
  CASE
    WHEN :site_id IS NULL
    THEN second.site_id > first.site_id
    ELSE second.site_id <> first.site_id
  END
GROUP BY ALL
HAVING
  COUNT(*) >= COALESCE(CAST(:min_products AS BIGINT), 5);
-- step: shop_overlap
SELECT
  first_site_id,
  first_shop.name AS first_shop,
  second_site_id,
  second_shop.name AS second_shop,
  pairs.currency,
  first_range.products AS first_products,
  second_range.products AS second_products,
  pairs.products,
  100 * pairs.products / (
    first_range.products + second_range.products - pairs.products
  ) AS overlap_pct,
  100 * pairs.products / first_range.products AS in_first_pct,
  100 * pairs.products / second_range.products AS in_second_pct,
  cheaper,
  same,
  more_expensive,
  price_level,
  FILTER(ARRAY(first_shop.attribution, second_shop.attribution), text -> NOT text IS NULL) AS attribution
FROM shop_overlap__pairs AS pairs
JOIN shop_overlap__ranges AS first_range
  ON first_range.site_id = first_site_id AND first_range.currency = pairs.currency
JOIN shop_overlap__ranges AS second_range
  ON second_range.site_id = second_site_id AND second_range.currency = pairs.currency
LEFT JOIN sites AS first_shop
  ON first_shop.site_id = first_site_id AND first_shop.is_current
LEFT JOIN sites AS second_shop
  ON second_shop.site_id = second_site_id AND second_shop.is_current
ORDER BY
  pairs.products DESC,
  first_site_id NULLS LAST,
  second_site_id NULLS LAST,
  pairs.currency NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 100), 2147483647) AS INT);
