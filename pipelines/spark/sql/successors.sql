-- Made by generate.py from pipelines/analysis/successors.sql: change that one. Source d9f3cda9ca16bc22.
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
WHERE
  NOT title IS NULL;
-- step: successors__told, kept
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
  NOT url IS NULL
UNION ALL
SELECT
  item_id,
  site_id,
  seen_us,
  ended_us,
  is_new,
  'title',
  ARRAY_JOIN(stems, ' ')
FROM successors__worded AS worded
WHERE
  ARRAY_SIZE(stems) >= 3;
-- step: successors__ended
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
  FROM successors__told AS told
  WHERE
    NOT ended_us IS NULL
) AS _t
WHERE
  _w <= 100;
-- step: successors__alike
SELECT
  ended.item_id AS old_id,
  told.item_id AS new_id,
  ARRAY_SORT(COLLECT_LIST(ended.kind)) AS kinds
FROM successors__ended AS ended
CROSS JOIN successors__span AS span
JOIN successors__told AS told
  ON told.site_id = ended.site_id
  AND told.kind = ended.kind
  AND told.value = ended.value
  AND told.is_new
  AND told.seen_us > ended.seen_us
  AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us
GROUP BY
  ended.item_id,
  told.item_id;
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
-- step: successors__last_prices
SELECT
  item_id,
  MAX_BY(price, from_at) FILTER(WHERE
    NOT price IS NULL) AS price,
  MAX_BY(currency, from_at) FILTER(WHERE
    NOT currency IS NULL) AS currency
FROM price_spells
SEMI JOIN successors__direct AS direct
  ON old_id = item_id
GROUP BY
  item_id;
-- step: successors__first_prices
SELECT
  item_id,
  MIN_BY(price, from_at) FILTER(WHERE
    NOT price IS NULL) AS price,
  MIN_BY(currency, from_at) FILTER(WHERE
    NOT currency IS NULL) AS currency
FROM price_spells
SEMI JOIN successors__direct AS direct
  ON new_id = item_id
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
  last_prices.price AS last_price,
  last_prices.currency AS last_currency,
  first_prices.price AS first_price,
  first_prices.currency AS first_currency,
  CASE
    WHEN last_prices.currency = first_prices.currency
    THEN 100 * CAST((
      first_prices.price - last_prices.price
    ) AS DOUBLE) / CAST(last_prices.price AS DOUBLE)
  END AS change_pct,
  candidates,
  rivals,
  candidates > 1 OR rivals > 1 AS is_ambiguous,
  old.url,
  new.url AS new_url,
  sites.attribution
FROM successors__direct AS direct
JOIN (
  SELECT
    item_id,
    site_id,
    product_id,
    title,
    url,
    category_slug
  FROM items
) AS old
  ON old.item_id = old_id
JOIN (
  SELECT
    item_id,
    product_id,
    title,
    url,
    category_slug
  FROM items
) AS new
  ON new.item_id = new_id
LEFT JOIN successors__last_prices AS last_prices
  ON last_prices.item_id = old_id
LEFT JOIN successors__first_prices AS first_prices
  ON first_prices.item_id = new_id
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
LIMIT CAST(COALESCE(CAST(:top AS BIGINT), 100) AS INT);
