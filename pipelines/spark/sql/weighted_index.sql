-- Made by generate.py from pipelines/analysis/weighted_index.sql: change that one. Source 5d8b87a66d421b2d.
-- step: weighted_index__zones, kept
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
-- step: weighted_index__sold, kept
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
  FROM weighted_index__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM weighted_index__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: weighted_index__row_zones
SELECT
  site_id,
  time_zone
FROM weighted_index__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM weighted_index__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM weighted_index__sold AS sold;
-- step: weighted_index__settings, kept
SELECT
  COALESCE(CAST(:period AS STRING), 'month') AS unit,
  COALESCE(CAST(:until AS DATE), seen_day) AS until_day,
  COALESCE(
    CAST(:since AS DATE),
    CASE unit
      WHEN 'week'
      THEN until_day - 364
      WHEN 'day'
      THEN until_day - 60
      ELSE CAST('0001-01-01' AS DATE)
    END
  ) AS since_day
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
-- step: weighted_index__zones_, kept
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
-- step: weighted_index__sold_, kept
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
  FROM weighted_index__zones_ AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM weighted_index__zones_ AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: weighted_index__row_zones_
SELECT
  site_id,
  time_zone
FROM weighted_index__sold_ AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM weighted_index__zones_ AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM weighted_index__sold_ AS sold;
-- step: weighted_index__settings_, kept
SELECT
  COALESCE(CAST(:period AS STRING), 'month') AS unit,
  COALESCE(CAST(:until AS DATE), seen_day) AS until_day,
  COALESCE(
    CAST(:since AS DATE),
    CASE unit
      WHEN 'week'
      THEN until_day - 364
      WHEN 'day'
      THEN until_day - 60
      ELSE CAST('0001-01-01' AS DATE)
    END
  ) AS since_day
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
-- step: weighted_index__asked
SELECT
  COALESCE(CAST(:relaunches AS STRING), 'none') <> 'none' AS is_asked;
-- step: weighted_index__span, kept
SELECT
  COALESCE(CAST(:days AS BIGINT), 30) * 86400000000 AS days_us,
  COALESCE(CAST(:overlap_days AS BIGINT), 1) * 86400000000 AS overlap_us;
-- step: weighted_index__listings_, kept
SELECT
  item_id,
  site_id,
  product_id,
  title,
  url,
  category_slug,
  UNIX_MICROS(first_seen_at) AS seen_us,
  CASE WHEN NOT is_listed THEN UNIX_MICROS(COALESCE(removed_at, gone_at)) END AS ended_us
FROM items
CROSS JOIN weighted_index__asked AS asked
WHERE
  is_asked
  AND NOT first_seen_at IS NULL
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  );
-- step: weighted_index__ends
SELECT
  site_id,
  MIN(ended_us) AS first_us,
  MAX(ended_us) AS last_us
FROM weighted_index__listings_ AS listings
WHERE
  NOT ended_us IS NULL
GROUP BY
  site_id;
-- step: weighted_index__ended_or_new, kept
SELECT
  listings.item_id,
  listings.site_id,
  listings.product_id,
  listings.title,
  listings.url,
  listings.category_slug,
  listings.seen_us,
  listings.ended_us,
  seen_us BETWEEN first_us - overlap_us AND last_us + days_us AS is_new
FROM weighted_index__listings_ AS listings
JOIN weighted_index__ends AS ends
  USING (site_id)
CROSS JOIN weighted_index__span AS span
WHERE
  NOT ended_us IS NULL
  OR seen_us BETWEEN first_us - overlap_us AND last_us + days_us;
-- step: weighted_index__sure_values, kept
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  'product' AS kind,
  product_id AS value
FROM weighted_index__ended_or_new AS ended_or_new
WHERE
  NOT product_id IS NULL
UNION ALL
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  'url',
  REGEXP_REPLACE(REGEXP_REPLACE(url, '^(?iu:https?://)?(?iu:www\\.)?', ''), '/?(#.*)?\\z', '')
FROM weighted_index__ended_or_new AS ended_or_new
WHERE
  NOT url IS NULL;
-- step: weighted_index__sure, kept
SELECT
  ended.item_id AS old_id,
  told.item_id AS new_id,
  ended.kind
FROM (
  SELECT
    item_id,
    site_id,
    seen_us,
    ended_us,
    is_new,
    kind,
    value
  FROM (
    SELECT
      item_id,
      site_id,
      seen_us,
      ended_us,
      is_new,
      kind,
      value,
      COUNT(*) OVER (PARTITION BY site_id, kind, value) AS _w
    FROM weighted_index__sure_values AS sure_values
    WHERE
      NOT ended_us IS NULL
  ) AS _t
  WHERE
    _w <= 100
) AS ended
CROSS JOIN weighted_index__span AS span
JOIN weighted_index__sure_values AS told
  ON told.site_id = ended.site_id
  AND told.kind = ended.kind
  AND told.value = ended.value
  AND told.is_new
  AND told.seen_us > ended.seen_us
  AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us;
-- step: weighted_index__numbered, kept
SELECT
  item_id,
  site_id,
  product_id IS NULL AS is_free,
  ARRAY_JOIN(ARRAY_SORT(ARRAY_DISTINCT(REGEXP_EXTRACT_ALL(title, '[0-9]+', 0))), ' ') AS numbers
FROM weighted_index__ended_or_new AS ended_or_new
WHERE
  NOT title IS NULL;
-- step: weighted_index__worded
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  ARRAY_SORT(
    ARRAY_DISTINCT(
      TRANSFORM(
        REGEXP_EXTRACT_ALL(
          TRANSLATE(
            LOWER(title),
            'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżйёάέήίόύώ',
            'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzиеαεηιουω'
          ),
          '[\\p{L}]+|[0-9]+',
          0
        ),
        word -> CASE WHEN LEFT(word, 1) BETWEEN '0' AND '9' THEN word ELSE LEFT(word, 4) END
      )
    )
  ) AS stems
FROM weighted_index__ended_or_new AS ended_or_new
SEMI JOIN (
  SELECT
    item_id
  FROM weighted_index__numbered AS numbered
  SEMI JOIN (
    SELECT
      site_id,
      numbers
    FROM weighted_index__numbered AS numbered
    LEFT JOIN (
      SELECT DISTINCT
        old_id
      FROM weighted_index__sure AS sure
    ) AS paired
      ON old_id = item_id
    WHERE
      is_free OR NOT old_id IS NULL
  ) AS wanted
    USING (site_id, numbers)
) AS compared
  USING (item_id);
-- step: weighted_index__titles, kept
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  CASE WHEN ARRAY_SIZE(stems) >= 3 THEN ARRAY_JOIN(stems, ' ') END AS value
FROM weighted_index__worded AS worded;
-- step: weighted_index__alike
SELECT
  old_id,
  new_id,
  ARRAY_SORT(COLLECT_LIST(kind)) AS kinds
FROM (
  SELECT
    old_id,
    new_id,
    kind
  FROM weighted_index__sure AS sure
  UNION ALL
  SELECT
    ended.item_id,
    told.item_id,
    'title'
  FROM (
    SELECT
      item_id,
      site_id,
      seen_us,
      ended_us,
      is_new,
      value
    FROM (
      SELECT
        item_id,
        site_id,
        seen_us,
        ended_us,
        is_new,
        value,
        COUNT(*) OVER (PARTITION BY site_id, value) AS _w
      FROM weighted_index__titles AS titles
      WHERE
        NOT ended_us IS NULL
    ) AS _t
    WHERE
      _w <= 100
  ) AS ended
  CROSS JOIN weighted_index__span AS span
  JOIN weighted_index__titles AS told
    ON told.site_id = ended.site_id
    AND told.value = ended.value
    AND told.is_new
    AND told.seen_us > ended.seen_us
    AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us
)
GROUP BY
  old_id,
  new_id;
-- step: weighted_index__pairs_, kept
SELECT
  old_id,
  new_id,
  kinds
FROM weighted_index__alike AS alike
JOIN weighted_index__ended_or_new AS old
  ON old.item_id = old_id
JOIN weighted_index__ended_or_new AS new
  ON new.item_id = new_id
WHERE
  kinds <> ARRAY('title') OR old.product_id IS NULL OR new.product_id IS NULL;
-- step: weighted_index__direct
SELECT
  old_id,
  new_id,
  kinds,
  COUNT(*) OVER (PARTITION BY old_id) AS candidates,
  COUNT(*) OVER (PARTITION BY new_id) AS rivals
FROM weighted_index__pairs_ AS pairs
ANTI JOIN (
  SELECT DISTINCT
    earlier.old_id,
    later.new_id
  FROM weighted_index__pairs_ AS earlier
  JOIN weighted_index__pairs_ AS later
    ON later.old_id = earlier.new_id
) AS roundabout
  USING (old_id, new_id);
-- step: weighted_index__pairs
SELECT
  old_id,
  new_id,
  kinds,
  candidates,
  rivals,
  old.ended_us,
  new.seen_us
FROM weighted_index__direct AS direct
JOIN weighted_index__ended_or_new AS old
  ON old.item_id = old_id
JOIN weighted_index__ended_or_new AS new
  ON new.item_id = new_id;
-- step: weighted_index__links, kept
SELECT
  new_id AS item_id,
  old_id AS before_id
FROM weighted_index__pairs AS pairs
WHERE
  candidates = 1
  AND rivals = 1
  AND (
    :relaunches = 'any' OR ARRAY_CONTAINS(kinds, CAST(:relaunches AS STRING))
  );
-- step: weighted_index__twice, kept
SELECT
  one.item_id,
  COALESCE(two.before_id, one.before_id) AS before_id
FROM weighted_index__links AS one
LEFT JOIN weighted_index__links AS two
  ON two.item_id = one.before_id;
-- step: weighted_index__four_times, kept
SELECT
  one.item_id,
  COALESCE(two.before_id, one.before_id) AS before_id
FROM weighted_index__twice AS one
LEFT JOIN weighted_index__twice AS two
  ON two.item_id = one.before_id;
-- step: weighted_index__eight_times, kept
SELECT
  one.item_id,
  COALESCE(two.before_id, one.before_id) AS before_id
FROM weighted_index__four_times AS one
LEFT JOIN weighted_index__four_times AS two
  ON two.item_id = one.before_id;
