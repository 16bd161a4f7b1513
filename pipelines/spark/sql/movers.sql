-- Made by generate.py from pipelines/analysis/movers.sql: change that one. Source e2313fd4fa043166.
-- step: movers__newest_run
SELECT
  MAX(run_number) AS run_number
FROM runs;
-- step: movers__asked_run
SELECT
  CASE WHEN NOT read_at IS NULL THEN LEAST(read_at, changed_at) END AS run_at
FROM (
  SELECT
    MAX(COALESCE(caught_up_at, finished_at)) AS read_at
  FROM runs
  WHERE
    run_number = CAST(:since_run AS BIGINT)
)
CROSS JOIN (
  SELECT
    MAX(changed_at) AS changed_at
  FROM (
    SELECT
      run_id,
      COUNT(*) AS changes,
      MIN(observed_at) AS first_at,
      MAX(observed_at) AS changed_at
    FROM history
    GROUP BY
      run_id
  )
  JOIN runs
    USING (run_id)
  WHERE
    run_number <= CAST(:since_run AS BIGINT)
);
-- step: movers__moment, kept
SELECT
  CASE
    WHEN :since_run IS NULL
    THEN CASE
      WHEN :since IS NULL
      THEN TIMESTAMP_MICROS(seen_us) - INTERVAL '24' HOURS
      WHEN CAST(:since AS STRING) RLIKE '[T ].*(Z|[+-][0-9]{2}(:?[0-9]{2})?)\\z'
      THEN CAST(CAST(:since AS STRING) AS TIMESTAMP)
      ELSE TO_UTC_TIMESTAMP(CAST(CAST(:since AS STRING) AS TIMESTAMP_NTZ), time_zone)
    END
    WHEN NOT :since IS NULL
    THEN RAISE_ERROR('give since or since_run, not both')
    WHEN CAST(:since_run AS BIGINT) = 0
    THEN CAST('1970-01-01 00:00:00Z' AS TIMESTAMP)
    WHEN run_at IS NULL
    THEN RAISE_ERROR(
      'since_run ' || :since_run || ' is no run of this lake: the newest is ' || COALESCE(CAST(run_number AS STRING), 'none')
    )
    ELSE run_at
  END AS since
FROM movers__asked_run AS asked_run, movers__newest_run AS newest_run, (
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
) AS clock;
-- step: movers__lasting, kept
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  price,
  from_at,
  to_at,
  began,
  is_suspect,
  is_confirmed
FROM price_spells, movers__moment AS moment
WHERE
  NOT product_id IS NULL AND (
    to_at IS NULL OR to_at > since
  );
-- step: movers__spells, kept
SELECT
  lasting.item_id,
  lasting.product_id,
  lasting.site_id,
  lasting.currency,
  lasting.price,
  lasting.from_at,
  lasting.to_at,
  lasting.began,
  lasting.is_suspect,
  since
FROM movers__lasting AS lasting, movers__moment AS moment
WHERE
  (
    from_at > since OR NOT to_at IS NULL OR NOT is_confirmed
  )
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  )
  AND (
    :product IS NULL OR product_id = :product
  );
-- step: movers__touched, kept
SELECT DISTINCT
  item_id AS item_id
FROM movers__spells AS spells;
-- step: movers__judged, kept
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  price,
  is_counted,
  findings,
  price > 0 AND (
    is_counted OR findings = ARRAY('duplicate')
  ) AS is_right
FROM offers
SEMI JOIN movers__touched AS touched
  USING (item_id);
-- step: movers__listings, kept
SELECT
  item_id,
  price_changed_at,
  first_seen_at,
  removed_at,
  gone_at,
  is_listed,
  category_slug
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
SEMI JOIN movers__touched AS touched
  USING (item_id);
-- step: movers__then_listed, kept
SELECT
  spells.item_id,
  spells.product_id,
  spells.site_id,
  spells.currency,
  spells.price,
  spells.from_at,
  spells.to_at,
  NOT is_suspect
  AND COALESCE(
    is_right
    OR NOT to_at IS NULL
    AND NOT ARRAYS_OVERLAP(findings, ARRAY('pack', 'condition', 'terms', 'currency')),
    TRUE
  ) AS is_right
FROM movers__spells AS spells
LEFT JOIN (
  SELECT
    item_id,
    findings,
    is_right
  FROM movers__judged AS judged
) AS judged
  USING (item_id)
