-- Made by generate.py from pipelines/analysis/persistence.sql: change that one. Source 40e39a1ee028a95d.
-- step: persistence__zones, kept
SELECT
  CAST(NULL AS BIGINT) AS site_id,
  COALESCE(CAST(:time_zone AS STRING), MIN(text), 'UTC') AS time_zone
FROM offer_rules
WHERE
  rule = 'time zone' AND site_id IS NULL
UNION ALL
SELECT
  site_id,
  text
FROM offer_rules
WHERE
  rule = 'time zone' AND NOT site_id IS NULL AND :time_zone IS NULL;
-- step: persistence__sold, kept
SELECT
  site_id,
  COALESCE(own_zones.time_zone, common_zone.time_zone) AS time_zone
FROM (
  SELECT DISTINCT
    site_id
  FROM items
  WHERE
    NOT site_id IS NULL
) AS sellers
LEFT JOIN (
  SELECT
    site_id,
    time_zone
  FROM persistence__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM persistence__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: persistence__row_zones
SELECT
  site_id,
  time_zone
FROM persistence__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM persistence__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM persistence__sold AS sold;
-- step: persistence__settings, kept
SELECT
  CAST(SPLIT(COALESCE(CAST(:lags AS STRING), '1,7,14,30,60,90'), '[,]') AS ARRAY<INT>) AS lags,
  COALESCE(CAST(:days AS INT), 4) AS days,
  COALESCE(CAST(:step AS INT), 28) AS step,
  GREATEST(2, COALESCE(CAST(:min_shops AS BIGINT), 3)) AS min_shops,
  last_day - ARRAY_MAX(lags) AS last_first_day
FROM (
  SELECT
    seen_day - 1 AS last_day
  FROM (
    SELECT
      seen_us,
      CASE
        WHEN time_zone = 'UTC'
        THEN CAST('1970-01-01' AS DATE) + CAST((
          seen_us DIV 86400000000
        ) AS INT)
        ELSE CAST((
          FROM_UTC_TIMESTAMP(TIMESTAMP_MICROS(seen_us), time_zone)
        ) AS DATE)
      END AS seen_day,
      time_zone
    FROM (
      SELECT
        UNIX_MICROS(
          COALESCE(
            MAX(last_seen_at) FILTER(WHERE
              UNIX_MICROS(last_seen_at) <= UNIX_MICROS(COALESCE(read_at, last_seen_at)) + 86400000000
              OR CAST('1970-01-01' AS DATE) + CAST((
                UNIX_MICROS(last_seen_at) DIV 86400000000
              ) AS INT) <= written_day + 1),
            MAX(last_seen_at)
          )
        ) AS seen_us
      FROM (
        SELECT
          last_seen_at,
          read_at,
          TRY_CAST(SUBSTRING(run_id, 8, 4) || '-' || SUBSTRING(run_id, 12, 2) || '-' || SUBSTRING(run_id, 14, 2) AS DATE) AS written_day
        FROM items
      )
    )
    CROSS JOIN (
      SELECT
        time_zone
      FROM (
        SELECT
          CAST(NULL AS BIGINT) AS site_id,
          COALESCE(CAST(:time_zone AS STRING), MIN(text), 'UTC') AS time_zone
        FROM offer_rules
        WHERE
          rule = 'time zone' AND site_id IS NULL
        UNION ALL
        SELECT
          site_id,
          text
        FROM offer_rules
        WHERE
          rule = 'time zone' AND NOT site_id IS NULL AND :time_zone IS NULL
      )
      WHERE
        site_id IS NULL
    )
  )
);
-- step: persistence__first_days
SELECT
  last_first_day - step * CAST(nth AS INT) AS first_day,
  lags
FROM (
  SELECT
    EXPLODE(IF((
      days - 1
    ) < 0, ARRAY(), SEQUENCE(0, (
      days - 1
    )))) AS nth,
    step,
    last_first_day,
    lags
  FROM persistence__settings AS settings
);
-- step: persistence__day_pairs, kept
SELECT
  first_day,
  EXPLODE(lags) AS lag,
  first_day + lag AS later_day
FROM persistence__first_days AS first_days;
-- step: persistence__wanted_days, kept
SELECT
  first_day AS day
FROM persistence__day_pairs AS day_pairs
UNION
SELECT
  later_day
FROM persistence__day_pairs AS day_pairs;
-- step: persistence__known, kept
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
-- step: persistence__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM persistence__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: persistence__named, kept
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
    FROM persistence__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: persistence__chosen
SELECT
  path
FROM persistence__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: persistence__part
SELECT
  slug
FROM persistence__named AS named
UNION
SELECT
  slug
FROM persistence__known AS known, persistence__chosen AS chosen, persistence__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: persistence__spells, kept
SELECT
  product_id,
  currency,
  site_id,
  price,
  from_day,
  to_day
FROM price_spells
WHERE
  NOT product_id IS NULL
  AND NOT is_suspect
  AND COALESCE(
    to_day > (
      SELECT
        MIN(day)
      FROM persistence__wanted_days AS wanted_days
    ),
    TRUE
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
          FROM persistence__part
        )
    )
  );
