-- Made by generate.py from pipelines/analysis/sales.sql: change that one. Source 8b42f8434e439c77.
-- step: sales__zones, kept
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
-- step: sales__sold, kept
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
  FROM sales__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM sales__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: sales__row_zones
SELECT
  site_id,
  time_zone
FROM sales__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM sales__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM sales__sold AS sold;
-- step: sales__span, kept
SELECT
  COALESCE(CAST(:until AS DATE), last_day) AS until_day,
  COALESCE(CAST(:since AS DATE), until_day - 179) AS since_day,
  COALESCE(CAST(:return_days AS INT), 30) AS return_days,
  COALESCE(CAST(:by AS STRING), 'shop') AS by_what
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
-- step: sales__day_starts
SELECT
  time_zone,
  CASE
    WHEN time_zone = 'UTC'
    THEN CAST((
      since_day - CAST('1970-01-01' AS DATE)
    ) AS BIGINT) * 86400000000
    ELSE UNIX_MICROS(TO_UTC_TIMESTAMP(CAST(since_day AS TIMESTAMP_NTZ), time_zone))
  END AS since_us,
  CASE
    WHEN time_zone = 'UTC'
    THEN CAST((
      end_day - CAST('1970-01-01' AS DATE)
    ) AS BIGINT) * 86400000000
    ELSE UNIX_MICROS(TO_UTC_TIMESTAMP(CAST(end_day AS TIMESTAMP_NTZ), time_zone))
  END AS until_us
FROM (
  SELECT DISTINCT
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
)
CROSS JOIN (
  SELECT
    since_day,
    until_day + 1 AS end_day
  FROM sales__span AS span
);
-- step: sales__known, kept
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
-- step: sales__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM sales__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: sales__named, kept
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
    FROM sales__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: sales__chosen
SELECT
  path
FROM sales__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: sales__part
SELECT
  slug
FROM sales__named AS named
UNION
SELECT
  slug
FROM sales__known AS known, sales__chosen AS chosen, sales__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: sales__spells, kept
SELECT
  item_id,
  currency,
  CASE WHEN CONTAINS(by_what, 'category') THEN category_slug END AS category_slug,
  CASE WHEN CONTAINS(by_what, 'shop') THEN site_id END AS site_id,
  price,
  price_before,
  UNIX_MICROS(from_at) - since_us AS from_us,
  LEAST(COALESCE(UNIX_MICROS(to_at), until_us), until_us) - since_us AS to_us,
  NOT ended_before IS NULL AS has_before
FROM price_spells
JOIN sales__day_starts AS day_starts
  USING (time_zone)
CROSS JOIN (
  SELECT
    by_what,
    since_day - return_days AS first_day
  FROM sales__span AS span
)
WHERE
  NOT is_suspect
  AND UNIX_MICROS(from_at) < until_us
  AND COALESCE(to_day >= first_day, TRUE)
  AND (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :category IS NULL OR category_slug IN (
      SELECT
        slug
      FROM sales__part
    )
  );
-- step: sales__all_cuts, kept
SELECT
  item_id,
  currency,
  category_slug,
  site_id,
  price_before,
  from_us AS cut_us,
  to_us,
  from_us + return_us AS return_us
FROM sales__spells AS spells
CROSS JOIN (
  SELECT
    return_days * 86400000000 AS return_us
  FROM sales__span AS span
)
WHERE
  price < price_before AND from_us >= -return_us;
-- step: sales__breaks
SELECT
  item_id,
  cut_us,
  MIN(breaks.from_us) AS break_us
FROM sales__all_cuts AS all_cuts
JOIN (
  SELECT
    item_id,
    from_us
  FROM sales__spells AS spells
  WHERE
    price_before IS NULL AND has_before
) AS breaks
  USING (item_id)
WHERE
  breaks.from_us > cut_us
GROUP BY
  item_id,
  cut_us;
-- step: sales__followed, kept
SELECT
  cut.item_id,
  cut_us,
  MIN_BY(later.price, later.from_us) FILTER(WHERE
    NOT later.price IS NULL AND later.price >= cut.price_before) AS return_price,
  MIN(later.from_us) FILTER(WHERE
    later.price >= cut.price_before) AS back_us,
  MAX(later.to_us) AS to_us
FROM (
  SELECT
    item_id,
    cut_us,
    price_before,
    LEAST(return_us, COALESCE(break_us - 1, return_us)) AS last_us
  FROM sales__all_cuts AS all_cuts
  LEFT JOIN sales__breaks AS breaks
    USING (item_id, cut_us)
) AS cut
JOIN sales__spells AS later
  ON later.item_id = cut.item_id
  AND later.from_us > cut_us
  AND later.from_us <= last_us