WHERE
  from_at <= since;
-- step: movers__later, kept
SELECT
  item_id,
  MIN_BY(COALESCE(began, 'NEW'), from_at) FILTER(WHERE
    NOT COALESCE(began, 'NEW') IS NULL) AS first_began,
  MAX(from_at) AS price_from_at,
  MAX(from_at) FILTER(WHERE
    began IS DISTINCT FROM 'CHANGED') AS listed_from_at,
  ANY_VALUE(since) IGNORE NULLS AS since
FROM movers__spells AS spells
WHERE
  from_at > since
GROUP BY
  item_id;
-- step: movers__moved
SELECT
  CASE WHEN judged.price > then_listed.price THEN 'rise' ELSE 'fall' END AS kind,
  item_id,
  judged.product_id,
  judged.site_id,
  judged.currency,
  then_listed.price AS price_before,
  judged.price,
  COALESCE(price_from_at, price_changed_at) AS moved_at,
  judged.is_counted
FROM movers__judged AS judged
JOIN movers__then_listed AS then_listed
  USING (item_id, currency)
JOIN (
  SELECT
    item_id,
    price_changed_at
  FROM movers__listings AS listings
) AS listings
  USING (item_id)
LEFT JOIN movers__later AS later
  USING (item_id)
WHERE
  judged.is_right AND then_listed.is_right AND judged.price <> then_listed.price
UNION ALL
SELECT
  CASE WHEN first_began = 'RELISTED' THEN 'back' ELSE 'new' END,
  item_id,
  judged.product_id,
  judged.site_id,
  judged.currency,
  NULL,
  judged.price,
  COALESCE(listed_from_at, first_seen_at),
  is_counted
FROM movers__judged AS judged
JOIN movers__later AS later
  USING (item_id)
JOIN (
  SELECT
    item_id,
    first_seen_at
  FROM movers__listings AS listings
) AS listings
  USING (item_id)
ANTI JOIN movers__then_listed AS then_listed
  USING (item_id)
WHERE
  is_right AND (
    first_began <> 'CHANGED' OR first_seen_at > since
  )
UNION ALL
SELECT
  CASE WHEN removed_at IS NULL THEN 'gone' ELSE 'removed' END,
  item_id,
  then_listed.product_id,
  then_listed.site_id,
  then_listed.currency,
  then_listed.price,
  NULL,
  COALESCE(removed_at, gone_at),
  NULL
FROM movers__then_listed AS then_listed
JOIN (
  SELECT
    item_id,
    removed_at,
    gone_at
  FROM movers__listings AS listings
  WHERE
    NOT is_listed
) AS listings
  USING (item_id)
WHERE
  is_right;
-- step: movers__known, kept
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
-- step: movers__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM movers__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: movers__named, kept
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
    FROM movers__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: movers__chosen_
SELECT
  path
FROM movers__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: movers__part
SELECT
  slug
FROM movers__named AS named
UNION
SELECT
  slug
FROM movers__known AS known, movers__chosen_ AS chosen, movers__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: movers__chosen, kept
SELECT
  kind,
  item_id,
  product_id,
  site_id,
  currency,
  price_before,
  price,
  moved_at,
  is_counted,
  category_slug,
  change,
  change_pct,
  of_kind
FROM (
  SELECT
    moved.kind,
    moved.item_id,
    moved.product_id,
    moved.site_id,
    moved.currency,
    moved.price_before,
    moved.price,
    moved.moved_at,
    moved.is_counted,
    category_slug,
    price - price_before AS change,
    100 * CAST((
      price - price_before
    ) AS DOUBLE) / CAST(price_before AS DOUBLE) AS change_pct,
    COUNT(*) OVER (PARTITION BY kind) AS of_kind,
    ROW_NUMBER() OVER (
      PARTITION BY kind
      ORDER BY ABS(100 * CAST((
        price - price_before
      ) AS DOUBLE) / CAST(price_before AS DOUBLE)) DESC, moved_at DESC, item_id NULLS LAST
    ) AS _w
  FROM movers__moved AS moved
  JOIN (
    SELECT
      item_id,
      category_slug
    FROM movers__listings AS listings
  ) AS listings
    USING (item_id)
  WHERE
    (
      :currency IS NULL OR currency = :currency
    )
    AND (
      :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
    )
    AND (
      :category IS NULL OR category_slug IN (
        SELECT
          slug
        FROM movers__part
      )
    )
    AND (
      :kind IS NULL OR kind = :kind
    )
    AND (
      :product IS NULL OR product_id = :product
    )
) AS _t
WHERE
  CAST(_w AS BIGINT) <= COALESCE(CAST(:top AS BIGINT), 100);
