-- Made by generate.py from pipelines/analysis/index_contributions.sql: change that one. Source 74fb57cbd06bd97b.
-- step: index_contributions__zones, kept
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
-- step: index_contributions__sold, kept
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
  FROM index_contributions__zones AS zones
  WHERE
    NOT site_id IS NULL
) AS own_zones
  USING (site_id)
CROSS JOIN (
  SELECT
    time_zone
  FROM index_contributions__zones AS zones
  WHERE
    site_id IS NULL
) AS common_zone;
-- step: index_contributions__row_zones
SELECT
  site_id,
  time_zone
FROM index_contributions__sold AS sold
UNION ALL
SELECT
  NULL,
  COALESCE(
    ARRAY_JOIN(ARRAY_SORT(COLLECT_LIST(DISTINCT time_zone)), ', '),
    (
      SELECT
        time_zone
      FROM index_contributions__zones AS zones
      WHERE
        site_id IS NULL
    )
  )
FROM index_contributions__sold AS sold;
-- step: index_contributions__settings, kept
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
-- step: index_contributions__asked
SELECT
  COALESCE(CAST(:relaunches AS STRING), 'none') <> 'none' AS is_asked;
-- step: index_contributions__span, kept
SELECT
  COALESCE(CAST(:days AS BIGINT), 30) * 86400000000 AS days_us,
  COALESCE(CAST(:overlap_days AS BIGINT), 1) * 86400000000 AS overlap_us;
-- step: index_contributions__listings_, kept
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
CROSS JOIN index_contributions__asked AS asked
WHERE
  is_asked
  AND NOT first_seen_at IS NULL
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  );
-- step: index_contributions__ends
SELECT
  site_id,
  MIN(ended_us) AS first_us,
  MAX(ended_us) AS last_us
FROM index_contributions__listings_ AS listings
WHERE
  NOT ended_us IS NULL
GROUP BY
  site_id;
-- step: index_contributions__ended_or_new, kept
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
FROM index_contributions__listings_ AS listings
JOIN index_contributions__ends AS ends
  USING (site_id)
CROSS JOIN index_contributions__span AS span
WHERE
  NOT ended_us IS NULL
  OR seen_us BETWEEN first_us - overlap_us AND last_us + days_us;
-- step: index_contributions__sure_values, kept
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  'product' AS kind,
  product_id AS value
FROM index_contributions__ended_or_new AS ended_or_new
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
FROM index_contributions__ended_or_new AS ended_or_new
WHERE
  NOT url IS NULL;
-- step: index_contributions__sure, kept
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
    FROM index_contributions__sure_values AS sure_values
    WHERE
      NOT ended_us IS NULL
  ) AS _t
  WHERE
    _w <= 100
) AS ended
CROSS JOIN index_contributions__span AS span
JOIN index_contributions__sure_values AS told
  ON told.site_id = ended.site_id
  AND told.kind = ended.kind
  AND told.value = ended.value
  AND told.is_new
  AND told.seen_us > ended.seen_us
  AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us;
-- step: index_contributions__numbered, kept
SELECT
  item_id,
  site_id,
  product_id IS NULL AS is_free,
  ARRAY_JOIN(ARRAY_SORT(ARRAY_DISTINCT(REGEXP_EXTRACT_ALL(title, '[0-9]+', 0))), ' ') AS numbers
FROM index_contributions__ended_or_new AS ended_or_new
WHERE
  NOT title IS NULL;
-- step: index_contributions__worded
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
FROM index_contributions__ended_or_new AS ended_or_new
SEMI JOIN (
  SELECT
    item_id
  FROM index_contributions__numbered AS numbered
  SEMI JOIN (
    SELECT
      site_id,
      numbers
    FROM index_contributions__numbered AS numbered
    LEFT JOIN (
      SELECT DISTINCT
        old_id
      FROM index_contributions__sure AS sure
    ) AS paired
      ON old_id = item_id
    WHERE
      is_free OR NOT old_id IS NULL
  ) AS wanted
    USING (site_id, numbers)
) AS compared
  USING (item_id);
-- step: index_contributions__titles, kept
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  CASE WHEN ARRAY_SIZE(stems) >= 3 THEN ARRAY_JOIN(stems, ' ') END AS value
FROM index_contributions__worded AS worded;
-- step: index_contributions__alike
SELECT
  old_id,
  new_id,
  ARRAY_SORT(COLLECT_LIST(kind)) AS kinds
