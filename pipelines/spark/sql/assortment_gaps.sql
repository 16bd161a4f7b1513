-- Made by generate.py from pipelines/analysis/assortment_gaps.sql: change that one. Source e582e71b61aa281a.
-- step: assortment_gaps__asked, kept
SELECT
  CASE
    WHEN :own_site IS NULL
    THEN RAISE_ERROR('set own_site to the site_id of your own shop: table sites lists them')
    WHEN known.site_id IS NULL
    THEN RAISE_ERROR('own_site ' || :own_site || ' is no site_id of table sites')
    ELSE known.site_id
  END AS own_site_id,
  GREATEST(COALESCE(CAST(:min_shops AS BIGINT), 2), 1) AS min_shops
FROM (
  SELECT
    1
)
LEFT JOIN (
  SELECT DISTINCT
    site_id
  FROM sites
) AS known
  ON known.site_id = CAST(:own_site AS BIGINT);
-- step: assortment_gaps__own
SELECT
  product_id,
  BOOL_OR(is_listed) AS is_sold,
  MAX(COALESCE(removed_at, gone_at)) AS ended_at
FROM (
  SELECT
    item_id,
    product_id,
    site_id,
    currency,
    price,
    previous_price,
    price_changed_at,
    first_seen_at,
    last_seen_at,
    removed_at,
    gone_at,
    is_listed,
    category_slug,
    title,
    url
  FROM items
  WHERE
    NOT product_id IS NULL
) AS listings
JOIN assortment_gaps__asked AS asked
  ON listings.site_id = own_site_id
GROUP BY
  product_id;
-- step: assortment_gaps__known, kept
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
-- step: assortment_gaps__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM assortment_gaps__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: assortment_gaps__named, kept
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
    FROM assortment_gaps__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: assortment_gaps__chosen
SELECT
  path
FROM assortment_gaps__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: assortment_gaps__part
SELECT
  slug
FROM assortment_gaps__named AS named
UNION
SELECT
  slug
FROM assortment_gaps__known AS known, assortment_gaps__chosen AS chosen, assortment_gaps__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: assortment_gaps__sold, kept
SELECT
  product_id,
  currency,
  site_id,
  item_id,
  CASE WHEN is_counted THEN price END AS price
FROM offers
CROSS JOIN assortment_gaps__asked AS asked
WHERE
  site_id <> own_site_id
  AND price > 0
  AND (
    is_counted OR findings = ARRAY('duplicate')
  )
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
          FROM assortment_gaps__part
        )
    )
  );
-- step: assortment_gaps__chosen_, kept
SELECT
  product_id,
  currency,
  min_shops,
  own.ended_at AS own_ended_at
FROM (
  SELECT
    product_id,
    currency,
    COUNT(*) AS shops
  FROM assortment_gaps__sold AS sold
  WHERE
    NOT price IS NULL
  GROUP BY
    product_id,
    currency
)
CROSS JOIN assortment_gaps__asked AS asked
LEFT JOIN assortment_gaps__own AS own
  USING (product_id)
WHERE
  shops >= min_shops AND NOT COALESCE(own.is_sold, FALSE)
ORDER BY
  shops DESC,
  product_id NULLS LAST,
  currency NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 100), 2147483647) AS INT);
-- step: assortment_gaps__chosen_offers
SELECT
  product_id,
  currency,
  site_id,
  item_id,
  price
FROM assortment_gaps__sold AS sold
SEMI JOIN assortment_gaps__chosen_ AS chosen
  USING (product_id, currency);
-- step: assortment_gaps__sellers, kept
SELECT
  product_id,
  currency,
  site_id,
  MIN(price) AS shop_price,
  MIN(first_seen_at) AS sold_at