-- step: movers__chosen_products, kept
SELECT DISTINCT
  product_id AS product_id
FROM movers__chosen AS chosen;
-- step: movers__sold, kept
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  is_counted,
  findings,
  price > 0 AND (
    is_counted OR findings = ARRAY('duplicate')
  ) AS is_right
FROM offers
SEMI JOIN movers__chosen_products AS chosen_products
  USING (product_id);
-- step: movers__sold_then
SELECT
  lasting.product_id,
  lasting.currency,
  lasting.site_id,
  lasting.price,
  NOT is_suspect
  AND COALESCE(
    is_right
    OR NOT to_at IS NULL
    AND NOT ARRAYS_OVERLAP(findings, ARRAY('pack', 'condition', 'terms', 'currency')),
    TRUE
  ) AS is_right
FROM movers__lasting AS lasting
SEMI JOIN movers__chosen_products AS chosen_products
  USING (product_id)
SEMI JOIN movers__chosen AS chosen
  USING (product_id, currency)
CROSS JOIN movers__moment AS moment
LEFT JOIN (
  SELECT
    item_id,
    findings,
    is_right
  FROM movers__sold AS sold
) AS sold
  USING (item_id)
WHERE
  from_at <= since;
-- step: movers__places_before, kept
SELECT
  product_id,
  currency,
  site_id,
  CAST(RANK() OVER (PARTITION BY product_id, currency ORDER BY MIN(price) NULLS LAST) AS BIGINT) AS place,
  COUNT(*) OVER (PARTITION BY product_id, currency) AS shops
FROM movers__sold_then AS sold_then
WHERE
  is_right
GROUP BY
  product_id,
  currency,
  site_id;
-- step: movers__places_after, kept
SELECT
  product_id,
  currency,
  site_id,
  CAST(RANK() OVER (PARTITION BY product_id, currency ORDER BY MIN(price) NULLS LAST) AS BIGINT) AS place,
  COUNT(*) OVER (PARTITION BY product_id, currency) AS shops
FROM movers__sold AS sold
SEMI JOIN movers__chosen AS chosen
  USING (product_id, currency)
WHERE
  is_counted AND price > 0
GROUP BY
  product_id,
  currency,
  site_id;
-- step: movers
SELECT
  chosen.kind,
  chosen.item_id,
  chosen.product_id,
  listed.title,
  chosen.category_slug,
  chosen.site_id,
  COALESCE(sites.name, CAST(chosen.site_id AS STRING)) AS shop,
  chosen.currency,
  chosen.price_before,
  chosen.price,
  chosen.change,
  chosen.change_pct,
  before.place AS rank_before,
  COALESCE(market_before.shops, 0) AS shops_before,
  after.place AS rank_after,
  COALESCE(market_after.shops, 0) AS shops_after,
  chosen.is_counted,
  chosen.moved_at,
  moment.since,
  chosen.of_kind,
  listed.url,
  sites.attribution
FROM movers__chosen AS chosen
CROSS JOIN movers__moment AS moment
JOIN (
  SELECT
    item_id,
    title,
    url
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
  SEMI JOIN movers__chosen_products AS chosen_products
    USING (product_id)
) AS listed
  USING (item_id)
LEFT JOIN movers__places_before AS before
  USING (product_id, currency, site_id)
LEFT JOIN movers__places_after AS after
  USING (product_id, currency, site_id)
LEFT JOIN (
  SELECT DISTINCT
    product_id,
    currency,
    shops
  FROM movers__places_before AS places_before
) AS market_before
  USING (product_id, currency)
LEFT JOIN (
  SELECT DISTINCT
    product_id,
    currency,
    shops
  FROM movers__places_after AS places_after
) AS market_after
  USING (product_id, currency)
LEFT JOIN sites
  ON sites.site_id = chosen.site_id AND sites.is_current
ORDER BY
  NULLIF(ARRAY_POSITION(ARRAY('fall', 'rise', 'new', 'back', 'removed', 'gone'), kind), 0) NULLS LAST,
  ABS(change_pct) DESC,
  moved_at DESC,
  item_id NULLS LAST;