FROM (
  SELECT
    old_id,
    new_id,
    kind
  FROM index_contributions__sure AS sure
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
      FROM index_contributions__titles AS titles
      WHERE
        NOT ended_us IS NULL
    ) AS _t
    WHERE
      _w <= 100
  ) AS ended
  CROSS JOIN index_contributions__span AS span
  JOIN index_contributions__titles AS told
    ON told.site_id = ended.site_id
    AND told.value = ended.value
    AND told.is_new
    AND told.seen_us > ended.seen_us
    AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us
)
GROUP BY
  old_id,
  new_id;
-- step: index_contributions__pairs_, kept
SELECT
  old_id,
  new_id,
  kinds
FROM index_contributions__alike AS alike
JOIN index_contributions__ended_or_new AS old
  ON old.item_id = old_id
JOIN index_contributions__ended_or_new AS new
  ON new.item_id = new_id
WHERE
  kinds <> ARRAY('title') OR old.product_id IS NULL OR new.product_id IS NULL;
-- step: index_contributions__direct
SELECT
  old_id,
  new_id,
  kinds,
  COUNT(*) OVER (PARTITION BY old_id) AS candidates,
  COUNT(*) OVER (PARTITION BY new_id) AS rivals
FROM index_contributions__pairs_ AS pairs
ANTI JOIN (
  SELECT DISTINCT
    earlier.old_id,
    later.new_id
  FROM index_contributions__pairs_ AS earlier
  JOIN index_contributions__pairs_ AS later
    ON later.old_id = earlier.new_id
) AS roundabout
  USING (old_id, new_id);
-- step: index_contributions__pairs
SELECT
  old_id,
  new_id,
  kinds,
  candidates,
  rivals,
  old.ended_us,
  new.seen_us
FROM index_contributions__direct AS direct
JOIN index_contributions__ended_or_new AS old
  ON old.item_id = old_id
JOIN index_contributions__ended_or_new AS new
  ON new.item_id = new_id;
-- step: index_contributions__links, kept
SELECT
  new_id AS item_id,
  old_id AS before_id
FROM index_contributions__pairs AS pairs
WHERE
  candidates = 1
  AND rivals = 1
  AND (
    :relaunches = 'any' OR ARRAY_CONTAINS(kinds, CAST(:relaunches AS STRING))
  );
-- step: index_contributions__twice, kept
SELECT
  one.item_id,
  COALESCE(two.before_id, one.before_id) AS before_id
FROM index_contributions__links AS one
LEFT JOIN index_contributions__links AS two
  ON two.item_id = one.before_id;
-- step: index_contributions__four_times, kept
SELECT
  one.item_id,
  COALESCE(two.before_id, one.before_id) AS before_id
FROM index_contributions__twice AS one
LEFT JOIN index_contributions__twice AS two
  ON two.item_id = one.before_id;
-- step: index_contributions__eight_times, kept
SELECT
  one.item_id,
  COALESCE(two.before_id, one.before_id) AS before_id
FROM index_contributions__four_times AS one
LEFT JOIN index_contributions__four_times AS two
  ON two.item_id = one.before_id;
-- step: index_contributions__relaunches
SELECT
  one.item_id,
  COALESCE(two.before_id, one.before_id) AS first_item_id
FROM index_contributions__eight_times AS one
LEFT JOIN index_contributions__eight_times AS two
  ON two.item_id = one.before_id;
-- step: index_contributions__known, kept
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
-- step: index_contributions__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM index_contributions__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: index_contributions__named, kept
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
    FROM index_contributions__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: index_contributions__chosen
SELECT
  path
FROM index_contributions__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: index_contributions__part
SELECT
  slug
FROM index_contributions__named AS named
UNION
SELECT
  slug
FROM index_contributions__known AS known, index_contributions__chosen AS chosen, index_contributions__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: index_contributions__listings__
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
      FROM index_contributions__part
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
-- step: index_contributions__spellings
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
-- step: index_contributions__listings, kept
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
FROM index_contributions__listings__ AS listings
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
  JOIN index_contributions__spellings AS spellings
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
LEFT JOIN index_contributions__relaunches AS relaunches
  ON relaunches.item_id = listings.item_id;