GROUP BY
  cut.item_id,
  cut_us;
-- step: sales__on_sale, kept
SELECT
  followed.item_id,
  cut_us,
  from_us,
  price
FROM sales__followed AS followed
JOIN sales__spells AS spells
  ON spells.item_id = followed.item_id AND from_us >= cut_us AND from_us < back_us;
-- step: sales__lowest
SELECT
  item_id,
  cut_us,
  MIN(price) AS low_price
FROM sales__on_sale AS on_sale
GROUP BY
  item_id,
  cut_us;
-- step: sales__judged
SELECT
  cuts.item_id,
  cuts.currency,
  cuts.category_slug,
  cuts.site_id,
  cuts.price_before,
  cuts.cut_us,
  return_price,
  back_us,
  low_price,
  back_us IS NULL
  AND GREATEST(cuts.to_us, COALESCE(followed.to_us, cuts.to_us)) < return_us AS is_undecided
FROM sales__all_cuts AS cuts
ANTI JOIN (
  SELECT DISTINCT
    item_id,
    from_us AS cut_us
  FROM sales__on_sale AS on_sale
  WHERE
    from_us > cut_us
) AS later
  USING (item_id, cut_us)
LEFT JOIN sales__followed AS followed
  USING (item_id, cut_us)
LEFT JOIN sales__lowest AS lowest
  USING (item_id, cut_us);
-- step: sales__figures
SELECT
  category_slug,
  site_id,
  currency,
  COUNT(*) FILTER(WHERE
    cut_us >= 0) AS cuts,
  COUNT(back_us) FILTER(WHERE
    cut_us >= 0) AS sales,
  COUNT(*) FILTER(WHERE
    cut_us >= 0 AND back_us IS NULL AND NOT is_undecided) AS lasting,
  COUNT(*) FILTER(WHERE
    cut_us >= 0 AND is_undecided) AS undecided,
  COUNT(*) FILTER(WHERE
    cut_us >= 0 AND return_price = price_before) AS returned_exactly,
  MEDIAN(
    100 * CAST((
      price_before - low_price
    ) AS DOUBLE) / CAST(price_before AS DOUBLE)
  ) FILTER(WHERE
    cut_us >= 0) AS median_depth_pct,
  AVG(
    100 * CAST((
      price_before - low_price
    ) AS DOUBLE) / CAST(price_before AS DOUBLE)
  ) FILTER(WHERE
    cut_us >= 0) AS mean_depth_pct,
  MEDIAN(back_us - cut_us) FILTER(WHERE
    cut_us >= 0) / 86400000000 AS median_days,
  AVG(back_us - cut_us) FILTER(WHERE
    cut_us >= 0) / 86400000000 AS mean_days,
  COALESCE(SUM(GREATEST(0, back_us - GREATEST(cut_us, 0))), 0) AS sale_us
FROM sales__judged AS judged
GROUP BY
  category_slug,
  site_id,
  currency;
-- step: sales__listed
SELECT
  category_slug,
  site_id,
  currency,
  COUNT(DISTINCT item_id) AS listings,
  SUM(to_us - GREATEST(from_us, 0)) AS listed_us
FROM sales__spells AS spells
WHERE
  to_us > 0
GROUP BY
  category_slug,
  site_id,
  currency;
-- step: sales
SELECT
  listed.category_slug,
  listed.site_id,
  sites.name AS shop,
  listed.currency,
  listings,
  COALESCE(cuts, 0) AS cuts,
  COALESCE(sales, 0) AS sales,
  COALESCE(lasting, 0) AS lasting,
  COALESCE(undecided, 0) AS undecided,
  100 * sales / NULLIF(sales + lasting, 0) AS sales_pct,
  100 * returned_exactly / NULLIF(sales, 0) AS returned_pct,
  median_depth_pct,
  mean_depth_pct,
  median_days,
  mean_days,
  100 * COALESCE(sale_us, 0) / listed_us AS on_sale_pct,
  row_zones.time_zone,
  sites.attribution
FROM sales__listed AS listed
LEFT JOIN sales__figures AS figures
  ON figures.category_slug IS NOT DISTINCT FROM listed.category_slug
  AND figures.site_id IS NOT DISTINCT FROM listed.site_id
  AND figures.currency = listed.currency
LEFT JOIN sites
  ON sites.site_id = listed.site_id AND sites.is_current
LEFT JOIN sales__row_zones AS row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM listed.site_id
ORDER BY
  cuts DESC,
  listed.category_slug NULLS LAST,
  listed.site_id NULLS LAST,
  listed.currency NULLS LAST;
