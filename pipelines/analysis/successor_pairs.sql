-- part of: successors and relaunches
-- Pairs of an ended listing and a new listing of the same shop that may continue it (defined in successors.sql). Reads
-- asked (is_asked, one row): if it is false, the result is empty.
-- Variables:
-- · days (whole number; default 30): how many days after an end the new listing may first be seen
-- · overlap_days (whole number; default 1): how many days before the end is noticed the new listing may first be seen
-- · site_id (site): only this shop
WITH span AS (
  SELECT
    coalesce(getvariable('days')::BIGINT, 30) * 86400000000 AS days_us,
    coalesce(getvariable('overlap_days')::BIGINT, 1) * 86400000000 AS overlap_us
),
listings AS (
  SELECT
    item_id, site_id, product_id, title, url, category_slug,
    epoch_us(first_seen_at) AS seen_us,
    CASE WHEN NOT is_listed THEN epoch_us(coalesce(removed_at, gone_at)) END AS ended_us
  FROM items
  CROSS JOIN asked
  WHERE is_asked AND first_seen_at IS NOT NULL
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
),
ends AS (
  SELECT site_id, min(ended_us) AS first_us, max(ended_us) AS last_us
  FROM listings
  WHERE ended_us IS NOT NULL
  GROUP BY site_id
),
-- Listings that can be the older or the newer one of a pair.
ended_or_new AS MATERIALIZED (
  SELECT listings.*, seen_us BETWEEN first_us - overlap_us AND last_us + days_us AS is_new
  FROM listings
  JOIN ends USING (site_id)
  CROSS JOIN span
  WHERE ended_us IS NOT NULL OR seen_us BETWEEN first_us - overlap_us AND last_us + days_us
),
sure_values AS (
  SELECT item_id, site_id, seen_us, ended_us, is_new, 'product' AS kind, product_id AS value
  FROM ended_or_new
  WHERE product_id IS NOT NULL
  UNION ALL
  SELECT
    item_id, site_id, seen_us, ended_us, is_new, 'url',
    regexp_replace(regexp_replace(url, '^(?i:https?://)?(?i:www\.)?', ''), '/?(#.*)?$', '')
  FROM ended_or_new
  WHERE url IS NOT NULL
),
sure AS MATERIALIZED (
  SELECT ended.item_id AS old_id, told.item_id AS new_id, ended.kind
  FROM (
    SELECT * FROM sure_values
    WHERE ended_us IS NOT NULL
    QUALIFY count(*) OVER (PARTITION BY site_id, kind, value) <= 100
  ) AS ended
  CROSS JOIN span
  JOIN sure_values AS told
    ON told.site_id = ended.site_id AND told.kind = ended.kind AND told.value = ended.value AND told.is_new
    AND told.seen_us > ended.seen_us AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us
),
-- A title is the main evidence only for listings without a product; otherwise it supports the pairs above. Equal titles
-- get equal numbers, which are much faster to read than words.
numbered AS MATERIALIZED (
  SELECT
    item_id, site_id, product_id IS NULL AS is_free,
    array_to_string(list_sort(list_distinct(regexp_extract_all(title, '[0-9]+'))), ' ') AS numbers
  FROM ended_or_new
  WHERE title IS NOT NULL
),
worded AS MATERIALIZED (
  SELECT
    item_id, site_id, seen_us, ended_us, is_new,
    list_sort(list_distinct([
      CASE WHEN word[1] BETWEEN '0' AND '9' THEN word ELSE left(word, 4) END
      FOR word IN regexp_extract_all(translate(
        lower(title),
        'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżйёάέήίόύώ',
        'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzиеαεηιουω'
      ), '[\p{L}]+|[0-9]+')
    ])) AS stems
  FROM ended_or_new
  SEMI JOIN (
    SELECT item_id
    FROM numbered
    SEMI JOIN (
      SELECT site_id, numbers
      FROM numbered
      LEFT JOIN (SELECT DISTINCT old_id FROM sure) AS paired ON old_id = item_id
      WHERE is_free OR old_id IS NOT NULL
    ) AS wanted USING (site_id, numbers)
  ) AS compared USING (item_id)
),
-- Null for a title with fewer words. DuckDB evaluates such a condition before it selects listings.
titles AS MATERIALIZED (
  SELECT item_id, site_id, seen_us, ended_us, is_new, CASE WHEN len(stems) >= 3 THEN array_to_string(stems, ' ') END AS value
  FROM worded
),
alike AS (
  SELECT old_id, new_id, list_sort(list(kind)) AS kinds
  FROM (
    FROM sure
    UNION ALL
    SELECT ended.item_id, told.item_id, 'title'
    FROM (
      SELECT * FROM titles
      WHERE ended_us IS NOT NULL
      QUALIFY count(*) OVER (PARTITION BY site_id, value) <= 100
    ) AS ended
    CROSS JOIN span
    JOIN titles AS told
      ON told.site_id = ended.site_id AND told.value = ended.value AND told.is_new
      AND told.seen_us > ended.seen_us AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us
  )
  GROUP BY old_id, new_id
),
pairs AS MATERIALIZED (
  SELECT old_id, new_id, kinds
  FROM alike
  JOIN ended_or_new AS old ON old.item_id = old_id
  JOIN ended_or_new AS new ON new.item_id = new_id
  WHERE kinds <> ['title'] OR old.product_id IS NULL OR new.product_id IS NULL
),
direct AS MATERIALIZED (
  SELECT
    *,
    count(*) OVER (PARTITION BY old_id) AS candidates,
    count(*) OVER (PARTITION BY new_id) AS rivals
  FROM pairs
  ANTI JOIN (
    SELECT DISTINCT earlier.old_id, later.new_id
    FROM pairs AS earlier
    JOIN pairs AS later ON later.old_id = earlier.new_id
  ) AS roundabout USING (old_id, new_id)
)
SELECT old_id, new_id, kinds, candidates, rivals, old.ended_us, new.seen_us
FROM direct
JOIN ended_or_new AS old ON old.item_id = old_id
JOIN ended_or_new AS new ON new.item_id = new_id
