-- Made by generate.py from pipelines/analysis/reductions.sql: change that one. Source 923c78d846cdad7b.
-- step: reductions__span
SELECT
  COALESCE(CAST(:days AS BIGINT), 30) * 86400000000 AS before_us;
-- step: reductions__known, kept
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
-- step: reductions__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM reductions__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: reductions__named, kept
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
    FROM reductions__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: reductions__chosen
SELECT
  path
FROM reductions__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: reductions__part
SELECT
  slug
FROM reductions__named AS named
UNION
SELECT
  slug
FROM reductions__known AS known, reductions__chosen AS chosen, reductions__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: reductions__announced, kept
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  price,
  regular_price
FROM offers
WHERE
  regular_price > price
  AND price > 0
  AND NOT ARRAYS_OVERLAP(findings, ARRAY('placeholder', 'scale'))
  AND (
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
    OR item_id IN (
      SELECT
        item_id
      FROM items
      WHERE
        category_slug IN (
          SELECT
            slug
          FROM reductions__part
        )
    )
  );
-- step: reductions__spells, kept
SELECT
  item_id,
  price_spells.currency,
  price_spells.price,
  is_suspect,
  price_spells.began,
  UNIX_MICROS(from_at) AS from_us,
  COALESCE(UNIX_MICROS(to_at), 9223372036854775807) AS to_us,
  COALESCE(price_before > price_spells.price AND price_before < regular_price, FALSE) AS is_deeper
FROM price_spells
JOIN (
  SELECT
    item_id,
    regular_price
  FROM reductions__announced AS announced
) AS announced
  USING (item_id);
-- step: reductions__firsts
SELECT
  item_id,
  MIN(from_us) AS first_us,
  MIN_BY(began, from_us) IS NOT DISTINCT FROM 'NEW' AS was_new,
  MAX(from_us) FILTER(WHERE
    NOT is_deeper) AS cut_us
FROM reductions__spells AS spells
GROUP BY
  item_id;
-- step: reductions__rules, kept
SELECT
  site_id,
  text AS name
FROM offer_rules
WHERE
  rule = 'attribute' AND meaning = 'regular price';
-- step: reductions__names
SELECT
  shops.site_id,
  name
FROM (
  SELECT DISTINCT
    site_id
  FROM reductions__announced AS announced
) AS shops
JOIN reductions__rules AS rules
  ON rules.site_id = shops.site_id
  OR rules.site_id IS NULL
  AND NOT shops.site_id IN (
    SELECT
      site_id
    FROM reductions__rules AS rules
    WHERE
      NOT site_id IS NULL
  )
WHERE
  name <> '';
-- step: reductions__raises
SELECT
  item_id,
  MAX(told_us) AS raised_us
FROM (
  SELECT
    announced.item_id,
    UNIX_MICROS(observed_at) AS told_us,
    COALESCE(
      GET_JSON_OBJECT(changes, '$[\'' || name || '\']'),
      GET_JSON_OBJECT(changes, '$[\'attributes.' || name || '\']')
    ) AS pair
  FROM (
    SELECT
      own.product_id,
      own.site_id,
      history.item_id,
      change_id,
      observed_at,
      kind,
      previous_price,
      price,
      history.currency,
      own.listing_currency,
      changes,
      origin,
      history.run_id
    FROM history
    JOIN (
      SELECT
        item_id,
        product_id,
        site_id,
        currency AS listing_currency
      FROM items
      WHERE
        NOT product_id IS NULL
    ) AS own
      USING (item_id)
  ) AS told
  JOIN reductions__announced AS announced
    ON announced.item_id = told.item_id
  JOIN reductions__names AS names
    ON names.site_id = announced.site_id
  WHERE
    CONTAINS(changes, name)
)
WHERE
  TRY_CAST(GET_JSON_OBJECT(pair, '$[1]') AS DECIMAL(18, 4)) > COALESCE(TRY_CAST(GET_JSON_OBJECT(pair, '$[0]') AS DECIMAL(18, 4)), 0)
GROUP BY
  item_id;
-- step: reductions__begun, kept
SELECT
  announced.item_id,
  announced.product_id,
  announced.site_id,
  announced.currency,
  announced.price,
  announced.regular_price,
  first_us,
  was_new,
  GREATEST(cut_us, COALESCE(raised_us, cut_us)) AS begun_us,
  before_us
