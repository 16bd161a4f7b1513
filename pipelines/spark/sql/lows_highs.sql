-- Made by generate.py from pipelines/analysis/lows_highs.sql: change that one. Source 33ac52c6456c10bf.
-- step: lows_highs__now_us, kept
SELECT
  seen_us AS until_us
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
);
-- step: lows_highs__known, kept
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
-- step: lows_highs__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM lows_highs__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: lows_highs__named, kept
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
    FROM lows_highs__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: lows_highs__chosen
SELECT
  path
FROM lows_highs__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: lows_highs__part
SELECT
  slug
FROM lows_highs__named AS named
UNION
SELECT
  slug
FROM lows_highs__known AS known, lows_highs__chosen AS chosen, lows_highs__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: lows_highs__current_prices, kept
SELECT
  item_id,
  product_id,
  title,
  site_id,
  currency,
  price
FROM items
WHERE
  is_listed
  AND price > 0
  AND (
    :product IS NULL OR product_id = :product
  )
  AND (
    :item_id IS NULL OR item_id = CAST(:item_id AS BIGINT)
  )
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  )
  AND (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :category IS NULL
    OR category_slug IN (
      SELECT
        slug
      FROM lows_highs__part
    )
  )
  AND NOT item_id IN (
    SELECT
      item_id
    FROM offers
    WHERE
      NOT is_counted AND ARRAYS_OVERLAP(findings, ARRAY('scale', 'placeholder'))
  );
-- step: lows_highs__spells, kept
SELECT
  item_id,
  current_prices.currency,
  current_prices.price AS price_now,
  price_spells.price,
  UNIX_MICROS(from_at) AS from_us,
  COALESCE(UNIX_MICROS(to_at), GREATEST(until_us, UNIX_MICROS(from_at))) AS to_us,
  to_at IS NULL AS stands,
  began
FROM price_spells
JOIN lows_highs__current_prices AS current_prices
  USING (item_id)
CROSS JOIN lows_highs__now_us AS now_us
WHERE
  price_spells.currency = current_prices.currency AND NOT is_suspect;
-- step: lows_highs__known_
SELECT
  item_id,
  currency,
  CAST((
    SUM(CAST((
      price * 10000
    ) AS DECIMAL(38, 0)) * (
      to_us - from_us
    ))
  ) AS DOUBLE) / CAST((
    (
      10000 * NULLIF(SUM(to_us - from_us), 0)
    )
  ) AS DOUBLE) AS mean
FROM lows_highs__spells AS spells
GROUP BY
  item_id,
  currency;
-- step: lows_highs__chosen_
SELECT
  item_id,
  currency
FROM lows_highs__known_ AS known
JOIN lows_highs__current_prices AS current_prices
  USING (item_id, currency)
ORDER BY
  CAST(current_prices.price AS DOUBLE) / mean NULLS LAST,
  item_id NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 100), 2147483647) AS INT);
-- step: lows_highs__ranges
SELECT
  days,
  COALESCE(until_us - days * 86400000000, 0) AS since_us
FROM (
  SELECT
    EXPLODE(ARRAY(7, 30, 90, 365, NULL)) AS days
), lows_highs__now_us AS now_us;
-- step: lows_highs__figures
SELECT
  item_id,
  currency,
  days,
  ANY_VALUE(price_now) IGNORE NULLS AS price,
  MIN(price) AS lowest,
  MAX(price) AS highest,
  CAST((
    SUM(
      CAST((
        price * 10000
      ) AS DECIMAL(38, 0)) * (
        to_us - GREATEST(from_us, since_us)
      )
    )
  ) AS DOUBLE) / CAST((
    (
      10000 * NULLIF(SUM(to_us - GREATEST(from_us, since_us)), 0)
    )
  ) AS DOUBLE) AS mean,
  SUM(to_us - GREATEST(from_us, since_us)) / 86400000000 AS days_known,
  COUNT(DISTINCT price) AS prices,
  1 + COUNT(DISTINCT price) FILTER(WHERE
    price < price_now) AS rank,
  100 * COALESCE(SUM(to_us - GREATEST(from_us, since_us)) FILTER(WHERE
    price < price_now), 0) / NULLIF(SUM(to_us - GREATEST(from_us, since_us)), 0) AS lower_pct,
  BOOL_AND(NOT began IS NULL) AS is_whole
FROM lows_highs__spells AS spells
SEMI JOIN lows_highs__chosen_ AS chosen
  USING (item_id, currency)
JOIN lows_highs__ranges AS ranges
  ON to_us > since_us OR stands
GROUP BY
  item_id,
  currency,
  days;
-- step: lows_highs
SELECT
  item_id,
  title,
  product_id,
  current_prices.site_id,
  sites.name AS shop,
  figures.currency,
  figures.price,
  days,
  lowest,
  highest,
  mean,
  days_known,
  prices,
  rank,
  lower_pct,
  is_whole,
  sites.attribution
FROM lows_highs__figures AS figures
JOIN lows_highs__current_prices AS current_prices
  USING (item_id, currency)
LEFT JOIN sites
  ON sites.site_id = current_prices.site_id AND sites.is_current
ORDER BY
  item_id NULLS LAST,
  days NULLS LAST;
