-- Made by generate.py from pipelines/analysis/successors.sql: change that one. Source 57a7069b29ce1371.
-- step: successors__asked
SELECT
  TRUE AS is_asked;
-- step: successors__span, kept
SELECT
  COALESCE(CAST(:days AS BIGINT), 30) * 86400000000 AS days_us,
  COALESCE(CAST(:overlap_days AS BIGINT), 1) * 86400000000 AS overlap_us;
-- step: successors__listings, kept
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
CROSS JOIN successors__asked AS asked
WHERE
  is_asked
  AND NOT first_seen_at IS NULL
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  );
-- step: successors__ends
SELECT
  site_id,
  MIN(ended_us) AS first_us,
  MAX(ended_us) AS last_us
FROM successors__listings AS listings
WHERE
  NOT ended_us IS NULL
GROUP BY
  site_id;
-- step: successors__ended_or_new, kept
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
FROM successors__listings AS listings
JOIN successors__ends AS ends
  USING (site_id)
CROSS JOIN successors__span AS span
WHERE
  NOT ended_us IS NULL
  OR seen_us BETWEEN first_us - overlap_us AND last_us + days_us;
-- step: successors__sure_values, kept
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  'product' AS kind,
  product_id AS value
FROM successors__ended_or_new AS ended_or_new
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
FROM successors__ended_or_new AS ended_or_new
WHERE
  NOT url IS NULL;
-- step: successors__sure, kept
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
    FROM successors__sure_values AS sure_values
    WHERE
      NOT ended_us IS NULL
  ) AS _t
  WHERE
    _w <= 100
) AS ended
CROSS JOIN successors__span AS span
JOIN successors__sure_values AS told
  ON told.site_id = ended.site_id
  AND told.kind = ended.kind
  AND told.value = ended.value
  AND told.is_new
  AND told.seen_us > ended.seen_us
  AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us;
-- step: successors__numbered, kept
SELECT
  item_id,
  site_id,
  product_id IS NULL AS is_free,
  ARRAY_JOIN(ARRAY_SORT(ARRAY_DISTINCT(REGEXP_EXTRACT_ALL(title, '[0-9]+', 0))), ' ') AS numbers
FROM successors__ended_or_new AS ended_or_new
WHERE
  NOT title IS NULL;
-- step: successors__worded
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
FROM successors__ended_or_new AS ended_or_new
SEMI JOIN (
  SELECT
    item_id
  FROM successors__numbered AS numbered
  SEMI JOIN (
    SELECT
      site_id,
      numbers
    FROM successors__numbered AS numbered
    LEFT JOIN (
      SELECT DISTINCT
        old_id
      FROM successors__sure AS sure
    ) AS paired
      ON old_id = item_id
    WHERE
      is_free OR NOT old_id IS NULL
  ) AS wanted
    USING (site_id, numbers)
) AS compared
  USING (item_id);
-- step: successors__titles, kept
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  CASE WHEN ARRAY_SIZE(stems) >= 3 THEN ARRAY_JOIN(stems, ' ') END AS value
FROM successors__worded AS worded;
-- step: successors__alike
SELECT
  old_id,
  new_id,
  ARRAY_SORT(COLLECT_LIST(kind)) AS kinds
FROM (
  SELECT
    old_id,
    new_id,
    kind
  FROM successors__sure AS sure
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
      FROM successors__titles AS titles
      WHERE
        NOT ended_us IS NULL
    ) AS _t
    WHERE
      _w <= 100
  ) AS ended
  CROSS JOIN successors__span AS span
  JOIN successors__titles AS told
    ON told.site_id = ended.site_id
    AND told.value = ended.value
    AND told.is_new
    AND told.seen_us > ended.seen_us
    AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us
)
GROUP BY
  old_id,
  new_id;
-- step: successors__pairs, kept
SELECT
  old_id,
  new_id,
  kinds
FROM successors__alike AS alike
JOIN successors__ended_or_new AS old
  ON old.item_id = old_id
JOIN successors__ended_or_new AS new
  ON new.item_id = new_id
WHERE
  kinds <> ARRAY('title') OR old.product_id IS NULL OR new.product_id IS NULL;
-- step: successors__direct_
SELECT
  old_id,
  new_id,
  kinds,
  COUNT(*) OVER (PARTITION BY old_id) AS candidates,
  COUNT(*) OVER (PARTITION BY new_id) AS rivals
