-- Made by generate.py from pipelines/analysis/dynamics.sql: change that one. Source b75c023f5ce09510.
-- step: dynamics__zones, kept
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
-- step: dynamics__sold, kept
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
  FROM dynamics__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM dynamics__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: dynamics__row_zones
SELECT
  site_id,
  time_zone
FROM dynamics__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM dynamics__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM dynamics__sold AS sold;
-- step: dynamics__span
SELECT
  COALESCE(CAST(:until AS DATE), last_day) AS until_day,
  COALESCE(CAST(:since AS DATE), until_day - 89) AS since_day
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
-- step: dynamics__known, kept
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
-- step: dynamics__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM dynamics__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: dynamics__named, kept
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
    FROM dynamics__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: dynamics__chosen
SELECT
  path
FROM dynamics__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: dynamics__part
SELECT
  slug
FROM dynamics__named AS named
UNION
SELECT
  slug
FROM dynamics__known AS known, dynamics__chosen AS chosen, dynamics__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: dynamics__spells, kept
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  price,
  from_at,
  to_at,
  from_day,
  to_day,
  began,
  CASE WHEN COALESCE(:by, 'category') = 'category' THEN category_slug END AS category_slug,
  CASE WHEN :by = 'shop' THEN site_id END AS group_site_id,
  since_day,
  until_day,
  CASE WHEN from_day BETWEEN since_day AND until_day THEN price_before END AS old_price,
  NOT began IS NULL AND COALESCE(ended = 'CHANGED' AND to_day <= until_day, FALSE) AS is_complete
FROM price_spells, dynamics__span AS span
WHERE
  COALESCE(to_day >= since_day, TRUE)
  AND from_day <= until_day
  AND NOT is_suspect
  AND (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :category IS NULL OR category_slug IN (
      SELECT
        slug
      FROM dynamics__part
    )
  );
-- step: dynamics__figures
SELECT
  category_slug,
  group_site_id,
  currency,
  COUNT(DISTINCT item_id) AS listings,
  CAST(SUM(
    GREATEST(
      0,
      DATEDIFF(
        DAY,
        GREATEST(from_day, since_day),
        LEAST(COALESCE(to_day, until_day + 1), until_day + 1)
      )
    )
  ) AS BIGINT) AS listing_days,
  COUNT(old_price) AS changes,
  COUNT(*) FILTER(WHERE
    price > old_price) AS increases,
  COUNT(*) FILTER(WHERE
    price < old_price) AS decreases,
  MEDIAN(100 * LN(CAST(price AS DOUBLE) / CAST(old_price AS DOUBLE))) FILTER(WHERE
    price > old_price) AS median_increase,
  AVG(100 * LN(CAST(price AS DOUBLE) / CAST(old_price AS DOUBLE))) FILTER(WHERE
    price > old_price) AS mean_increase,
  MEDIAN(100 * LN(CAST(price AS DOUBLE) / CAST(old_price AS DOUBLE))) FILTER(WHERE
    price < old_price) AS median_decrease,
  AVG(100 * LN(CAST(price AS DOUBLE) / CAST(old_price AS DOUBLE))) FILTER(WHERE
    price < old_price) AS mean_decrease,
  COUNT(*) FILTER(WHERE
    is_complete) AS complete_spells,
  COUNT(*) FILTER(WHERE
    began IS NULL) AS began_unknown,
  COUNT(*) FILTER(WHERE
    NOT began IS NULL AND NOT is_complete) AS cut_off,
  MEDIAN(UNIX_MICROS(to_at) - UNIX_MICROS(from_at)) FILTER(WHERE
    is_complete) / 86400000000 AS median_days,
  AVG(UNIX_MICROS(to_at) - UNIX_MICROS(from_at)) FILTER(WHERE
    is_complete) / 86400000000 AS mean_days
FROM dynamics__spells AS spells
GROUP BY
  category_slug,
  group_site_id,
  currency;
-- step: dynamics__pairs
SELECT
  NAMED_STRUCT('product_id', product_id, 'currency', currency) AS pair,
  product_id,
  currency
FROM dynamics__spells AS spells
WHERE
  NOT product_id IS NULL
GROUP BY
  product_id,
  currency
HAVING
  MIN(site_id) <> MAX(site_id);
