-- Made by generate.py from pipelines/analysis/prior_price.sql: change that one. Source fddf8025b35fac48.
-- step: prior_price__zones, kept
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
-- step: prior_price__sold, kept
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
  FROM prior_price__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM prior_price__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: prior_price__row_zones
SELECT
  site_id,
  time_zone
FROM prior_price__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM prior_price__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM prior_price__sold AS sold;
-- step: prior_price__span
SELECT
  COALESCE(CAST(:until AS DATE), last_day) AS until_day,
  COALESCE(CAST(:since AS DATE), until_day - 29) AS since_day,
  COALESCE(CAST(:days AS BIGINT), 30) * 86400000000 AS before_us
FROM (
  SELECT
    seen_day AS last_day
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
-- step: prior_price__known, kept
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
-- step: prior_price__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM prior_price__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: prior_price__named, kept
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
    FROM prior_price__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: prior_price__chosen_
SELECT
  path
FROM prior_price__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: prior_price__part
SELECT
  slug
FROM prior_price__named AS named
UNION
SELECT
  slug
FROM prior_price__known AS known, prior_price__chosen_ AS chosen, prior_price__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: prior_price__chosen, kept
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
  ended,
  ended_before,
  price_before,
  is_suspect,
  category_slug,
  is_confirmed,
  time_zone
FROM price_spells
WHERE
  (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  )
  AND (
    :product IS NULL OR product_id = :product
  )
  AND (
    :category IS NULL
    OR category_slug IN (
      SELECT
        slug
      FROM prior_price__part
    )
  );
-- step: prior_price__cuts, kept
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  from_at,
  UNIX_MICROS(from_at) AS from_us,
  price,
  price_before,
  before_us
FROM prior_price__chosen AS chosen, prior_price__span AS span
WHERE
  price < price_before
  AND NOT is_suspect
  AND from_day BETWEEN since_day AND until_day
ORDER BY
  from_us DESC,
  item_id NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 100), 2147483647) AS INT);
-- step: prior_price__spells, kept
SELECT
  item_id,
  currency,
  price,
  price_before,
  is_suspect,
  from_at,
  began,
  UNIX_MICROS(from_at) AS from_us,
  COALESCE(UNIX_MICROS(to_at), 9223372036854775807) AS to_us
FROM prior_price__chosen AS chosen
SEMI JOIN prior_price__cuts AS cuts
  USING (item_id);
-- step: prior_price__earlier_cuts
SELECT
  cuts.item_id,
  cuts.from_us,
  MAX(spells.from_at) AS earlier_cut_at
FROM prior_price__cuts AS cuts
JOIN prior_price__spells AS spells
  ON spells.item_id = cuts.item_id
  AND spells.price < spells.price_before
  AND NOT spells.is_suspect
  AND spells.from_us < cuts.from_us
  AND spells.from_us >= cuts.from_us - before_us
GROUP BY
  cuts.item_id,
  cuts.from_us;
-- step: prior_price__firsts
SELECT
  item_id,
  MIN(from_us) AS first_us,
  MIN_BY(began, from_us) IS NOT DISTINCT FROM 'NEW' AS was_new
FROM prior_price__spells AS spells
GROUP BY
  item_id;
-- step: prior_price__covered
SELECT
  cuts.item_id,
  cuts.from_us,
  MIN(spells.price) FILTER(WHERE
    NOT is_suspect) AS lowest_before,
  COALESCE(
    SUM(
      LEAST(spells.to_us, cuts.from_us) - GREATEST(spells.from_us, cuts.from_us - before_us)
    ) FILTER(WHERE
      NOT spells.began IS NULL AND NOT is_suspect),
    0
  ) AS known_us,
  COALESCE(
    SUM(
      LEAST(spells.to_us, cuts.from_us) - GREATEST(spells.from_us, cuts.from_us - before_us)
    ) FILTER(WHERE
      spells.began IS NULL OR is_suspect),
    0
  ) AS unsure_us
FROM prior_price__cuts AS cuts
JOIN prior_price__spells AS spells
  ON spells.item_id = cuts.item_id
  AND spells.currency = cuts.currency
  AND spells.from_us < cuts.from_us
  AND spells.to_us > cuts.from_us - before_us
GROUP BY
  cuts.item_id,
  cuts.from_us;
-- step: prior_price__parts
SELECT
  item_id,
  cuts.product_id,
  cuts.site_id,
  cuts.currency,
  cuts.from_at,
  from_us,
  cuts.price,
  cuts.price_before,
  cuts.before_us,
  covered.lowest_before,
  covered.known_us,
  covered.unsure_us,
  firsts.first_us,
  firsts.was_new,
  earlier_cuts.earlier_cut_at,
  unsure_us + CASE WHEN was_new THEN 0 ELSE GREATEST(0, first_us - (
    from_us - before_us
  )) END AS unknown_us
FROM prior_price__cuts AS cuts
JOIN prior_price__covered AS covered
  USING (item_id, from_us)
JOIN prior_price__firsts AS firsts
  USING (item_id)
LEFT JOIN prior_price__earlier_cuts AS earlier_cuts
  USING (item_id, from_us);
-- step: prior_price
SELECT
  parts.item_id,
  items.title,
  parts.product_id,
  parts.site_id,
  sites.name AS shop,
  parts.currency,
  parts.from_at AS cut_at,
  price_before,
  parts.price,
  100 * CAST((
    price_before - parts.price
  ) AS DOUBLE) / CAST(price_before AS DOUBLE) AS cut_pct,
  lowest_before,
  100 * CAST((
    lowest_before - parts.price
  ) AS DOUBLE) / CAST(lowest_before AS DOUBLE) AS cut_from_lowest_pct,
  known_us / 86400000000 AS days_known,
  (
    before_us - known_us - unknown_us
  ) / 86400000000 AS days_unlisted,
  unknown_us / 86400000000 AS days_unknown,
  earlier_cut_at,
  row_zones.time_zone,
  sites.attribution
FROM prior_price__parts AS parts
JOIN (
  SELECT
    item_id,
    title
  FROM items
) AS items
  USING (item_id)
LEFT JOIN sites
  ON sites.site_id = parts.site_id AND sites.is_current
LEFT JOIN prior_price__row_zones AS row_zones
  ON row_zones.site_id = parts.site_id
ORDER BY
  parts.from_us DESC,
  parts.item_id NULLS LAST;