-- step: persistence__compared, kept
SELECT
  product_id,
  currency,
  COUNT(*) OVER () AS all_products
FROM persistence__spells AS spells
GROUP BY
  product_id,
  currency
HAVING
  COUNT(DISTINCT site_id) >= (
    SELECT
      min_shops
    FROM persistence__settings AS settings
  )
ORDER BY
  MD5(product_id) NULLS LAST,
  product_id NULLS LAST,
  currency NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:products AS BIGINT), 20000), 2147483647) AS INT);
-- step: persistence__chosen_
SELECT
  product_id,
  currency,
  site_id,
  price,
  from_day,
  to_day
FROM persistence__spells AS spells
SEMI JOIN persistence__compared AS compared
  USING (product_id, currency);
-- step: persistence__shop_prices
SELECT
  product_id,
  currency,
  day,
  site_id,
  MIN(price) AS price
FROM persistence__chosen_ AS chosen
JOIN persistence__wanted_days AS wanted_days
  ON from_day <= day AND (
    to_day IS NULL OR to_day > day
  )
GROUP BY
  product_id,
  currency,
  day,
  site_id;
-- step: persistence__day_prices, kept
SELECT
  product_id,
  currency,
  day,
  TRANSFORM(shops, shop -> shop.site_id) AS sites,
  TRANSFORM(shops, shop -> shop.price) AS prices,
  TRANSFORM(FILTER(shops, shop -> shop.price = lowest), shop -> shop.site_id) AS cheapest
FROM (
  SELECT
    product_id,
    currency,
    day,
    ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('site_id', site_id, 'price', price))) AS shops,
    MIN(price) AS lowest
  FROM persistence__shop_prices AS shop_prices
  GROUP BY
    product_id,
    currency,
    day
);
-- step: persistence__pairs, kept
SELECT
  lag,
  one.sites = two.sites AS is_same,
  one.sites AS first_sites,
  one.prices AS first_prices,
  two.sites AS later_sites,
  two.prices AS later_prices,
  one.cheapest AS first_cheapest,
  two.cheapest AS later_cheapest
FROM persistence__day_pairs AS day_pairs
JOIN persistence__day_prices AS one
  ON one.day = first_day
LEFT JOIN persistence__day_prices AS two
  ON two.day = later_day
  AND two.product_id = one.product_id
  AND two.currency = one.currency;
-- step: persistence__both_days
SELECT
  lag,
  CASE
    WHEN is_same
    THEN first_prices
    ELSE TRANSFORM(
      FILTER(
        IF(
          (
            ARRAY_SIZE(first_sites) + 1 - 1
          ) < 1,
          ARRAY(),
          SEQUENCE(1, (
            ARRAY_SIZE(first_sites) + 1 - 1
          ))
        ),
        i -> ARRAY_CONTAINS(later_sites, GET(first_sites, i - 1))
      ),
      i -> GET(first_prices, i - 1)
    )
  END AS first_prices,
  CASE
    WHEN is_same
    THEN later_prices
    ELSE TRANSFORM(
      FILTER(
        IF(
          (
            ARRAY_SIZE(later_sites) + 1 - 1
          ) < 1,
          ARRAY(),
          SEQUENCE(1, (
            ARRAY_SIZE(later_sites) + 1 - 1
          ))
        ),
        i -> ARRAY_CONTAINS(first_sites, GET(later_sites, i - 1))
      ),
      i -> GET(later_prices, i - 1)
    )
  END AS later_prices