FROM successors__pairs AS pairs
ANTI JOIN (
  SELECT DISTINCT
    earlier.old_id,
    later.new_id
  FROM successors__pairs AS earlier
  JOIN successors__pairs AS later
    ON later.old_id = earlier.new_id
) AS roundabout
  USING (old_id, new_id);
-- step: successors__direct, kept
SELECT
  old_id,
  new_id,
  kinds,
  candidates,
  rivals,
  old.ended_us,
  new.seen_us
FROM successors__direct_ AS direct
JOIN successors__ended_or_new AS old
  ON old.item_id = old_id
JOIN successors__ended_or_new AS new
  ON new.item_id = new_id;
-- step: successors__listings_, kept
SELECT
  item_id,
  site_id,
  product_id,
  title,
  url,
  category_slug
FROM items
WHERE
  item_id IN (
    SELECT
      old_id
    FROM successors__direct AS direct
    UNION
    SELECT
      new_id
    FROM successors__direct AS direct
  );
-- step: successors__prices, kept
SELECT
  item_id,
  MIN_BY(price, from_at) FILTER(WHERE
    NOT price IS NULL) AS first_price,
  MIN_BY(currency, from_at) FILTER(WHERE
    NOT currency IS NULL) AS first_currency,
  MAX_BY(price, from_at) FILTER(WHERE
    NOT price IS NULL) AS last_price,
  MAX_BY(currency, from_at) FILTER(WHERE
    NOT currency IS NULL) AS last_currency
FROM price_spells
SEMI JOIN successors__listings_ AS listings
  USING (item_id)
GROUP BY
  item_id;
-- step: successors__known, kept
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
-- step: successors__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM successors__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: successors__named, kept
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
    FROM successors__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: successors__chosen
SELECT
  path
FROM successors__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: successors__part, kept
SELECT
  slug
FROM successors__named AS named
UNION
SELECT
  slug
FROM successors__known AS known, successors__chosen AS chosen, successors__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: successors
SELECT
  old_id AS old_item_id,
  new_id AS new_item_id,
  old.site_id,
  COALESCE(sites.name, CAST(old.site_id AS STRING)) AS shop,
  COALESCE(old.product_id, new.product_id) AS product_id,
  old.title,
  new.title AS new_title,
  CASE
    WHEN NOT ARRAY_CONTAINS(kinds, 'url')
    AND REGEXP_EXTRACT(old.url, '^[a-zA-Z]+://[^/?#]+/([^?#]*[^?#/])', 1) = NULLIF(REGEXP_EXTRACT(new.url, '^[a-zA-Z]+://[^/?#]+/([^?#]*[^?#/])', 1), '')
    THEN ARRAY_APPEND(COALESCE(kinds, ARRAY()), 'path')
    ELSE kinds
  END AS evidence,
  TIMESTAMP_MICROS(ended_us) AS ended_at,
  TIMESTAMP_MICROS(seen_us) AS first_seen_at,
  (
    seen_us - ended_us
  ) / 86400000000 AS gap_days,
  before.last_price,
  before.last_currency,
  after.first_price,
  after.first_currency,
  CASE
    WHEN before.last_currency = after.first_currency
    THEN 100 * CAST((
      after.first_price - before.last_price
    ) AS DOUBLE) / CAST(before.last_price AS DOUBLE)
  END AS change_pct,
  candidates,
  rivals,
  candidates > 1 OR rivals > 1 AS is_ambiguous,
  old.url,
  new.url AS new_url,
  sites.attribution
FROM successors__direct AS direct
JOIN successors__listings_ AS old
  ON old.item_id = old_id
JOIN successors__listings_ AS new
  ON new.item_id = new_id
LEFT JOIN successors__prices AS before
  ON before.item_id = old_id
LEFT JOIN successors__prices AS after
  ON after.item_id = new_id
LEFT JOIN sites
  ON sites.site_id = old.site_id AND sites.is_current
WHERE
  (
    :since IS NULL OR ended_us >= UNIX_MICROS(CAST(:since AS TIMESTAMP))
  )
  AND (
    :product IS NULL OR :product IN (old.product_id, new.product_id)
  )
  AND (
    :category IS NULL
    OR old.category_slug IN (
      SELECT
        slug
      FROM successors__part
    )
    OR new.category_slug IN (
      SELECT
        slug
      FROM successors__part
    )
  )
ORDER BY
  ended_us DESC,
  old_id NULLS LAST,
  new_id NULLS LAST
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 100), 2147483647) AS INT);