-- step: index_contributions__groups, kept
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
  FROM index_contributions__listings AS listings
);
-- step: index_contributions__series, kept
SELECT
  CAST(DENSE_RANK() OVER (ORDER BY first_item_id NULLS LAST, key NULLS LAST) AS BIGINT) AS series,
  key,
  item_id,
  first_item_id,
  product_id,
  listings.currency,
  shop_id
FROM index_contributions__listings AS listings
JOIN index_contributions__groups AS groups
  ON groups.currency = listings.currency
  AND groups.category_slug IS NOT DISTINCT FROM listings.category_slug
  AND groups.site_id IS NOT DISTINCT FROM listings.site_id
  AND groups.brand IS NOT DISTINCT FROM listings.brand
  AND groups.product_group IS NOT DISTINCT FROM listings.product_group
  AND groups.item_group IS NOT DISTINCT FROM listings.item_group
  AND groups.dataset IS NOT DISTINCT FROM listings.dataset
  AND groups.region IS NOT DISTINCT FROM listings.region;
-- step: index_contributions__zone_numbers, kept
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
-- step: index_contributions__spans
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
  FROM index_contributions__series AS series
) AS series
  USING (item_id, currency)
JOIN index_contributions__zone_numbers AS zone_numbers
  USING (time_zone)
CROSS JOIN index_contributions__settings AS settings
WHERE
  NOT is_suspect AND from_day <= until_day AND COALESCE(to_day >= since_day, TRUE);
-- step: index_contributions__numbered_, kept
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
FROM index_contributions__spans AS spans
WHERE
  first_day <= last_day;
-- step: index_contributions__bounds
SELECT
  zone,
  MIN(first_period) AS first_bound,
  MAX(last_period) AS last_bound
FROM index_contributions__numbered_ AS numbered
GROUP BY
  zone;
-- step: index_contributions__days
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
  FROM index_contributions__bounds AS bounds
)
CROSS JOIN (
  SELECT
    unit,
    since_day,
    until_day
  FROM index_contributions__settings AS settings
);
-- step: index_contributions__windows
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
    FROM index_contributions__days AS days
    JOIN index_contributions__zone_numbers AS zone_numbers
      USING (zone)
  )
)
WHERE
  begin_us < end_us;
-- step: index_contributions__parts, kept
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
  FROM index_contributions__numbered_ AS numbered
) AS numbered
JOIN index_contributions__windows AS windows
  ON windows.zone = numbered.zone AND windows.period = numbered.period
WHERE
  to_us > begin_us AND from_us < end_us;
-- step: index_contributions__means
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
  FROM index_contributions__parts AS parts
  WHERE
    COALESCE(CAST(:price AS STRING), 'mean') <> 'median'
  GROUP BY
    place
);
-- step: index_contributions__medians
SELECT
  place,
  MIN(units) / 10000 AS price
FROM (
  SELECT
    place,
    units,
    2 * SUM(us) OVER (PARTITION BY place ORDER BY units NULLS LAST) AS twice,
    SUM(us) OVER (PARTITION BY place) AS whole
  FROM index_contributions__parts AS parts
  WHERE
    COALESCE(CAST(:price AS STRING), 'mean') = 'median'
)
WHERE
  twice >= whole
GROUP BY
  place;
-- step: index_contributions__priced, kept
SELECT
  place DIV 1048576 AS series,
  place % 1048576 AS period,
  CAST(ROUND(LN(price) * 1e15) AS BIGINT) AS log_price
FROM (
  SELECT
    place,
    price
  FROM index_contributions__means AS means
  UNION ALL
  SELECT
    place,
    price
  FROM index_contributions__medians AS medians
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
  FROM index_contributions__numbered_ AS numbered
  WHERE
    last_period > first_period + 1
    AND COALESCE(CAST(:relaunches AS STRING), 'none') = 'none'
);
-- step: index_contributions__dropped
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
  FROM index_contributions__priced AS priced
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
-- step: index_contributions__period_prices, kept
SELECT
  series,
  period,
  log_price
FROM index_contributions__priced AS priced
ANTI JOIN index_contributions__dropped AS dropped
  USING (series, period);
-- step: index_contributions__heads
SELECT
  series,
  key,
  currency,
  shop_id,
  COALESCE(product_id, CAST(first_item_id AS STRING)) AS product
FROM index_contributions__series AS series
WHERE
  COALESCE(CAST(:relaunches AS STRING), 'none') = 'none'
UNION ALL
SELECT
  series,
  ANY_VALUE(key) IGNORE NULLS,
  ANY_VALUE(currency) IGNORE NULLS,
  MIN(shop_id),
  MIN(COALESCE(product_id, CAST(first_item_id AS STRING)))