-- step: weighted_index__relaunches
SELECT
  one.item_id,
  COALESCE(two.before_id, one.before_id) AS first_item_id
FROM weighted_index__eight_times AS one
LEFT JOIN weighted_index__eight_times AS two
  ON two.item_id = one.before_id;
-- step: weighted_index__known, kept
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
-- step: weighted_index__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM weighted_index__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: weighted_index__named, kept
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
    FROM weighted_index__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: weighted_index__chosen
SELECT
  path
FROM weighted_index__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: weighted_index__part
SELECT
  slug
FROM weighted_index__named AS named
UNION
SELECT
  slug
FROM weighted_index__known AS known, weighted_index__chosen AS chosen, weighted_index__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: weighted_index__listings__
SELECT
  item_id,
  currency,
  ANY_VALUE(product_id) IGNORE NULLS AS product_id,
  ANY_VALUE(site_id) IGNORE NULLS AS site_id,
  ANY_VALUE(category_slug) IGNORE NULLS AS category_slug
FROM price_spells
WHERE
  NOT is_suspect
  AND (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  )
  AND (
    :category IS NULL
    OR category_slug IN (
      SELECT
        slug
      FROM weighted_index__part
    )
  )
  AND (
    :brand IS NULL
    OR item_id IN (
      SELECT
        item_id
      FROM items
      WHERE
        LOWER(brand) = LOWER(CAST(:brand AS STRING))
    )
  )
GROUP BY
  item_id,
  currency;
-- step: weighted_index__spellings
SELECT
  folded,
  brand
FROM (
  SELECT
    folded,
    brand,
    ROW_NUMBER() OVER (PARTITION BY folded ORDER BY listings DESC, brand NULLS LAST) AS _w
  FROM (
    SELECT
      LOWER(brand) AS folded,
      brand,
      COUNT(*) AS listings
    FROM items
    WHERE
      NOT brand IS NULL
      AND CONTAINS(COALESCE(CAST(:by AS STRING), 'category'), 'brand')
    GROUP BY
      brand
  )
) AS _t
WHERE
  CAST(_w AS BIGINT) = 1;
-- step: weighted_index__listings, kept
SELECT
  listings.item_id,
  COALESCE(first_item_id, listings.item_id) AS first_item_id,
  product_id,
  currency,
  listings.site_id AS shop_id,
  CASE
    WHEN CONTAINS(COALESCE(CAST(:by AS STRING), 'category'), 'category')
    THEN category_slug
  END AS category_slug,
  CASE
    WHEN CONTAINS(COALESCE(CAST(:by AS STRING), 'category'), 'shop')
    THEN listings.site_id
  END AS site_id,
  CASE
    WHEN CONTAINS(COALESCE(CAST(:by AS STRING), 'category'), 'product')
    THEN product_id
  END AS product_group,
  CASE
    WHEN CONTAINS(COALESCE(CAST(:by AS STRING), 'category'), 'item')
    THEN COALESCE(first_item_id, listings.item_id)
  END AS item_group,
  brand,
  dataset,
  region
FROM weighted_index__listings__ AS listings
LEFT JOIN (
  SELECT
    item_id,
    spellings.brand
  FROM (
    SELECT
      item_id,
      LOWER(brand) AS folded
    FROM items
    WHERE
      CONTAINS(COALESCE(CAST(:by AS STRING), 'category'), 'brand')
  ) AS named
  JOIN weighted_index__spellings AS spellings
    USING (folded)
) AS brands
  ON brands.item_id = listings.item_id
LEFT JOIN (
  SELECT
    item_id,
    EXPLODE(ARRAY_DISTINCT(datasets)) AS dataset
  FROM items
  WHERE
    CONTAINS(COALESCE(CAST(:by AS STRING), 'category'), 'dataset')
) AS sets
  ON sets.item_id = listings.item_id
LEFT JOIN (
  SELECT
    site_id,
    text AS region
  FROM offer_rules
  WHERE
    rule = 'region' AND CONTAINS(COALESCE(CAST(:by AS STRING), 'category'), 'region')
) AS regions
  ON regions.site_id = listings.site_id
LEFT JOIN weighted_index__relaunches AS relaunches
  ON relaunches.item_id = listings.item_id;
-- step: weighted_index__groups, kept
SELECT
  CAST(ROW_NUMBER() OVER (
    ORDER BY category_slug NULLS LAST, currency NULLS LAST, site_id NULLS LAST, product_group NULLS LAST, item_group NULLS LAST, brand NULLS LAST, dataset NULLS LAST, region NULLS LAST
  ) AS BIGINT) AS key,
  category_slug,
  currency,
  site_id,
  product_group,
  item_group,
  brand,
  dataset,
  region
FROM (
  SELECT DISTINCT
    category_slug,
    currency,
    site_id,
    product_group,
    item_group,
    brand,
    dataset,
    region
  FROM weighted_index__listings AS listings
);
-- step: weighted_index__series, kept
SELECT
  CAST(DENSE_RANK() OVER (ORDER BY first_item_id NULLS LAST, key NULLS LAST) AS BIGINT) AS series,
  key,
  item_id,
  first_item_id,
  product_id,
  listings.currency,
  shop_id
FROM weighted_index__listings AS listings
JOIN weighted_index__groups AS groups
  ON groups.currency = listings.currency
  AND groups.category_slug IS NOT DISTINCT FROM listings.category_slug
  AND groups.site_id IS NOT DISTINCT FROM listings.site_id
  AND groups.brand IS NOT DISTINCT FROM listings.brand
  AND groups.product_group IS NOT DISTINCT FROM listings.product_group
  AND groups.item_group IS NOT DISTINCT FROM listings.item_group
  AND groups.dataset IS NOT DISTINCT FROM listings.dataset
  AND groups.region IS NOT DISTINCT FROM listings.region;
-- step: weighted_index__zone_numbers, kept
SELECT
  time_zone,
  CAST(ROW_NUMBER() OVER (ORDER BY time_zone NULLS LAST) AS BIGINT) AS zone
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
);
-- step: weighted_index__spans
SELECT
  series,
  zone,
  CASE
    WHEN ABS(price) < 10000000000
    THEN CAST((
      price * 10000
    ) AS BIGINT)
    ELSE CAST((
      CAST(price AS DECIMAL(23, 4)) * 10000
    ) AS BIGINT)
  END AS units,
  UNIX_MICROS(from_at) AS from_us,
  COALESCE(UNIX_MICROS(to_at), 9223372036854775807) AS to_us,
  GREATEST(from_day, since_day) AS first_day,
  LEAST(COALESCE(to_day, until_day), until_day) AS last_day,
  unit
FROM price_spells
JOIN (
  SELECT
    item_id,
    currency,
    series
  FROM weighted_index__series AS series
) AS series
  USING (item_id, currency)
JOIN weighted_index__zone_numbers AS zone_numbers
  USING (time_zone)
CROSS JOIN weighted_index__settings_ AS settings
WHERE
  NOT is_suspect AND from_day <= until_day AND COALESCE(to_day >= since_day, TRUE);