FROM reductions__announced AS announced
JOIN reductions__firsts AS firsts
  USING (item_id)
LEFT JOIN reductions__raises AS raises
  USING (item_id)
CROSS JOIN reductions__span AS span;
-- step: reductions__covered
SELECT
  begun.item_id,
  MIN(spells.price) FILTER(WHERE
    NOT is_suspect) AS lowest_before,
  COALESCE(
    SUM(LEAST(spells.to_us, begun_us) - GREATEST(spells.from_us, begun_us - before_us)) FILTER(WHERE
      NOT spells.began IS NULL AND NOT is_suspect),
    0
  ) AS known_us,
  COALESCE(
    SUM(LEAST(spells.to_us, begun_us) - GREATEST(spells.from_us, begun_us - before_us)) FILTER(WHERE
      spells.began IS NULL OR is_suspect),
    0
  ) AS unsure_us
FROM reductions__begun AS begun
JOIN reductions__spells AS spells
  ON spells.item_id = begun.item_id
  AND spells.currency = begun.currency
  AND spells.from_us < begun_us
  AND spells.to_us > begun_us - before_us
GROUP BY
  begun.item_id;
-- step: reductions__judged
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  price,
  regular_price,
  first_us,
  was_new,
  begun_us,
  before_us,
  lowest_before,
  known_us,
  unknown_us,
  CASE
    WHEN lowest_before < regular_price
    THEN 'not honest'
    WHEN NOT lowest_before IS NULL AND unknown_us = 0
    THEN 'honest'
    ELSE 'not known'
  END AS verdict
FROM (
  SELECT
    begun.item_id,
    begun.product_id,
    begun.site_id,
    begun.currency,
    begun.price,
    begun.regular_price,
    begun.first_us,
    begun.was_new,
    begun.begun_us,
    begun.before_us,
    lowest_before,
    COALESCE(known_us, 0) AS known_us,
    COALESCE(unsure_us, 0) + CASE
      WHEN was_new
      THEN 0
      ELSE LEAST(before_us, GREATEST(0, first_us - (
        begun_us - before_us
      )))
    END AS unknown_us
  FROM reductions__begun AS begun
  LEFT JOIN reductions__covered AS covered
    USING (item_id)
);
-- step: reductions
SELECT
  judged.item_id,
  listings.title,
  judged.product_id,
  judged.site_id,
  COALESCE(sites.name, CAST(judged.site_id AS STRING)) AS shop,
  judged.currency,
  judged.price,
  judged.regular_price,
  100 * CAST((
    judged.regular_price - judged.price
  ) AS DOUBLE) / CAST(judged.regular_price AS DOUBLE) AS announced_pct,
  TIMESTAMP_MICROS(begun_us) AS began_at,
  lowest_before,
  100 * CAST((
    lowest_before - judged.price
  ) AS DOUBLE) / CAST(lowest_before AS DOUBLE) AS cut_from_lowest_pct,
  known_us / 86400000000 AS days_known,
  (
    before_us - known_us - unknown_us
  ) / 86400000000 AS days_unlisted,
  unknown_us / 86400000000 AS days_unknown,
  verdict,
  COUNT(CASE WHEN verdict = 'honest' THEN 1 END) OVER (PARTITION BY judged.site_id) AS shop_honest,
  COUNT(CASE WHEN verdict = 'not honest' THEN 1 END) OVER (PARTITION BY judged.site_id) AS shop_not_honest,
  COUNT(CASE WHEN verdict = 'not known' THEN 1 END) OVER (PARTITION BY judged.site_id) AS shop_not_known,
  listings.url,
  sites.attribution
FROM reductions__judged AS judged
JOIN (
  SELECT
    item_id,
    title,
    url
  FROM items
) AS listings
  USING (item_id)
LEFT JOIN sites
  ON sites.site_id = judged.site_id AND sites.is_current
ORDER BY
  NULLIF(ARRAY_POSITION(ARRAY('not honest', 'honest', 'not known'), verdict), 0) NULLS LAST,
  announced_pct DESC,
  judged.item_id NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 100), 2147483647) AS INT);