-- step: dynamics__shared_spells, kept
SELECT
  pair,
  site_id,
  category_slug,
  group_site_id,
  currency,
  CAST((
    GREATEST(from_day, since_day) - CAST('1970-01-05' AS DATE)
  ) AS BIGINT) DIV 7 AS first_week,
  CAST((
    LEAST(COALESCE(to_day, until_day), until_day) - CAST('1970-01-05' AS DATE)
  ) AS BIGINT) DIV 7 AS last_week,
  old_price <> price AS is_change
FROM dynamics__spells AS spells
JOIN dynamics__pairs AS pairs
  USING (product_id, currency);
-- step: dynamics__changed, kept
SELECT DISTINCT
  category_slug,
  group_site_id,
  currency,
  pair,
  site_id,
  first_week AS week
FROM dynamics__shared_spells AS shared_spells
WHERE
  is_change;
-- step: dynamics__sold_
SELECT
  pair,
  site_id,
  word,
  BIT_OR(
    SHIFTLEFT(
      (
        (
          SHIFTLEFT(
            CAST(1 AS BIGINT),
            CAST((
              LEAST(last_week, word * 62 + 61) - GREATEST(first_week, word * 62) + 1
            ) AS INT)
          )
        ) - 1
      ),
      CAST((
        GREATEST(first_week, word * 62) - word * 62
      ) AS INT)
    )
  ) AS weeks
FROM (
  SELECT
    pair,
    site_id,
    first_week,
    last_week,
    EXPLODE(
      IF(
        (
          last_week DIV 62 + 1 - 1
        ) < first_week DIV 62,
        ARRAY(),
        SEQUENCE(first_week DIV 62, (
          last_week DIV 62 + 1 - 1
        ))
      )
    ) AS word
  FROM dynamics__shared_spells AS shared_spells
)
GROUP BY
  pair,
  site_id,
  word;
-- step: dynamics__movers
SELECT
  pair,
  week,
  week DIV 62 AS word,
  COUNT(DISTINCT site_id) AS movers
FROM dynamics__changed AS changed
GROUP BY
  pair,
  week;
-- step: dynamics__sellers
SELECT
  pair,
  week,
  ANY_VALUE(movers) IGNORE NULLS AS movers,
  COUNT(*) AS sellers
FROM dynamics__movers AS movers
JOIN dynamics__sold_ AS sold
  USING (pair, word)
WHERE
  weeks & (
    SHIFTLEFT(CAST(1 AS BIGINT), CAST((
      week % 62
    ) AS INT))
  ) > 0
GROUP BY
  pair,
  week;
-- step: dynamics__together
SELECT
  category_slug,
  group_site_id,
  currency,
  COUNT(*) AS shared_changes,
  AVG(100 * (
    movers - 1
  ) / (
    sellers - 1
  )) AS synchronisation_pct
FROM dynamics__changed AS changed
JOIN dynamics__sellers AS sellers
  USING (pair, week)
WHERE
  sellers > 1
GROUP BY
  category_slug,
  group_site_id,
  currency;
-- step: dynamics
SELECT
  figures.category_slug,
  figures.group_site_id AS site_id,
  sites.name AS shop,
  figures.currency,
  listings,
  listing_days,
  changes,
  100 * changes / NULLIF(listing_days, 0) AS frequency_pct,
  CASE
    WHEN changes < listing_days AND changes > 0
    THEN -1 / LN(1 - changes / listing_days)
  END AS implied_days,
  increases,
  median_increase,
  mean_increase,
  decreases,
  median_decrease,
  mean_decrease,
  complete_spells,
  began_unknown,
  cut_off,
  median_days,
  mean_days,
  COALESCE(shared_changes, 0) AS shared_changes,
  synchronisation_pct,
  row_zones.time_zone,
  sites.attribution
FROM dynamics__figures AS figures
LEFT JOIN dynamics__together AS together
  ON together.category_slug IS NOT DISTINCT FROM figures.category_slug
  AND together.group_site_id IS NOT DISTINCT FROM figures.group_site_id
  AND together.currency = figures.currency
LEFT JOIN sites
  ON sites.site_id = figures.group_site_id AND sites.is_current
LEFT JOIN dynamics__row_zones AS row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM figures.group_site_id
ORDER BY
  changes DESC,
  figures.category_slug NULLS LAST,
  figures.group_site_id NULLS LAST,
  figures.currency NULLS LAST;