-- step: weighted_index__numbered_, kept
SELECT
  series,
  zone,
  units,
  from_us,
  to_us,
  CASE unit
    WHEN 'month'
    THEN YEAR(first_day) * 12 + MONTH(first_day) - 1
    WHEN 'week'
    THEN CAST((
      first_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT) DIV 7
    WHEN 'day'
    THEN CAST((
      first_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT)
  END AS first_period,
  CASE unit
    WHEN 'month'
    THEN YEAR(last_day) * 12 + MONTH(last_day) - 1
    WHEN 'week'
    THEN CAST((
      last_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT) DIV 7
    WHEN 'day'
    THEN CAST((
      last_day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT)
  END AS last_period
FROM weighted_index__spans AS spans
WHERE
  first_day <= last_day;
-- step: weighted_index__bounds
SELECT
  zone,
  MIN(first_period) AS first_bound,
  MAX(last_period) AS last_bound
FROM weighted_index__numbered_ AS numbered
GROUP BY
  zone;
-- step: weighted_index__days
SELECT
  zone,
  period,
  since_day,
  until_day,
  CASE unit
    WHEN 'month'
    THEN MAKE_DATE(CAST((
      period DIV 12
    ) AS INT), CAST((
      period % 12
    ) AS INT) + 1, 1)
    WHEN 'week'
    THEN CAST('1970-01-05' AS DATE) + CAST((
      period * 7
    ) AS INT)
    WHEN 'day'
    THEN CAST('1970-01-05' AS DATE) + CAST(period AS INT)
  END AS begins,
  CASE unit
    WHEN 'month'
    THEN MAKE_DATE(
      CAST((
        (
          period + 1
        ) DIV 12
      ) AS INT),
      CAST((
        (
          period + 1
        ) % 12
      ) AS INT) + 1,
      1
    )
    WHEN 'week'
    THEN CAST('1970-01-05' AS DATE) + CAST((
      period * 7 + 7
    ) AS INT)
    WHEN 'day'
    THEN CAST('1970-01-05' AS DATE) + CAST((
      period + 1
    ) AS INT)
  END AS ends,
  CASE
    WHEN unit = 'month' AND COALESCE(CAST(:price AS STRING), 'mean') = 'week'
    THEN begins + COALESCE(CAST(:collection_day AS INT), 15) - 1
  END AS collected
FROM (
  SELECT
    zone,
    EXPLODE(
      IF(
        first_bound > (
          last_bound + 1 - 1
        ),
        ARRAY(),
        SEQUENCE(first_bound, (
          last_bound + 1 - 1
        ))
      )
    ) AS period
  FROM weighted_index__bounds AS bounds
)
CROSS JOIN (
  SELECT
    unit,
    since_day,
    until_day
  FROM weighted_index__settings_ AS settings
);
-- step: weighted_index__windows
SELECT
  zone,
  period,
  CASE
    WHEN COALESCE(CAST(:price AS STRING), 'mean') = 'last'
    THEN end_us - 1
    ELSE begin_us
  END AS begin_us,
  end_us
FROM (
  SELECT
    zone,
    period,
    CASE
      WHEN time_zone = 'UTC'
      THEN CAST((
        begin_day - CAST('1970-01-01' AS DATE)
      ) AS BIGINT) * 86400000000
      ELSE UNIX_MICROS(TO_UTC_TIMESTAMP(CAST(begin_day AS TIMESTAMP_NTZ), time_zone))
    END AS begin_us,
    CASE
      WHEN time_zone = 'UTC'
      THEN CAST((
        end_day - CAST('1970-01-01' AS DATE)
      ) AS BIGINT) * 86400000000
      ELSE UNIX_MICROS(TO_UTC_TIMESTAMP(CAST(end_day AS TIMESTAMP_NTZ), time_zone))
    END AS end_us
  FROM (
    SELECT
      zone,
      time_zone,
      period,
      GREATEST(
        COALESCE(collected - CAST((
          ((DAYOFWEEK(collected) % 7) + 1) - 1
        ) AS INT), begins),
        since_day
      ) AS begin_day,
      LEAST(
        COALESCE(collected - CAST((
          ((DAYOFWEEK(collected) % 7) + 1) - 8
        ) AS INT), ends),
        until_day + 1
      ) AS end_day
    FROM weighted_index__days AS days
    JOIN weighted_index__zone_numbers AS zone_numbers
      USING (zone)
  )
)
WHERE
  begin_us < end_us;
-- step: weighted_index__parts, kept
SELECT
  numbered.series * 1048576 + windows.period AS place,
  units,
  LEAST(to_us, end_us) - GREATEST(from_us, begin_us) AS us
FROM (
  SELECT
    series,
    zone,
    units,
    from_us,
    to_us,
    EXPLODE(
      CASE
        WHEN COALESCE(CAST(:relaunches AS STRING), 'none') <> 'none'
        THEN IF(
          first_period > (
            last_period + 1 - 1
          ),
          ARRAY(),
          SEQUENCE(first_period, (
            last_period + 1 - 1
          ))
        )
        WHEN first_period = last_period
        THEN ARRAY(first_period)
        ELSE ARRAY(first_period, last_period)
      END
    ) AS period
  FROM weighted_index__numbered_ AS numbered
) AS numbered
JOIN weighted_index__windows AS windows
  ON windows.zone = numbered.zone AND windows.period = numbered.period
WHERE
  to_us > begin_us AND from_us < end_us;
-- step: weighted_index__means
SELECT
  place,
  CASE
    WHEN total = CAST(lowest AS DECIMAL(38, 0)) * us
    THEN lowest / 10000
    ELSE CAST(total AS DOUBLE) / CAST((
      10000 * us
    ) AS DOUBLE)
  END AS price
FROM (
  SELECT
    place,
    MIN(units) AS lowest,
    SUM(CAST(units AS DECIMAL(38, 0)) * us) AS total,
    SUM(us) AS us
  FROM weighted_index__parts AS parts
  WHERE
    COALESCE(CAST(:price AS STRING), 'mean') <> 'median'
  GROUP BY
    place
);
-- step: weighted_index__medians
SELECT
  place,
  MIN(units) / 10000 AS price
FROM (
  SELECT
    place,
    units,
    2 * SUM(us) OVER (PARTITION BY place ORDER BY units NULLS LAST) AS twice,
    SUM(us) OVER (PARTITION BY place) AS whole
  FROM weighted_index__parts AS parts
  WHERE
    COALESCE(CAST(:price AS STRING), 'mean') = 'median'
)
WHERE
  twice >= whole
GROUP BY
  place;
-- step: weighted_index__priced, kept
SELECT
  place DIV 1048576 AS series,
  place % 1048576 AS period,
  CAST(ROUND(LN(price) * 1e15) AS BIGINT) AS log_price
FROM (
  SELECT
    place,
    price
  FROM weighted_index__means AS means
  UNION ALL
  SELECT
    place,
    price
  FROM weighted_index__medians AS medians
)
UNION ALL
SELECT
  series,
  EXPLODE(
    IF(
      (
        last_period - 1
      ) < first_period + 1,
      ARRAY(),
      SEQUENCE(first_period + 1, (
        last_period - 1
      ))
    )
  ),
  log_price
FROM (
  SELECT
    series,
    first_period,
    last_period,
    CAST(ROUND(LN(units / 10000) * 1e15) AS BIGINT) AS log_price
  FROM weighted_index__numbered_ AS numbered
  WHERE
    last_period > first_period + 1
    AND COALESCE(CAST(:relaunches AS STRING), 'none') = 'none'
);
-- step: weighted_index__dropped
SELECT
  series,
  period
FROM (
  SELECT
    series,
    period,
    log_price,
    LAG(log_price) OVER in_order AS log_before,
    LEAD(period) OVER in_order AS next_period,
    MAX(period) OVER () AS newest_period
  FROM weighted_index__priced AS priced
  WHERE
    NOT :drop_pct IS NULL
  WINDOW in_order AS (PARTITION BY series ORDER BY period NULLS LAST)
)
WHERE
  next_period IS NULL
  AND period < newest_period
  AND EXP((
    log_price - log_before
  ) / 1e15) <= 1 - CAST(:drop_pct AS DOUBLE) / 100 + 1e-12;
-- step: weighted_index__period_prices, kept
SELECT
  series,
  period,
  log_price
FROM weighted_index__priced AS priced
ANTI JOIN weighted_index__dropped AS dropped
  USING (series, period);
-- step: weighted_index__heads
SELECT
  series,
  key,
  currency,
  shop_id,
  COALESCE(product_id, CAST(first_item_id AS STRING)) AS product
FROM weighted_index__series AS series
WHERE
  COALESCE(CAST(:relaunches AS STRING), 'none') = 'none'
UNION ALL
SELECT
  series,
  ANY_VALUE(key) IGNORE NULLS,
  ANY_VALUE(currency) IGNORE NULLS,
  MIN(shop_id),
  MIN(COALESCE(product_id, CAST(first_item_id AS STRING)))
FROM weighted_index__series AS series
WHERE
  :relaunches <> 'none'
GROUP BY
  series;
-- step: weighted_index__bounds_
SELECT
  MIN(period) AS first_bound,
  MAX(period) AS last_bound
FROM weighted_index__period_prices AS period_prices;
-- step: weighted_index__presence
SELECT
  series,
  CASE
    WHEN ANY_VALUE(last_bound - first_bound) IGNORE NULLS < 124
    THEN COALESCE(
      BIT_OR(
        CASE
          WHEN period - first_bound < 62
          THEN SHIFTLEFT(CAST(1 AS BIGINT), CAST(LEAST(period - first_bound, 61) AS INT))
        END
      ),
      0
    )
    ELSE series
  END AS early,
  CASE
    WHEN ANY_VALUE(last_bound - first_bound) IGNORE NULLS BETWEEN 62 AND 123
    THEN BIT_OR(
      CASE
        WHEN period - first_bound >= 62
        THEN SHIFTLEFT(CAST(1 AS BIGINT), CAST(LEAST(period - first_bound - 62, 61) AS INT))
      END
    )
  END AS late
FROM weighted_index__period_prices AS period_prices
CROSS JOIN weighted_index__bounds_ AS bounds
GROUP BY
  series;
-- step: weighted_index__patterns, kept
SELECT
  series,
  key,
  currency,
  shop_id,
  CAST(DENSE_RANK() OVER (ORDER BY key NULLS LAST, early NULLS LAST, late NULLS LAST) AS BIGINT) AS pattern_key
FROM weighted_index__presence AS presence
JOIN weighted_index__heads AS heads
  USING (series);
-- step: weighted_index__pattern_sums, kept
SELECT
  pattern_key,
  ANY_VALUE(key) IGNORE NULLS AS key,
  ANY_VALUE(currency) IGNORE NULLS AS currency,
  period,
  COUNT(*) AS n,
  SUM(CAST(log_price AS DECIMAL(38, 0))) AS total
FROM weighted_index__period_prices AS period_prices
JOIN weighted_index__patterns AS patterns
  USING (series)
GROUP BY
  pattern_key,
  period;
-- step: weighted_index__first_periods, kept
SELECT
  key,
  MIN(period) AS first_period
FROM weighted_index__pattern_sums AS pattern_sums
GROUP BY
  key;
-- step: weighted_index__sums, kept
SELECT
  key,
  pattern_key,
  CAST((
    period - first_period + 1
  ) AS INT) AS t,
  n,
  total
FROM weighted_index__pattern_sums AS pattern_sums
JOIN weighted_index__first_periods AS first_periods
  USING (key);
-- step: weighted_index__periods, kept
SELECT
  key,
  t,
  CAST((
    first_period + t - 1
  ) AS BIGINT) AS period,
  items,
  LAG(t) OVER (PARTITION BY key ORDER BY t NULLS LAST) AS t_before
FROM (
  SELECT
    key,
    t,
    CAST(SUM(n) AS BIGINT) AS items
  FROM weighted_index__sums AS sums
  GROUP BY
    key,
    t
)
JOIN weighted_index__first_periods AS first_periods
  USING (key);
-- step: weighted_index__observed, kept
SELECT
  sums.key,
  sums.pattern_key,
  sums.t,
  sums.n,
  sums.total,
  t_before
FROM weighted_index__sums AS sums
JOIN (
  SELECT
    key,
    t,
    t_before
  FROM weighted_index__periods AS periods
) AS known
  USING (key, t);
-- step: weighted_index__shops
SELECT
  key,
  t,
  COUNT(DISTINCT shop_id) AS shops
FROM weighted_index__observed AS observed
JOIN (
  SELECT DISTINCT
    pattern_key,
    shop_id
  FROM weighted_index__patterns AS patterns
) AS present
  USING (pattern_key)
GROUP BY
  key,
  t;
-- step: weighted_index__gaps, kept
SELECT
  ended.key,
  pattern_key,
  periods.t,
  periods.t_before,
  n,
  ended.t AS last_t,
  total AS last_total
FROM (
  SELECT
    key,
    pattern_key,
    t,
    n,
    total,
    COALESCE(LEAD(t) OVER (PARTITION BY pattern_key ORDER BY t NULLS LAST), 2147483647) AS next_t
  FROM weighted_index__observed AS observed
  WHERE
    COALESCE(CAST(:impute AS STRING), 'none') <> 'none'
) AS ended
JOIN weighted_index__periods AS periods
  ON periods.key = ended.key
  AND periods.t > ended.t
  AND periods.t < next_t
  AND periods.t <= ended.t + COALESCE(CAST(:impute_periods AS INT), 2);
-- step: weighted_index__matched, kept
SELECT
  now.key,
  now.t,
  CAST(SUM(now.n) AS BIGINT) AS n,
  SUM(now.total - before.total) AS move
FROM weighted_index__observed AS now
JOIN weighted_index__observed AS before
  ON before.pattern_key = now.pattern_key AND before.t = now.t_before
GROUP BY
  now.key,
  now.t;
-- step: weighted_index__returned
SELECT
  now.key,
  now.t,
  gaps.last_t,
  CAST(SUM(now.n) AS BIGINT) AS n,
  SUM(now.total - gaps.last_total) AS move
FROM weighted_index__observed AS now
JOIN weighted_index__gaps AS gaps
  ON gaps.pattern_key = now.pattern_key AND gaps.t = now.t_before
WHERE
  :impute = 'overall'
GROUP BY
  now.key,
  now.t,
  gaps.last_t;
-- step: weighted_index__overall
SELECT
  key,
  AGGREGATE(
    TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', t, 'value', step))), one -> one.value),
    ARRAY(CAST(0 AS DOUBLE)),
    (chain, step) -> ARRAY_APPEND(
      COALESCE(chain, ARRAY()),
      GET(chain, (
        ARRAY_SIZE(chain)
      ) - 1) + CAST((
        (
          GET(step, 0) - COALESCE(
            AGGREGATE(
              TRANSFORM(
                IF((
                  ARRAY_SIZE(step) - 2
                ) < 2, ARRAY(), SEQUENCE(2, (
                  ARRAY_SIZE(step) - 2
                ), 2)),
                i -> GET(step, (
                  i
                ) - 1) * (
                  GET(chain, (
                    ARRAY_SIZE(chain)
                  ) - 1) - GET(chain, (
                    CAST(GET(step, (
                      i + 1
                    ) - 1) AS BIGINT)
                  ) - 1)
                )
              ),
              CAST(0 AS DECIMAL(38, 0)),
              (s, x) -> CAST(s + x AS DECIMAL(38, 0))
            ),
            0
          )
        )
      ) AS DOUBLE) / CAST((
        NULLIF(GET(step, (
          ARRAY_SIZE(step)
        ) - 1), 0)
      ) AS DOUBLE)
    )
  ) AS chain
FROM (
  SELECT
    key,
    t,
    CONCAT(
      ARRAY(
        COALESCE(ANY_VALUE(matched.move) IGNORE NULLS, 0) / 1e15 + COALESCE(SUM(returned.move), 0) / 1e15
      ),
      FLATTEN(
        COALESCE(
          TRANSFORM(
            ARRAY_SORT(
              COLLECT_LIST(
                NAMED_STRUCT(
                  'at',
                  last_t,
                  'value',
                  ARRAY(CAST(returned.n AS DOUBLE), CAST(last_places.place AS DOUBLE))
                )
              ) FILTER(WHERE
                NOT last_t IS NULL)
            ),
            one -> one.value
          ),
          ARRAY()
        )
      ),
      ARRAY(
        CAST((
          COALESCE(ANY_VALUE(matched.n) IGNORE NULLS, 0) + COALESCE(SUM(returned.n), 0)
        ) AS DOUBLE)
      )
    ) AS step
  FROM weighted_index__periods AS periods
  LEFT JOIN weighted_index__matched AS matched
    USING (key, t)
  LEFT JOIN weighted_index__returned AS returned
    USING (key, t)
  LEFT JOIN (
    SELECT
      key,
      t AS last_t,
      CAST(ROW_NUMBER() OVER (PARTITION BY key ORDER BY t NULLS LAST) AS BIGINT) AS place
    FROM weighted_index__periods AS periods
  ) AS last_places
    USING (key, last_t)
  WHERE
    NOT t_before IS NULL AND :impute = 'overall'
  GROUP BY
    key,
    t
)
GROUP BY
  key;
-- step: weighted_index__overall_levels, kept
SELECT
  key,
  t,
  GET(chain, place - 1) AS level
FROM weighted_index__overall AS overall
JOIN (
  SELECT
    key,
    t,
    CAST(ROW_NUMBER() OVER (PARTITION BY key ORDER BY t NULLS LAST) AS BIGINT) AS place
  FROM weighted_index__periods AS periods
) AS places
  USING (key);
-- step: weighted_index__prices, kept
SELECT
  key,
  pattern_key,
  t,
  t_before,
  n,
  total
FROM weighted_index__observed AS observed
UNION ALL
SELECT
  key,
  pattern_key,
  t,
  t_before,
  n,
  last_total
FROM weighted_index__gaps AS gaps
WHERE
  :impute = 'carry'
UNION ALL
SELECT
  gaps.key,
  pattern_key,
  gaps.t,
  gaps.t_before,
  n,
  last_total + CAST(ROUND(n * 1e15 * (
    now.level - before.level
  )) AS DECIMAL(38, 0))
FROM weighted_index__gaps AS gaps
JOIN weighted_index__overall_levels AS now
  ON now.key = gaps.key AND now.t = gaps.t
JOIN weighted_index__overall_levels AS before
  ON before.key = gaps.key AND before.t = last_t
WHERE
  :impute = 'overall' AND NOT now.level - before.level IS NULL;
-- step: weighted_index__imputed
SELECT
  key,
  t,
  CAST(SUM(n) AS BIGINT) AS imputed
FROM weighted_index__gaps AS gaps
GROUP BY
  key,
  t;
-- step: weighted_index__pairs__, kept
SELECT
  one.key,
  one.t AS a,
  two.t AS b,
  SUM(two.total - one.total) / (
    1e15 * SUM(one.n)
  ) AS change
FROM weighted_index__prices AS one
JOIN weighted_index__prices AS two
  USING (key, pattern_key)
WHERE
  two.t > one.t
  AND (
    two.t - one.t < COALESCE(CAST(:window_periods AS BIGINT), 25)
    OR one.t = 1
    OR one.t = two.t_before
    OR COALESCE(:splice = 'fbew', FALSE)
  )
GROUP BY
  one.key,
  one.t,
  two.t;
-- step: weighted_index__links_, kept
SELECT
  key,
  a,
  b,
  change
FROM weighted_index__pairs__ AS pairs
UNION ALL
SELECT
  key,
  b,
  a,
  -change
FROM weighted_index__pairs__ AS pairs
UNION ALL
SELECT
  key,
  t,
  t,
  0
FROM weighted_index__periods AS periods;
-- step: weighted_index__dated, kept
SELECT
  key,
  t,
  CASE unit
    WHEN 'month'
    THEN period DIV 12
    WHEN 'week'
    THEN YEAR(CAST('1970-01-05' AS DATE) + CAST((
      period * 7 + 3
    ) AS INT))
    WHEN 'day'
    THEN YEAR(CAST('1970-01-05' AS DATE) + CAST(period AS INT))
  END AS year
FROM weighted_index__periods AS periods
CROSS JOIN weighted_index__settings_ AS settings;
-- step: weighted_index__years
SELECT
  key,
  year,
  MAX(t) AS last_of_year
FROM weighted_index__dated AS dated
GROUP BY
  key,
  year;
-- step: weighted_index__rolling
SELECT
  key,
  GREATEST(1, t - width + 1) AS first_t,
  t AS last_t
FROM (
  SELECT
    key,
    t,
    width,
    MAX(CASE WHEN t <= width THEN t END) OVER (PARTITION BY key) AS first_end
  FROM weighted_index__periods AS periods
  CROSS JOIN (
    SELECT
      COALESCE(CAST(:window_periods AS BIGINT), 25) AS width
  )
)
WHERE
  t >= first_end;
-- step: weighted_index__growing
SELECT
  dated.key,
  COALESCE(MAX(last_of_year), 1) AS first_t,
  t AS last_t
FROM weighted_index__dated AS dated
LEFT JOIN weighted_index__years AS years
  ON years.key = dated.key AND years.year < dated.year
GROUP BY
  dated.key,
  t;
-- step: weighted_index__spans_, kept
SELECT
  chosen.key,
  first_t,
  last_t,
  MIN(t) AS base_t
FROM (
  SELECT
    key,
    first_t,
    last_t
  FROM weighted_index__rolling AS rolling
  WHERE
    COALESCE(CAST(:splice AS STRING), 'mean') <> 'fbew'
  UNION ALL
  SELECT
    key,
    first_t,
    last_t
  FROM weighted_index__growing AS growing
  WHERE
    :splice = 'fbew'
) AS chosen
JOIN weighted_index__periods AS periods
  ON periods.key = chosen.key AND t BETWEEN first_t AND last_t
GROUP BY
  chosen.key,
  first_t,
  last_t;
-- step: weighted_index__window_levels
SELECT
  spans.key,
  last_t,
  there.b AS t,
  AVG(there.change - back.change) AS level
FROM weighted_index__spans_ AS spans
JOIN weighted_index__links_ AS back
  ON back.key = spans.key AND back.b = base_t AND back.a BETWEEN first_t AND last_t
JOIN weighted_index__links_ AS there
  ON there.key = spans.key AND there.a = back.a AND there.b BETWEEN first_t AND last_t
GROUP BY
  spans.key,
  last_t,
  there.b;
-- step: weighted_index__windows_
SELECT
  key,
  first_t,
  last_t,
  TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', t, 'value', level))), one -> one.value) AS levels
FROM (
  SELECT
    key,
    first_t,
    last_t,
    EXPLODE(
      IF(first_t > (
        last_t + 1 - 1
      ), ARRAY(), SEQUENCE(first_t, (
        last_t + 1 - 1
      )))
    ) AS t
  FROM weighted_index__spans_ AS spans
)
LEFT JOIN weighted_index__window_levels AS window_levels
  USING (key, last_t, t)
GROUP BY
  key,
  first_t,
  last_t;
-- step: weighted_index__spliced
SELECT
  key,
  AGGREGATE(
    SLICE(
      TRANSFORM(
        ARRAY_SORT(
          COLLECT_LIST(
            NAMED_STRUCT(
              'at',
              last_t,
              'value',
              NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
            )
          )
        ),
        one -> one.value
      ),
      2,
      SIZE(
        TRANSFORM(
          ARRAY_SORT(
            COLLECT_LIST(
              NAMED_STRUCT(
                'at',
                last_t,
                'value',
                NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
              )
            )
          ),
          one -> one.value
        )
      )
    ),
    GET(
      TRANSFORM(
        ARRAY_SORT(
          COLLECT_LIST(
            NAMED_STRUCT(
              'at',
              last_t,
              'value',
              NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
            )
          )
        ),
        one -> one.value
      ),
      0
    ),
    (published, next) -> NAMED_STRUCT(
      'first_t',
      published.first_t,
      'levels',
      CONCAT(
        published.levels,
        TRANSFORM(
          IF(
            (
              next.first_t + ARRAY_SIZE(next.levels) - 1 - 1
            ) < ARRAY_SIZE(published.levels) + 1,
            ARRAY(),
            SEQUENCE(
              ARRAY_SIZE(published.levels) + 1,
              (
                next.first_t + ARRAY_SIZE(next.levels) - 1 - 1
              )
            )
          ),
          gap -> CAST(NULL AS DOUBLE)
        ),
        TRANSFORM(
          ARRAY(
            FILTER(
              TRANSFORM(
                IF(
                  (
                    ARRAY_SIZE(published.levels) + 1 - 1
                  ) < next.first_t,
                  ARRAY(),
                  SEQUENCE(next.first_t, (
                    ARRAY_SIZE(published.levels) + 1 - 1
                  ))
                ),
                t -> NAMED_STRUCT(
                  't',
                  t,
                  'distance',
                  GET(published.levels, (
                    t
                  ) - 1) - GET(next.levels, (
                    t - next.first_t + 1
                  ) - 1)
                )
              ),
              one -> NOT one.distance IS NULL
            )
          ),
          links -> GET(next.levels, (
            ARRAY_SIZE(next.levels)
          ) - 1) + CASE COALESCE(CAST(:splice AS STRING), 'mean')
            WHEN 'mean'
            THEN AGGREGATE(
              FILTER(TRANSFORM(links, one -> one.distance), one -> NOT one IS NULL),
              NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'total', CAST(0 AS DOUBLE)),
              (s, x) -> NAMED_STRUCT('n', s.n + CAST(1 AS DOUBLE), 'total', s.total + x),
              s -> s.total / NULLIF(s.n, CAST(0 AS DOUBLE))
            )
            WHEN 'movement'
            THEN GET(links, (
              ARRAY_SIZE(links)
            ) - 1).distance
            WHEN 'half'
            THEN GET(
              FILTER(
                links,
                one -> one.t >= GREATEST(next.first_t, next.first_t - 1 + (
                  ARRAY_SIZE(next.levels) - 1
                ) DIV 2)
              ),
              0
            ).distance
            ELSE GET(links, 0).distance
          END
        )
      )
    )
  ).levels AS levels
FROM weighted_index__windows_ AS windows
GROUP BY
  key;
-- step: weighted_index__levels
SELECT
  key,
  one.t AS t,
  one.level AS level
FROM (
  SELECT
    key,
    EXPLODE(
      TRANSFORM(levels, (level, place) -> NAMED_STRUCT('t', (
        place + 1
      ), 'level', level))
    ) AS one
  FROM weighted_index__spliced AS spliced
);
-- step: weighted_index__geks
SELECT
  key,
  t,
  level
FROM weighted_index__levels AS levels
WHERE
  CONTAINS(COALESCE(CAST(:methods AS STRING), 'geks_jevons'), 'geks_jevons');
-- step: weighted_index__spans__, kept
SELECT
  key,
  1 AS first_t,
  MAX(t) AS last_t,
  1 AS base_t
FROM weighted_index__periods AS periods
GROUP BY
  key;
-- step: weighted_index__inside, kept
SELECT
  spans.key,
  last_t,
  base_t,
  t,
  pattern_key,
  n,
  total,
  COUNT(*) OVER (PARTITION BY spans.key, last_t, pattern_key) AS m,
  SUM(total) OVER (PARTITION BY spans.key, last_t, pattern_key) AS all_total
FROM weighted_index__spans__ AS spans
JOIN weighted_index__prices AS prices
  ON prices.key = spans.key AND t BETWEEN first_t AND last_t;
-- step: weighted_index__shared
SELECT
  one.key,
  one.last_t,
  one.t AS a,
  two.t AS b,
  SUM(one.n / one.m) AS weight
FROM weighted_index__inside AS one
JOIN weighted_index__inside AS two
  USING (key, last_t, pattern_key)
WHERE
  one.t > one.base_t AND two.t > two.base_t
GROUP BY
  one.key,
  one.last_t,
  one.t,
  two.t;
-- step: weighted_index__above, kept
SELECT
  key,
  last_t,
  t,
  CAST(DENSE_RANK() OVER (PARTITION BY key, last_t ORDER BY t NULLS LAST) AS BIGINT) AS place,
  CAST(SUM(n) AS BIGINT) AS n,
  SUM((
    m * total - all_total
  ) / (
    1e15 * m
  )) AS total
FROM weighted_index__inside AS inside
WHERE
  t > base_t
GROUP BY
  key,
  last_t,
  t;
-- step: weighted_index__equations
SELECT
  key,
  last_t,
  TRANSFORM(
    ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', a, 'value', equation))),
    one -> one.value
  ) AS matrix,
  TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', a, 'value', a))), one -> one.value) AS times,
  COUNT(*) AS size
FROM (
  SELECT
    one.key,
    one.last_t,
    one.t AS a,
    ARRAY_APPEND(
      COALESCE(
        TRANSFORM(
          ARRAY_SORT(
            COLLECT_LIST(
              NAMED_STRUCT(
                'at',
                two.t,
                'value',
                CASE WHEN one.t = two.t THEN one.n ELSE 0 END - COALESCE(weight, 0)
              )
            )
          ),
          one -> one.value
        ),
        ARRAY()
      ),
      ANY_VALUE(one.total) IGNORE NULLS
    ) AS equation
  FROM weighted_index__above AS one
  JOIN weighted_index__above AS two
    USING (key, last_t)
  LEFT JOIN weighted_index__shared AS shared
    ON shared.key = one.key
    AND shared.last_t = one.last_t
    AND shared.a = one.t
    AND shared.b = two.t
  GROUP BY
    one.key,
    one.last_t,
    one.t
)
GROUP BY
  key,
  last_t;
-- step: weighted_index__solved
SELECT
  key,
  last_t,
  times,
  TRANSFORM(matrix, equation -> GET(equation, (
    size + 1
  ) - 1)) AS levels
FROM (
  SELECT
    key,
    last_t,
    times,
    size,
    AGGREGATE(
      TRANSFORM(
        IF((
          size + 1 - 1
        ) < 1, ARRAY(), SEQUENCE(1, (
          size + 1 - 1
        ))),
        k -> ARRAY(ARRAY(CAST(k AS DOUBLE)))
      ),
      matrix,
      (m, step) -> GET(
        TRANSFORM(
          ARRAY(
            NAMED_STRUCT(
              'k',
              CAST(GET(GET(step, 0), 0) AS BIGINT),
              'factors',
              GET(m, (
                CAST(GET(GET(step, 0), 0) AS BIGINT)
              ) - 1)
            )
          ),
          own -> TRANSFORM(
            m,
            (equation, i) -> CASE
              WHEN (
                i + 1
              ) = own.k
              THEN TRANSFORM(
                equation,
                x -> x / CASE
                  WHEN ABS(GET(equation, (
                    own.k
                  ) - 1)) > 1e-9
                  THEN GET(equation, (
                    own.k
                  ) - 1)
                END
              )
              WHEN GET(equation, (
                own.k
              ) - 1) = 0
              THEN equation
              ELSE TRANSFORM(
                equation,
                (x, j) -> x - GET(equation, (
                  own.k
                ) - 1) * GET(own.factors, (
                  (
                    j + 1
                  )
                ) - 1) / CASE
                  WHEN ABS(GET(own.factors, (
                    own.k
                  ) - 1)) > 1e-9
                  THEN GET(own.factors, (
                    own.k
                  ) - 1)
                END
              )
            END
          )
        ),
        0
      )
    ) AS matrix
  FROM weighted_index__equations AS equations
);
-- step: weighted_index__levels_
SELECT
  key,
  last_t,
  base_t AS t,
  CAST(0 AS DOUBLE) AS level
FROM weighted_index__spans__ AS spans
UNION ALL
SELECT
  key,
  last_t,
  GET(times, place - 1) AS t,
  GET(levels, place - 1) AS level
FROM weighted_index__above AS above
JOIN weighted_index__solved AS solved
  USING (key, last_t);
-- step: weighted_index__whole_tpd
SELECT
  key,
  t,
  level
FROM weighted_index__levels_ AS levels
WHERE
  COALESCE(CAST(:methods AS STRING), 'tpd') RLIKE '(^|[ ,])tpd';
-- step: weighted_index__inside_, kept
SELECT
  spans.key,
  last_t,
  base_t,
  t,
  pattern_key,
  n,
  total,
  COUNT(*) OVER (PARTITION BY spans.key, last_t, pattern_key) AS m,
  SUM(total) OVER (PARTITION BY spans.key, last_t, pattern_key) AS all_total
FROM weighted_index__spans_ AS spans
JOIN weighted_index__prices AS prices
  ON prices.key = spans.key AND t BETWEEN first_t AND last_t;
-- step: weighted_index__shared_
SELECT
  one.key,
  one.last_t,
  one.t AS a,
  two.t AS b,
  SUM(one.n / one.m) AS weight
FROM weighted_index__inside_ AS one
JOIN weighted_index__inside_ AS two
  USING (key, last_t, pattern_key)
WHERE
  one.t > one.base_t AND two.t > two.base_t
GROUP BY
  one.key,
  one.last_t,
  one.t,
  two.t;
-- step: weighted_index__above_, kept
SELECT
  key,
  last_t,
  t,
  CAST(DENSE_RANK() OVER (PARTITION BY key, last_t ORDER BY t NULLS LAST) AS BIGINT) AS place,
  CAST(SUM(n) AS BIGINT) AS n,
  SUM((
    m * total - all_total
  ) / (
    1e15 * m
  )) AS total
FROM weighted_index__inside_ AS inside
WHERE
  t > base_t
GROUP BY
  key,
  last_t,
  t;
-- step: weighted_index__equations_
SELECT
  key,
  last_t,
  TRANSFORM(
    ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', a, 'value', equation))),
    one -> one.value
  ) AS matrix,
  TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', a, 'value', a))), one -> one.value) AS times,
  COUNT(*) AS size
FROM (
  SELECT
    one.key,
    one.last_t,
    one.t AS a,
    ARRAY_APPEND(
      COALESCE(
        TRANSFORM(
          ARRAY_SORT(
            COLLECT_LIST(
              NAMED_STRUCT(
                'at',
                two.t,
                'value',
                CASE WHEN one.t = two.t THEN one.n ELSE 0 END - COALESCE(weight, 0)
              )
            )
          ),
          one -> one.value
        ),
        ARRAY()
      ),
      ANY_VALUE(one.total) IGNORE NULLS
    ) AS equation
  FROM weighted_index__above_ AS one
  JOIN weighted_index__above_ AS two
    USING (key, last_t)
  LEFT JOIN weighted_index__shared_ AS shared
    ON shared.key = one.key
    AND shared.last_t = one.last_t
    AND shared.a = one.t
    AND shared.b = two.t
  GROUP BY
    one.key,
    one.last_t,
    one.t
)
GROUP BY
  key,
  last_t;
-- step: weighted_index__solved_
SELECT
  key,
  last_t,
  times,
  TRANSFORM(matrix, equation -> GET(equation, (
    size + 1
  ) - 1)) AS levels
FROM (
  SELECT
    key,
    last_t,
    times,
    size,
    AGGREGATE(
      TRANSFORM(
        IF((
          size + 1 - 1
        ) < 1, ARRAY(), SEQUENCE(1, (
          size + 1 - 1
        ))),
        k -> ARRAY(ARRAY(CAST(k AS DOUBLE)))
      ),
      matrix,
      (m, step) -> GET(
        TRANSFORM(
          ARRAY(
            NAMED_STRUCT(
              'k',
              CAST(GET(GET(step, 0), 0) AS BIGINT),
              'factors',
              GET(m, (
                CAST(GET(GET(step, 0), 0) AS BIGINT)
              ) - 1)
            )
          ),
          own -> TRANSFORM(
            m,
            (equation, i) -> CASE
              WHEN (
                i + 1
              ) = own.k
              THEN TRANSFORM(
                equation,
                x -> x / CASE
                  WHEN ABS(GET(equation, (
                    own.k
                  ) - 1)) > 1e-9
                  THEN GET(equation, (
                    own.k
                  ) - 1)
                END
              )
              WHEN GET(equation, (
                own.k
              ) - 1) = 0
              THEN equation
              ELSE TRANSFORM(
                equation,
                (x, j) -> x - GET(equation, (
                  own.k
                ) - 1) * GET(own.factors, (
                  (
                    j + 1
                  )
                ) - 1) / CASE
                  WHEN ABS(GET(own.factors, (
                    own.k
                  ) - 1)) > 1e-9
                  THEN GET(own.factors, (
                    own.k
                  ) - 1)
                END
              )
            END
          )
        ),
        0
      )
    ) AS matrix
  FROM weighted_index__equations_ AS equations
);
-- step: weighted_index__window_levels_
SELECT
  key,
  last_t,
  base_t AS t,
  CAST(0 AS DOUBLE) AS level
FROM weighted_index__spans_ AS spans
UNION ALL
SELECT
  key,
  last_t,
  GET(times, place - 1) AS t,
  GET(levels, place - 1) AS level
FROM weighted_index__above_ AS above
JOIN weighted_index__solved_ AS solved
  USING (key, last_t);
-- step: weighted_index__windows__
SELECT
  key,
  first_t,
  last_t,
  TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', t, 'value', level))), one -> one.value) AS levels
FROM (
  SELECT
    key,
    first_t,
    last_t,
    EXPLODE(
      IF(first_t > (
        last_t + 1 - 1
      ), ARRAY(), SEQUENCE(first_t, (
        last_t + 1 - 1
      )))
    ) AS t
  FROM weighted_index__spans_ AS spans
)
LEFT JOIN weighted_index__window_levels_ AS window_levels
  USING (key, last_t, t)
GROUP BY
  key,
  first_t,
  last_t;
-- step: weighted_index__spliced_
SELECT
  key,
  AGGREGATE(
    SLICE(
      TRANSFORM(
        ARRAY_SORT(
          COLLECT_LIST(
            NAMED_STRUCT(
              'at',
              last_t,
              'value',
              NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
            )
          )
        ),
        one -> one.value
      ),
      2,
      SIZE(
        TRANSFORM(
          ARRAY_SORT(
            COLLECT_LIST(
              NAMED_STRUCT(
                'at',
                last_t,
                'value',
                NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
              )
            )
          ),
          one -> one.value
        )
      )
    ),
    GET(
      TRANSFORM(
        ARRAY_SORT(
          COLLECT_LIST(
            NAMED_STRUCT(
              'at',
              last_t,
              'value',
              NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
            )
          )
        ),
        one -> one.value
      ),
      0
    ),
    (published, next) -> NAMED_STRUCT(
      'first_t',
      published.first_t,
      'levels',
      CONCAT(
        published.levels,
        TRANSFORM(
          IF(
            (
              next.first_t + ARRAY_SIZE(next.levels) - 1 - 1
            ) < ARRAY_SIZE(published.levels) + 1,
            ARRAY(),
            SEQUENCE(
              ARRAY_SIZE(published.levels) + 1,
              (
                next.first_t + ARRAY_SIZE(next.levels) - 1 - 1
              )
            )
          ),
          gap -> CAST(NULL AS DOUBLE)
        ),
        TRANSFORM(
          ARRAY(
            FILTER(
              TRANSFORM(
                IF(
                  (
                    ARRAY_SIZE(published.levels) + 1 - 1
                  ) < next.first_t,
                  ARRAY(),
                  SEQUENCE(next.first_t, (
                    ARRAY_SIZE(published.levels) + 1 - 1
                  ))
                ),
                t -> NAMED_STRUCT(
                  't',
                  t,
                  'distance',
                  GET(published.levels, (
                    t
                  ) - 1) - GET(next.levels, (
                    t - next.first_t + 1
                  ) - 1)
                )
              ),
              one -> NOT one.distance IS NULL
            )
          ),
          links -> GET(next.levels, (
            ARRAY_SIZE(next.levels)
          ) - 1) + CASE COALESCE(CAST(:splice AS STRING), 'mean')
            WHEN 'mean'
            THEN AGGREGATE(
              FILTER(TRANSFORM(links, one -> one.distance), one -> NOT one IS NULL),
              NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'total', CAST(0 AS DOUBLE)),
              (s, x) -> NAMED_STRUCT('n', s.n + CAST(1 AS DOUBLE), 'total', s.total + x),
              s -> s.total / NULLIF(s.n, CAST(0 AS DOUBLE))
            )
            WHEN 'movement'
            THEN GET(links, (
              ARRAY_SIZE(links)
            ) - 1).distance
            WHEN 'half'
            THEN GET(
              FILTER(
                links,
                one -> one.t >= GREATEST(next.first_t, next.first_t - 1 + (
                  ARRAY_SIZE(next.levels) - 1
                ) DIV 2)
              ),
              0
            ).distance
            ELSE GET(links, 0).distance
          END
        )
      )
    )
  ).levels AS levels
FROM weighted_index__windows__ AS windows
GROUP BY
  key;
-- step: weighted_index__levels__
SELECT
  key,
  one.t AS t,
  one.level AS level
FROM (
  SELECT
    key,
    EXPLODE(
      TRANSFORM(levels, (level, place) -> NAMED_STRUCT('t', (
        place + 1
      ), 'level', level))
    ) AS one
  FROM weighted_index__spliced_ AS spliced
);
-- step: weighted_index__spliced_tpd
SELECT
  key,
  t,
  level
FROM weighted_index__levels__ AS levels
WHERE
  CONTAINS(COALESCE(CAST(:methods AS STRING), ''), 'spliced_tpd');
-- step: weighted_index__indices
SELECT
  category_slug,
  groups.currency,
  groups.site_id,
  sites.name AS shop,
  product_group AS product_id,
  item_group AS item_id,
  brand,
  dataset,
  region,
  CASE unit
    WHEN 'month'
    THEN MAKE_DATE(
      CAST((
        periods.period DIV 12
      ) AS INT),
      CAST((
        periods.period % 12
      ) AS INT) + 1,
      1
    )
    WHEN 'week'
    THEN CAST('1970-01-05' AS DATE) + CAST((
      periods.period * 7
    ) AS INT)
    WHEN 'day'
    THEN CAST('1970-01-05' AS DATE) + CAST(periods.period AS INT)
  END AS period,
  periods.items,
  shops.shops,
  COALESCE(matched.n, 0) AS matched,
  100 * COALESCE(matched.n, 0) / (
    periods.items + COALESCE(before.items, 0) - COALESCE(matched.n, 0)
  ) AS matched_pct,
  COALESCE(imputed, 0) AS imputed,
  CASE
    WHEN COUNT(step.change) OVER so_far = CAST(ROW_NUMBER() OVER so_far AS BIGINT) - 1
    THEN 100 * EXP(COALESCE(SUM(step.change) OVER so_far, 0))
  END AS jevons,
  CASE WHEN periods.t = 1 THEN 100 ELSE 100 * EXP(direct.change) END AS jevons_direct,
  100 * EXP(geks.level) AS geks_jevons,
  100 * EXP(whole_tpd.level) AS tpd,
  100 * EXP(spliced_tpd.level) AS spliced_tpd,
  row_zones.time_zone,
  sites.attribution
FROM weighted_index__periods AS periods
JOIN weighted_index__groups AS groups
  ON groups.key = periods.key
CROSS JOIN weighted_index__settings_ AS settings
LEFT JOIN weighted_index__shops AS shops
  ON shops.key = periods.key AND shops.t = periods.t
LEFT JOIN weighted_index__matched AS matched
  ON matched.key = periods.key AND matched.t = periods.t
LEFT JOIN weighted_index__imputed AS imputed
  ON imputed.key = periods.key AND imputed.t = periods.t
LEFT JOIN weighted_index__periods AS before
  ON before.key = periods.key AND before.t = periods.t_before
LEFT JOIN weighted_index__pairs__ AS step
  ON step.key = periods.key AND step.b = periods.t AND step.a = periods.t_before
LEFT JOIN weighted_index__pairs__ AS direct
  ON direct.key = periods.key AND direct.b = periods.t AND direct.a = 1
LEFT JOIN weighted_index__geks AS geks
  ON geks.key = periods.key AND geks.t = periods.t
LEFT JOIN weighted_index__whole_tpd AS whole_tpd
  ON whole_tpd.key = periods.key AND whole_tpd.t = periods.t
LEFT JOIN weighted_index__spliced_tpd AS spliced_tpd
  ON spliced_tpd.key = periods.key AND spliced_tpd.t = periods.t
LEFT JOIN sites
  ON sites.site_id = groups.site_id
LEFT JOIN weighted_index__row_zones_ AS row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM COALESCE(groups.site_id, CAST(:site_id AS BIGINT))
WHERE
  COALESCE(sites.is_current, TRUE)
WINDOW so_far AS (PARTITION BY periods.key ORDER BY periods.t NULLS LAST)
ORDER BY
  category_slug NULLS LAST,
  groups.currency NULLS LAST,
  groups.site_id NULLS LAST,
  product_group NULLS LAST,
  item_group NULLS LAST,
  brand NULLS LAST,
  dataset NULLS LAST,
  region NULLS LAST,
  period NULLS LAST;
-- step: weighted_index__shares, kept
SELECT
  kind,
  CASE kind WHEN 'brand' THEN LOWER(unit) ELSE unit END AS unit,
  period,
  SUM(weight) AS weight
FROM weights
GROUP BY
  1,
  2,
  3;
-- step: weighted_index__levels___, kept
SELECT
  unit,
  currency,
  CASE unit_of_time
    WHEN 'month'
    THEN YEAR(day) * 12 + MONTH(day) - 1
    WHEN 'week'
    THEN CAST((
      day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT) DIV 7
    WHEN 'day'
    THEN CAST((
      day - CAST('1970-01-05' AS DATE)
    ) AS BIGINT)
  END AS period,
  LN(level) AS level
FROM (
  SELECT
    CASE kind
      WHEN 'category'
      THEN category_slug
      WHEN 'shop'
      THEN CAST(site_id AS STRING)
      WHEN 'product'
      THEN product_id
      WHEN 'brand'
      THEN LOWER(brand)
      WHEN 'item'
      THEN CAST(item_id AS STRING)
      WHEN 'region'
      THEN region
      WHEN 'dataset'
      THEN dataset
    END AS unit,
    currency,
    period AS day,
    CASE COALESCE(CAST(:elementary AS STRING), 'geks_jevons')
      WHEN 'jevons'
      THEN jevons
      WHEN 'tpd'
      THEN tpd
      ELSE geks_jevons
    END AS level
  FROM weighted_index__indices AS indices
  CROSS JOIN (
    SELECT
      ANY_VALUE(kind) IGNORE NULLS AS kind
    FROM weighted_index__shares AS shares
  )
)
CROSS JOIN (
  SELECT
    unit AS unit_of_time
  FROM weighted_index__settings AS settings
)
WHERE
  NOT unit IS NULL AND NOT level IS NULL;
-- step: weighted_index__dated_weights
SELECT
  shares.unit,
  CASE settings.unit
    WHEN 'month'
    THEN YEAR(period) * 12 + MONTH(period) - 1
    WHEN 'week'
    THEN CAST((
      period - CAST('1970-01-05' AS DATE)
    ) AS BIGINT) DIV 7
    WHEN 'day'
    THEN CAST((
      period - CAST('1970-01-05' AS DATE)
    ) AS BIGINT)
  END AS period,
  CAST(SUM(weight) AS DOUBLE) AS weight
FROM weighted_index__shares AS shares
CROSS JOIN weighted_index__settings AS settings
WHERE
  NOT period IS NULL
GROUP BY
  1,
  2;
-- step: weighted_index__constant_weights, kept
SELECT
  unit,
  CAST(weight AS DOUBLE) AS weight
FROM weighted_index__shares AS shares
WHERE
  period IS NULL;
-- step: weighted_index__reference_weights, kept
SELECT
  units.unit,
  CASE
    WHEN NOT :weights_period IS NULL
    THEN (
      SELECT
        CAST(SUM(weight) AS DOUBLE)
      FROM weighted_index__shares AS shares
      WHERE
        shares.unit = units.unit AND period = CAST(:weights_period AS DATE)
    )
    ELSE COALESCE(constant_weights.weight, mean_weight)
  END AS weight
FROM (
  SELECT
    unit,
    CAST(AVG(weight) FILTER(WHERE
      NOT period IS NULL) AS DOUBLE) AS mean_weight
  FROM weighted_index__shares AS shares
  GROUP BY
    unit
) AS units
LEFT JOIN weighted_index__constant_weights AS constant_weights
  USING (unit);
-- step: weighted_index__up
SELECT DISTINCT
  unit,
  child,
  parent
FROM tree
JOIN weighted_index__shares AS shares
  ON unit = CASE kind WHEN 'brand' THEN LOWER(child) ELSE child END;
-- step: weighted_index__ancestors, kept
SELECT DISTINCT
  unit,
  parent AS node
FROM weighted_index__up AS up
UNION
SELECT DISTINCT
  unit,
  'all'
FROM weighted_index__shares AS shares;
-- step: weighted_index__nodes, kept
SELECT
  CAST(ROW_NUMBER() OVER (ORDER BY node NULLS LAST, currency NULLS LAST) AS BIGINT) AS key,
  node,
  currency
FROM (
  SELECT DISTINCT
    node,
    currency
  FROM weighted_index__ancestors AS ancestors
  JOIN weighted_index__levels___ AS levels
    USING (unit)
);
-- step: weighted_index__members, kept
SELECT
  key,
  unit
FROM weighted_index__nodes AS nodes
JOIN weighted_index__ancestors AS ancestors
  USING (node);
-- step: weighted_index__first_periods_, kept
SELECT
  key,
  MIN(period) AS first_period
FROM weighted_index__members AS members
JOIN weighted_index__nodes AS nodes
  USING (key)
JOIN weighted_index__levels___ AS levels
  USING (unit, currency)
GROUP BY
  key;
-- step: weighted_index__points, kept
SELECT
  members.key,
  members.unit,
  CAST((
    levels.period - first_period + 1
  ) AS INT) AS t,
  level,
  COALESCE(dated_weights.weight, constant_weights.weight) AS weight,
  reference_weights.weight AS reference
FROM weighted_index__members AS members
JOIN weighted_index__nodes AS nodes
  USING (key)
JOIN weighted_index__first_periods_ AS first_periods
  USING (key)
JOIN weighted_index__levels___ AS levels
  ON levels.unit = members.unit AND levels.currency = nodes.currency
LEFT JOIN weighted_index__dated_weights AS dated_weights
  ON dated_weights.unit = members.unit AND dated_weights.period = levels.period
LEFT JOIN weighted_index__constant_weights AS constant_weights
  ON constant_weights.unit = members.unit
LEFT JOIN weighted_index__reference_weights AS reference_weights
  ON reference_weights.unit = members.unit;
-- step: weighted_index__periods_, kept
SELECT
  key,
  t,
  CAST((
    first_period + t - 1
  ) AS BIGINT) AS period,
  units,
  LAG(t) OVER (PARTITION BY key ORDER BY t NULLS LAST) AS t_before
FROM (
  SELECT
    key,
    t,
    COUNT(*) AS units
  FROM weighted_index__points AS points
  GROUP BY
    key,
    t
)
JOIN weighted_index__first_periods_ AS first_periods
  USING (key);
-- step: weighted_index__pairs___, kept
SELECT
  one.key,
  one.t AS a,
  two.t AS b,
  (
    SUM(one.weight * (
      two.level - one.level
    )) / NULLIF(SUM(one.weight), 0) + SUM(two.weight * (
      two.level - one.level
    )) / NULLIF(SUM(two.weight), 0)
  ) / 2 AS change
FROM weighted_index__points AS one
JOIN weighted_index__points AS two
  USING (key, unit)
WHERE
  two.t > one.t
  AND one.weight > 0
  AND two.weight > 0
  AND (
    two.t - one.t < COALESCE(CAST(:window_periods AS BIGINT), 25)
    OR one.t = 1
    OR COALESCE(:splice = 'fbew', FALSE)
  )
GROUP BY
  one.key,
  one.t,
  two.t;
-- step: weighted_index__links__, kept
SELECT
  key,
  a,
  b,
  change
FROM weighted_index__pairs___ AS pairs
UNION ALL
SELECT
  key,
  b,
  a,
  -change
FROM weighted_index__pairs___ AS pairs
UNION ALL
SELECT
  key,
  t,
  t,
  0
FROM weighted_index__periods_ AS periods;
-- step: weighted_index__dated_, kept
SELECT
  key,
  t,
  CASE unit
    WHEN 'month'
    THEN period DIV 12
    WHEN 'week'
    THEN YEAR(CAST('1970-01-05' AS DATE) + CAST((
      period * 7 + 3
    ) AS INT))
    WHEN 'day'
    THEN YEAR(CAST('1970-01-05' AS DATE) + CAST(period AS INT))
  END AS year
FROM weighted_index__periods_ AS periods
CROSS JOIN weighted_index__settings AS settings;
-- step: weighted_index__years_
SELECT
  key,
  year,
  MAX(t) AS last_of_year
FROM weighted_index__dated_ AS dated
GROUP BY
  key,
  year;
-- step: weighted_index__rolling_
SELECT
  key,
  GREATEST(1, t - width + 1) AS first_t,
  t AS last_t
FROM (
  SELECT
    key,
    t,
    width,
    MAX(CASE WHEN t <= width THEN t END) OVER (PARTITION BY key) AS first_end
  FROM weighted_index__periods_ AS periods
  CROSS JOIN (
    SELECT
      COALESCE(CAST(:window_periods AS BIGINT), 25) AS width
  )
)
WHERE
  t >= first_end;
-- step: weighted_index__growing_
SELECT
  dated.key,
  COALESCE(MAX(last_of_year), 1) AS first_t,
  t AS last_t
FROM weighted_index__dated_ AS dated
LEFT JOIN weighted_index__years_ AS years
  ON years.key = dated.key AND years.year < dated.year
GROUP BY
  dated.key,
  t;
-- step: weighted_index__spans___, kept
SELECT
  chosen.key,
  first_t,
  last_t,
  MIN(t) AS base_t
FROM (
  SELECT
    key,
    first_t,
    last_t
  FROM weighted_index__rolling_ AS rolling
  WHERE
    COALESCE(CAST(:splice AS STRING), 'mean') <> 'fbew'
  UNION ALL
  SELECT
    key,
    first_t,
    last_t
  FROM weighted_index__growing_ AS growing
  WHERE
    :splice = 'fbew'
) AS chosen
JOIN weighted_index__periods_ AS periods
  ON periods.key = chosen.key AND t BETWEEN first_t AND last_t
GROUP BY
  chosen.key,
  first_t,
  last_t;
-- step: weighted_index__window_levels__
SELECT
  spans.key,
  last_t,
  there.b AS t,
  AVG(there.change - back.change) AS level
FROM weighted_index__spans___ AS spans
JOIN weighted_index__links__ AS back
  ON back.key = spans.key AND back.b = base_t AND back.a BETWEEN first_t AND last_t
JOIN weighted_index__links__ AS there
  ON there.key = spans.key AND there.a = back.a AND there.b BETWEEN first_t AND last_t
GROUP BY
  spans.key,
  last_t,
  there.b;
-- step: weighted_index__windows___
SELECT
  key,
  first_t,
  last_t,
  TRANSFORM(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('at', t, 'value', level))), one -> one.value) AS levels
FROM (
  SELECT
    key,
    first_t,
    last_t,
    EXPLODE(
      IF(first_t > (
        last_t + 1 - 1
      ), ARRAY(), SEQUENCE(first_t, (
        last_t + 1 - 1
      )))
    ) AS t
  FROM weighted_index__spans___ AS spans
)
LEFT JOIN weighted_index__window_levels__ AS window_levels
  USING (key, last_t, t)
GROUP BY
  key,
  first_t,
  last_t;
-- step: weighted_index__spliced__
SELECT
  key,
  AGGREGATE(
    SLICE(
      TRANSFORM(
        ARRAY_SORT(
          COLLECT_LIST(
            NAMED_STRUCT(
              'at',
              last_t,
              'value',
              NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
            )
          )
        ),
        one -> one.value
      ),
      2,
      SIZE(
        TRANSFORM(
          ARRAY_SORT(
            COLLECT_LIST(
              NAMED_STRUCT(
                'at',
                last_t,
                'value',
                NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
              )
            )
          ),
          one -> one.value
        )
      )
    ),
    GET(
      TRANSFORM(
        ARRAY_SORT(
          COLLECT_LIST(
            NAMED_STRUCT(
              'at',
              last_t,
              'value',
              NAMED_STRUCT('first_t', CAST(first_t AS BIGINT), 'levels', levels)
            )
          )
        ),
        one -> one.value
      ),
      0
    ),
    (published, next) -> NAMED_STRUCT(
      'first_t',
      published.first_t,
      'levels',
      CONCAT(
        published.levels,
        TRANSFORM(
          IF(
            (
              next.first_t + ARRAY_SIZE(next.levels) - 1 - 1
            ) < ARRAY_SIZE(published.levels) + 1,
            ARRAY(),
            SEQUENCE(
              ARRAY_SIZE(published.levels) + 1,
              (
                next.first_t + ARRAY_SIZE(next.levels) - 1 - 1
              )
            )
          ),
          gap -> CAST(NULL AS DOUBLE)
        ),
        TRANSFORM(
          ARRAY(
            FILTER(
              TRANSFORM(
                IF(
                  (
                    ARRAY_SIZE(published.levels) + 1 - 1
                  ) < next.first_t,
                  ARRAY(),
                  SEQUENCE(next.first_t, (
                    ARRAY_SIZE(published.levels) + 1 - 1
                  ))
                ),
                t -> NAMED_STRUCT(
                  't',
                  t,
                  'distance',
                  GET(published.levels, (
                    t
                  ) - 1) - GET(next.levels, (
                    t - next.first_t + 1
                  ) - 1)
                )
              ),
              one -> NOT one.distance IS NULL
            )
          ),
          links -> GET(next.levels, (
            ARRAY_SIZE(next.levels)
          ) - 1) + CASE COALESCE(CAST(:splice AS STRING), 'mean')
            WHEN 'mean'
            THEN AGGREGATE(
              FILTER(TRANSFORM(links, one -> one.distance), one -> NOT one IS NULL),
              NAMED_STRUCT('n', CAST(0 AS DOUBLE), 'total', CAST(0 AS DOUBLE)),
              (s, x) -> NAMED_STRUCT('n', s.n + CAST(1 AS DOUBLE), 'total', s.total + x),
              s -> s.total / NULLIF(s.n, CAST(0 AS DOUBLE))
            )
            WHEN 'movement'
            THEN GET(links, (
              ARRAY_SIZE(links)
            ) - 1).distance
            WHEN 'half'
            THEN GET(
              FILTER(
                links,
                one -> one.t >= GREATEST(next.first_t, next.first_t - 1 + (
                  ARRAY_SIZE(next.levels) - 1
                ) DIV 2)
              ),
              0
            ).distance
            ELSE GET(links, 0).distance
          END
        )
      )
    )
  ).levels AS levels
FROM weighted_index__windows___ AS windows
GROUP BY
  key;
-- step: weighted_index__geks_
SELECT
  key,
  one.t AS t,
  one.level AS level
FROM (
  SELECT
    key,
    EXPLODE(
      TRANSFORM(levels, (level, place) -> NAMED_STRUCT('t', (
        place + 1
      ), 'level', level))
    ) AS one
  FROM weighted_index__spliced__ AS spliced
);
-- step: weighted_index__fixed
SELECT
  now.key,
  now.t,
  100 * SUM(base.weight * EXP(now.level - base.level)) / NULLIF(SUM(base.weight), 0) AS laspeyres,
  100 * SUM(base.reference * EXP(now.level - base.level)) / NULLIF(SUM(base.reference), 0) AS young
FROM weighted_index__points AS now
JOIN weighted_index__points AS base
  ON base.key = now.key AND base.unit = now.unit AND base.t = 1
GROUP BY
  now.key,
  now.t;
-- step: weighted_index__unit_moves, kept
SELECT
  currency,
  now.unit,
  periods.period,
  base.reference * (
    EXP(now.level - base.level) - EXP(before.level - base.level)
  ) AS change,
  base.reference * EXP(before.level - base.level) AS cost_before
FROM weighted_index__points AS now
JOIN weighted_index__nodes AS nodes
  ON nodes.key = now.key AND node = 'all'
JOIN weighted_index__periods_ AS periods
  ON periods.key = now.key AND periods.t = now.t
JOIN weighted_index__points AS before
  ON before.key = now.key AND before.unit = now.unit AND before.t = t_before
JOIN weighted_index__points AS base
  ON base.key = now.key AND base.unit = now.unit AND base.t = 1;
-- step: weighted_index__moves
SELECT
  members.key,
  period,
  SUM(change) AS change
FROM weighted_index__unit_moves AS unit_moves
JOIN weighted_index__members AS members
  USING (unit)
JOIN weighted_index__nodes AS nodes
  ON nodes.key = members.key AND nodes.currency = unit_moves.currency
GROUP BY
  members.key,
  period;
-- step: weighted_index__costs
SELECT
  currency,
  period,
  SUM(cost_before) AS cost_before
FROM weighted_index__unit_moves AS unit_moves
GROUP BY
  currency,
  period;
-- step: weighted_index__covered
SELECT
  key,
  t,
  SUM(reference) AS reference
FROM weighted_index__points AS points
GROUP BY
  key,
  t;
-- step: weighted_index__whole, kept
SELECT
  key,
  SUM(weight) AS reference
FROM weighted_index__members AS members
JOIN weighted_index__reference_weights AS reference_weights
  USING (unit)
GROUP BY
  key;
-- step: weighted_index__alls
SELECT
  currency,
  reference
FROM weighted_index__nodes AS nodes
JOIN weighted_index__whole AS whole
  USING (key)
WHERE
  node = 'all';
-- step: weighted_index
SELECT
  node,
  nodes.currency,
  CASE settings.unit
    WHEN 'month'
    THEN MAKE_DATE(
      CAST((
        periods.period DIV 12
      ) AS INT),
      CAST((
        periods.period % 12
      ) AS INT) + 1,
      1
    )
    WHEN 'week'
    THEN CAST('1970-01-05' AS DATE) + CAST((
      periods.period * 7
    ) AS INT)
    WHEN 'day'
    THEN CAST('1970-01-05' AS DATE) + CAST(periods.period AS INT)
  END AS period,
  units,
  100 * covered.reference / NULLIF(whole.reference, 0) AS covered_pct,
  100 * whole.reference / NULLIF(alls.reference, 0) AS weight_pct,
  laspeyres,
  young,
  CASE WHEN periods.t = 1 THEN 100 ELSE 100 * EXP(direct.change) END AS tornqvist,
  100 * EXP(geks.level) AS geks_tornqvist,
  100 * moves.change / NULLIF(costs.cost_before, 0) AS contribution,
  row_zones.time_zone
FROM weighted_index__nodes AS nodes
JOIN weighted_index__periods_ AS periods
  USING (key)
CROSS JOIN weighted_index__settings AS settings
LEFT JOIN weighted_index__fixed AS fixed
  ON fixed.key = periods.key AND fixed.t = periods.t
LEFT JOIN weighted_index__pairs___ AS direct
  ON direct.key = periods.key AND direct.a = 1 AND direct.b = periods.t
LEFT JOIN weighted_index__geks_ AS geks
  ON geks.key = periods.key AND geks.t = periods.t
LEFT JOIN weighted_index__moves AS moves
  ON moves.key = periods.key AND moves.period = periods.period
LEFT JOIN weighted_index__costs AS costs
  ON costs.currency = nodes.currency AND costs.period = periods.period
LEFT JOIN weighted_index__covered AS covered
  ON covered.key = periods.key AND covered.t = periods.t
LEFT JOIN weighted_index__whole AS whole
  ON whole.key = periods.key
LEFT JOIN weighted_index__alls AS alls
  ON alls.currency = nodes.currency
LEFT JOIN weighted_index__row_zones AS row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM CAST(:site_id AS BIGINT)
WHERE
  :node IS NULL OR node = :node
ORDER BY
  node <> 'all' NULLS LAST,
  node NULLS LAST,
  nodes.currency NULLS LAST,
  period NULLS LAST;