FROM assortment_gaps__chosen_offers AS chosen_offers
JOIN (
  SELECT
    item_id,
    first_seen_at
  FROM (
    SELECT
      item_id,
      product_id,
      site_id,
      currency,
      price,
      previous_price,
      price_changed_at,
      first_seen_at,
      last_seen_at,
      removed_at,
      gone_at,
      is_listed,
      category_slug,
      title,
      url
    FROM items
    WHERE
      NOT product_id IS NULL
  )
) AS listings
  USING (item_id)
GROUP BY
  product_id,
  currency,
  site_id;
-- step: assortment_gaps__gaps, kept
SELECT
  product_id,
  currency,
  COUNT(*) AS shops,
  ARRAY_SORT(COLLECT_LIST(shop_price)) AS prices,
  MIN_BY(site_id, (shop_price, site_id)) FILTER(WHERE
    NOT site_id IS NULL) AS lowest_site_id,
  ARRAY_SORT(COLLECT_LIST(sold_at) FILTER(WHERE
    NOT sold_at IS NULL)) AS sold_from,
  ANY_VALUE(own_ended_at) IGNORE NULLS AS own_ended_at,
  ANY_VALUE(min_shops) IGNORE NULLS AS min_shops
FROM assortment_gaps__sellers AS sellers
JOIN assortment_gaps__chosen_ AS chosen
  USING (product_id, currency)
WHERE
  NOT shop_price IS NULL
GROUP BY
  product_id,
  currency;
-- step: assortment_gaps__credited
SELECT
  product_id,
  currency,
  ARRAY_SORT(COLLECT_LIST(DISTINCT attribution)) AS attribution
FROM assortment_gaps__sellers AS sellers
SEMI JOIN assortment_gaps__gaps AS gaps
  USING (product_id, currency)
JOIN sites
  ON sites.site_id = sellers.site_id AND sites.is_current
WHERE
  NOT attribution IS NULL
GROUP BY
  product_id,
  currency;
-- step: assortment_gaps
SELECT
  gaps.product_id,
  products.title,
  products.brand,
  products.category_name,
  products.category_slug,
  gaps.currency,
  gaps.shops,
  GET(prices, 0) AS lowest,
  COALESCE(sites.name, CAST(lowest_site_id AS STRING)) AS lowest_shop,
  CAST((
    CAST((
      (
        CAST((
          CAST(GET(prices, (
            (
              shops + 1
            ) DIV 2
          ) - 1) AS DECIMAL(23, 4)) * 10000
        ) AS DECIMAL(38, 0)) + CAST((
          CAST(GET(prices, (
            shops DIV 2 + 1
          ) - 1) AS DECIMAL(23, 4)) * 10000
        ) AS DECIMAL(38, 0)) + 1
      ) - (
        CAST((
          CAST(GET(prices, (
            (
              shops + 1
            ) DIV 2
          ) - 1) AS DECIMAL(23, 4)) * 10000
        ) AS DECIMAL(38, 0)) + CAST((
          CAST(GET(prices, (
            shops DIV 2 + 1
          ) - 1) AS DECIMAL(23, 4)) * 10000
        ) AS DECIMAL(38, 0)) + 1
      ) % (
        2
      )
    ) / (
      2
    ) AS DECIMAL(38, 0))
  ) AS BIGINT) * CAST(0.0001 AS DECIMAL(18, 4)) AS median,
  GET(prices, shops - 1) AS highest,
  GET(sold_from, 0) AS first_sold_at,
  GET(sold_from, min_shops - 1) AS sold_widely_at,
  own_ended_at,
  COALESCE(credited.attribution, ARRAY()) AS attribution
FROM assortment_gaps__gaps AS gaps
LEFT JOIN (
  SELECT
    product_id,
    title,
    brand,
    category_name,
    category_slug
  FROM products
) AS products
  USING (product_id)
LEFT JOIN sites
  ON sites.site_id = lowest_site_id AND sites.is_current
LEFT JOIN assortment_gaps__credited AS credited
  USING (product_id, currency)
ORDER BY
  shops DESC,
  gaps.product_id NULLS LAST,
  gaps.currency NULLS LAST;