FROM persistence__pairs AS pairs
WHERE
  ARRAY_SIZE(later_sites) > 1;
-- step: persistence__sorted
SELECT
  lag,
  first_prices,
  later_prices,
  ARRAY_SORT(first_prices) AS first_up,
  SORT_ARRAY(first_prices, FALSE) AS first_down,
  ARRAY_SORT(later_prices) AS later_up,
  SORT_ARRAY(later_prices, FALSE) AS later_down
FROM persistence__both_days AS both_days
WHERE
  ARRAY_SIZE(first_prices) >= (
    SELECT
      min_shops
    FROM persistence__settings AS settings
  );
-- step: persistence__ranked
SELECT
  lag,
  GET(first_up, 0) < TRY_ELEMENT_AT(first_up, -1)
  AND GET(later_up, 0) < TRY_ELEMENT_AT(later_up, -1) AS is_told,
  TRANSFORM(
    first_prices,
    price -> CAST((
      NULLIF(ARRAY_POSITION(first_up, price), 0) - NULLIF(ARRAY_POSITION(first_down, price), 0)
    ) AS DOUBLE)
  ) AS first_ranks,
  TRANSFORM(
    later_prices,
    price -> CAST((
      NULLIF(ARRAY_POSITION(later_up, price), 0) - NULLIF(ARRAY_POSITION(later_down, price), 0)
    ) AS DOUBLE)
  ) AS later_ranks
FROM persistence__sorted AS sorted;
-- step: persistence__correlated
SELECT
  lag,
  COUNT(*) FILTER(WHERE
    is_told) AS pairs,
  COUNT(*) FILTER(WHERE
    NOT is_told) AS tied,
  AVG(
    AGGREGATE(
      ZIP_WITH(first_ranks, later_ranks, (x, y) -> x * y),
      CAST(0 AS DOUBLE),
      (s, x) -> s + x
    ) / SQRT(
      AGGREGATE(
        ZIP_WITH(first_ranks, first_ranks, (x, y) -> x * y),
        CAST(0 AS DOUBLE),
        (s, x) -> s + x
      ) * AGGREGATE(
        ZIP_WITH(later_ranks, later_ranks, (x, y) -> x * y),
        CAST(0 AS DOUBLE),
        (s, x) -> s + x
      )
    )
  ) FILTER(WHERE
    is_told) AS rank_correlation
FROM persistence__ranked AS ranked
GROUP BY
  lag;
-- step: persistence__stayed
SELECT
  lag,
  CAST(SUM(ARRAY_SIZE(first_cheapest)) AS BIGINT) AS lowest,
  CAST(SUM(ARRAY_SIZE(ARRAY_INTERSECT(first_cheapest, COALESCE(later_cheapest, ARRAY())))) AS BIGINT) AS still_lowest,
  CAST(SUM(ARRAY_SIZE(ARRAY_INTERSECT(first_cheapest, COALESCE(later_sites, ARRAY())))) AS BIGINT) AS still_listed
FROM persistence__pairs AS pairs
WHERE
  ARRAY_SIZE(first_sites) >= (
    SELECT
      min_shops
    FROM persistence__settings AS settings
  )
GROUP BY
  lag;
-- step: persistence
SELECT
  lag,
  COALESCE(pairs, 0) AS pairs,
  COALESCE(tied, 0) AS tied,
  rank_correlation,
  lowest,
  still_lowest,
  100 * still_lowest / lowest AS stay_pct,
  still_listed,
  100 * still_lowest / NULLIF(still_listed, 0) AS stay_listed_pct,
  (
    SELECT
      COUNT(*)
    FROM persistence__compared AS compared
  ) AS products,
  COALESCE(
    (
      SELECT
        ANY_VALUE(all_products) IGNORE NULLS
      FROM persistence__compared AS compared
    ),
    0
  ) AS all_products,
  (
    SELECT
      time_zone
    FROM persistence__row_zones AS row_zones
    WHERE
      site_id IS NULL
  ) AS time_zone
FROM persistence__stayed AS stayed
LEFT JOIN persistence__correlated AS correlated
  USING (lag)
ORDER BY
  lag NULLS LAST;
