-- Made by generate.py from pipelines/analysis/sales.sql: change that one. Source a122a012fa99c8b6.
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
  UNIX_MICROS(from_at) AS from_us,
  COALESCE(UNIX_MICROS(to_at), until_us) AS to_us,
  since_us,
  until_us,
  return_us
FROM price_spells
JOIN sales__day_starts AS day_starts
  USING (time_zone)
CROSS JOIN (
  SELECT
    by_what,
    return_days * 86400000000 AS return_us,
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
  price,
  price_before,
  from_us,
  to_us,
  since_us,
  until_us,
  return_us
FROM sales__spells AS spells
WHERE
  price < price_before AND from_us >= since_us - return_us;
-- step: sales__stretches, kept
SELECT
  item_id,
  price,
  price_before,
  from_us,
  to_us,
  SUM(CAST((
    price_before IS NULL
  ) AS INT)) OVER (PARTITION BY item_id ORDER BY from_us NULLS LAST) AS stretch
FROM sales__spells AS spells
SEMI JOIN sales__all_cuts AS all_cuts
  USING (item_id);
-- step: sales__cuts
SELECT
  all_cuts.item_id,
  all_cuts.currency,
  all_cuts.category_slug,
  all_cuts.site_id,
  all_cuts.price_before,
  all_cuts.since_us,
  all_cuts.until_us,
  all_cuts.return_us,
  all_cuts.from_us AS cut_us,
  cut.stretch,
  MIN_BY(later.price, later.from_us) FILTER(WHERE
    NOT later.price IS NULL) AS return_price,
  MIN(later.from_us) AS back_us
FROM sales__all_cuts AS all_cuts
JOIN sales__stretches AS cut
  USING (item_id, from_us)
LEFT JOIN sales__stretches AS later
  ON later.item_id = cut.item_id
  AND later.stretch = cut.stretch
  AND later.price >= cut.price_before
  AND later.from_us > cut.from_us
  AND later.from_us <= cut.from_us + return_us
  AND later.from_us < until_us
GROUP BY ALL;
-- step: sales__first_cuts
SELECT
  item_id,
  currency,
  category_slug,
  site_id,
  price_before,
  since_us,
  until_us,
  return_us,
  cut_us,
  stretch,
  return_price,
  back_us
FROM (
  SELECT
    item_id,
    currency,
    category_slug,
    site_id,
    price_before,
    since_us,
    until_us,
    return_us,
    cut_us,
    stretch,
    return_price,
    back_us,
    MAX(back_us) OVER (
      PARTITION BY item_id, stretch
      ORDER BY cut_us NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS _w
  FROM sales__cuts AS cuts
) AS _t
WHERE
  cut_us >= COALESCE(_w, cut_us);
-- step: sales__ends
SELECT
  item_id,
  stretch,
  MAX(to_us) AS end_us
FROM sales__stretches AS stretches
GROUP BY
  item_id,
  stretch;
-- step: sales__judged, kept
SELECT
  first_cuts.item_id,
  first_cuts.currency,
  first_cuts.category_slug,
  first_cuts.site_id,
  first_cuts.price_before,
  first_cuts.since_us,
  first_cuts.until_us,
  first_cuts.return_us,
  first_cuts.cut_us,
  first_cuts.stretch,
  first_cuts.return_price,
  first_cuts.back_us,
  back_us IS NULL AND LEAST(end_us, until_us) < cut_us + return_us AS is_undecided
FROM sales__first_cuts AS first_cuts
JOIN sales__ends AS ends
  USING (item_id, stretch);
-- step: sales__lowest
SELECT
  judged.item_id,
  judged.cut_us,
  MIN(stretches.price) AS low_price
FROM sales__judged AS judged
JOIN sales__stretches AS stretches
  USING (item_id, stretch)
WHERE
  NOT back_us IS NULL
  AND stretches.from_us >= judged.cut_us
  AND stretches.from_us < back_us
GROUP BY
  judged.item_id,
  judged.cut_us;
-- step: sales__figures
SELECT
  category_slug,
  site_id,
  currency,
  COUNT(*) FILTER(WHERE
    cut_us >= since_us) AS cuts,
  COUNT(back_us) FILTER(WHERE
    cut_us >= since_us) AS sales,
  COUNT(*) FILTER(WHERE
    cut_us >= since_us AND back_us IS NULL AND NOT is_undecided) AS lasting,
  COUNT(*) FILTER(WHERE
    cut_us >= since_us AND is_undecided) AS undecided,
  COUNT(*) FILTER(WHERE
    cut_us >= since_us AND return_price = price_before) AS returned_exactly,
  MEDIAN(
    100 * CAST((
      price_before - low_price
    ) AS DOUBLE) / CAST(price_before AS DOUBLE)
  ) FILTER(WHERE
    cut_us >= since_us) AS median_depth_pct,
  AVG(
    100 * CAST((
      price_before - low_price
    ) AS DOUBLE) / CAST(price_before AS DOUBLE)
  ) FILTER(WHERE
    cut_us >= since_us) AS mean_depth_pct,
  MEDIAN(back_us - cut_us) FILTER(WHERE
    cut_us >= since_us) / 86400000000 AS median_days,
  AVG(back_us - cut_us) FILTER(WHERE
    cut_us >= since_us) / 86400000000 AS mean_days,
  COALESCE(SUM(GREATEST(0, back_us - GREATEST(cut_us, since_us))), 0) AS sale_us
FROM sales__judged AS judged
LEFT JOIN sales__lowest AS lowest
  USING (item_id, cut_us)
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
  SUM(LEAST(to_us, until_us) - GREATEST(from_us, since_us)) AS listed_us
FROM sales__spells AS spells
WHERE
  to_us > since_us
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