FROM index_contributions__series AS series
WHERE
  :relaunches <> 'none'
GROUP BY
  series;
-- step: index_contributions__bounds_
SELECT
  MIN(period) AS first_bound,
  MAX(period) AS last_bound
FROM index_contributions__period_prices AS period_prices;
-- step: index_contributions__presence
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
FROM index_contributions__period_prices AS period_prices
CROSS JOIN index_contributions__bounds_ AS bounds
GROUP BY
  series;
-- step: index_contributions__patterns
SELECT
  series,
  key,
  currency,
  shop_id,
  CAST(DENSE_RANK() OVER (ORDER BY key NULLS LAST, early NULLS LAST, late NULLS LAST) AS BIGINT) AS pattern_key
FROM index_contributions__presence AS presence
JOIN index_contributions__heads AS heads
  USING (series);
-- step: index_contributions__sums, kept
SELECT
  pattern_key,
  ANY_VALUE(key) IGNORE NULLS AS key,
  ANY_VALUE(currency) IGNORE NULLS AS currency,
  period,
  COUNT(*) AS n,
  SUM(CAST(log_price AS DECIMAL(38, 0))) AS total
FROM index_contributions__period_prices AS period_prices
JOIN index_contributions__patterns AS patterns
  USING (series)
GROUP BY
  pattern_key,
  period;
-- step: index_contributions__known_periods
SELECT
  currency,
  period,
  LAG(period) OVER (PARTITION BY currency ORDER BY period NULLS LAST) AS period_before
FROM (
  SELECT DISTINCT
    currency,
    period
  FROM index_contributions__sums AS sums
);
-- step: index_contributions__wanted
SELECT
  sums.pattern_key,
  sums.key,
  sums.currency,
  sums.period,
  sums.n,
  sums.total,
  period_before
FROM index_contributions__sums AS sums
JOIN index_contributions__known_periods AS known_periods
  USING (currency, period);
-- step: index_contributions__moves, kept
SELECT
  now.key,
  now.currency,
  now.period,
  CAST(SUM(now.n) AS BIGINT) AS matched,
  SUM(now.total - before.total) / 1e15 AS move
FROM index_contributions__wanted AS now
JOIN index_contributions__sums AS before
  ON before.pattern_key = now.pattern_key AND before.period = period_before
GROUP BY
  now.key,
  now.currency,
  now.period;
-- step: index_contributions__totals
SELECT
  currency,
  period,
  SUM(matched) AS matched,
  SUM(move) / SUM(matched) AS change
FROM index_contributions__moves AS moves
GROUP BY
  currency,
  period;
-- step: index_contributions
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
    THEN MAKE_DATE(CAST((
      moves.period DIV 12
    ) AS INT), CAST((
      moves.period % 12
    ) AS INT) + 1, 1)
    WHEN 'week'
    THEN CAST('1970-01-05' AS DATE) + CAST((
      moves.period * 7
    ) AS INT)
    WHEN 'day'
    THEN CAST('1970-01-05' AS DATE) + CAST(moves.period AS INT)
  END AS period,
  moves.matched,
  100 * moves.matched / totals.matched AS share_pct,
  100 * (
    EXP(move / moves.matched) - 1
  ) AS own_change_pct,
  100 * move / totals.matched * CASE
    WHEN ABS(totals.change) < 1e-12
    THEN 1
    ELSE (
      EXP(totals.change) - 1
    ) / totals.change
  END AS contribution,
  100 * (
    EXP(totals.change) - 1
  ) AS total_change_pct,
  row_zones.time_zone,
  sites.attribution
FROM index_contributions__moves AS moves
JOIN index_contributions__totals AS totals
  ON totals.currency = moves.currency AND totals.period = moves.period
JOIN index_contributions__groups AS groups
  ON groups.key = moves.key
CROSS JOIN index_contributions__settings AS settings
LEFT JOIN sites
  ON sites.site_id = groups.site_id
LEFT JOIN index_contributions__row_zones AS row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM COALESCE(groups.site_id, CAST(:site_id AS BIGINT))
WHERE
  COALESCE(sites.is_current, TRUE)
ORDER BY
  groups.currency NULLS LAST,
  moves.period NULLS LAST,
  ABS(contribution) DESC,
  moves.key NULLS LAST;
