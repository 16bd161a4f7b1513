-- part of: successors and relaunches
-- Pairs of an ended listing and a new one of the same shop that may continue it; successors.sql says when. From asked
-- (is_asked, one row): if that is false, there are none.
-- Variables:
-- · days (whole number; default 30): how long after an end the new listing may be seen
-- · overlap_days (whole number; default 1): how long before the end is noticed it may be seen
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
-- Listings that can be at either end of a pair.
ended_or_new AS MATERIALIZED (
  SELECT listings.*, seen_us BETWEEN first_us - overlap_us AND last_us + days_us AS is_new
  FROM listings
  JOIN ends USING (site_id)
  CROSS JOIN span
  WHERE ended_us IS NOT NULL OR seen_us BETWEEN first_us - overlap_us AND last_us + days_us
),
worded AS (
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
  WHERE title IS NOT NULL
),
told AS MATERIALIZED (
  SELECT item_id, site_id, seen_us, ended_us, is_new, 'product' AS kind, product_id AS value
  FROM ended_or_new
  WHERE product_id IS NOT NULL
  UNION ALL
  SELECT
    item_id, site_id, seen_us, ended_us, is_new, 'url',
    regexp_replace(regexp_replace(url, '^(?i:https?://)?(?i:www\.)?', ''), '/?(#.*)?$', '')
  FROM ended_or_new
  WHERE url IS NOT NULL
  UNION ALL
  SELECT item_id, site_id, seen_us, ended_us, is_new, 'title', array_to_string(stems, ' ')
  FROM worded
  WHERE len(stems) >= 3
),
ended AS (
  SELECT * FROM told
  WHERE ended_us IS NOT NULL
  QUALIFY count(*) OVER (PARTITION BY site_id, kind, value) <= 100
),
alike AS (
  SELECT
    ended.item_id AS old_id,
    told.item_id AS new_id,
    list_sort(list(ended.kind)) AS kinds
  FROM ended
  CROSS JOIN span
  JOIN told
    ON told.site_id = ended.site_id AND told.kind = ended.kind AND told.value = ended.value AND told.is_new
    AND told.seen_us > ended.seen_us AND told.seen_us BETWEEN ended.ended_us - overlap_us AND ended.ended_us + days_us
  GROUP BY ended.item_id, told.item_id
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
