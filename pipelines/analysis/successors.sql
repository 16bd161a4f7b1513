-- New listings that may continue an ended one: pairs of listings of one shop whose price series you may link. The new
-- one was first seen after the old one, and at most days days after the old one ended. evidence: product (both have the
-- same product_id), url (the same address, without scheme, www. and fragment), title (the same words); and as support,
-- path: addresses that differ only in the query. Words are compared by their first four letters, ignoring case, order
-- and accents, and numbers as a whole. gap_days: time from the end to the new listing, negative if that was seen first.
-- last_price and first_price: of the old series and of the new one; change_pct is null if their currencies differ.
-- candidates: new listings for the old one; rivals: old listings for the new one. is_ambiguous: one of these numbers is
-- above 1. The analysis doesn't choose between them: link unambiguous pairs, and review the others.
-- Source: a definition of this project.
-- Exact: prices, times and counts. gap_days and change_pct are doubles, divided once.
-- Limits: a pair is likely, not certain. A title alone counts if it has three or more words and the products aren't
-- known to differ. Titles must have the same words. A value shared by more than 100 ended listings of the shop is
-- ignored. A listing that came back under its own id hasn't ended. A pair is left out if a listing in between continues
-- the old one and is continued by the new one: A to B and B to C, so not A to C.
-- Variables:
-- · days (whole number; default 30): how long after an end the new listing may be seen
-- · overlap_days (whole number; default 1): how long before the end is noticed it may be seen
-- · since (time): ended since then
-- · site_id (site): only this shop
-- · product (product): only this product
-- · top (whole number; default 100): number of rows, latest end first
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
  WHERE first_seen_at IS NOT NULL
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
),
last_prices AS (
  SELECT item_id, arg_max(price, from_at) AS price, arg_max(currency, from_at) AS currency
  FROM price_spells
  SEMI JOIN direct ON old_id = item_id
  GROUP BY item_id
),
first_prices AS (
  SELECT item_id, arg_min(price, from_at) AS price, arg_min(currency, from_at) AS currency
  FROM price_spells
  SEMI JOIN direct ON new_id = item_id
  GROUP BY item_id
)
SELECT
  old_id AS old_item_id,
  new_id AS new_item_id,
  old.site_id,
  coalesce(sites.name, old.site_id::VARCHAR) AS shop,
  coalesce(old.product_id, new.product_id) AS product_id,
  old.title,
  new.title AS new_title,
  CASE
    WHEN NOT list_contains(kinds, 'url')
      AND regexp_extract(old.url, '^[a-zA-Z]+://[^/?#]+/([^?#]*[^?#/])', 1) = nullif(regexp_extract(new.url, '^[a-zA-Z]+://[^/?#]+/([^?#]*[^?#/])', 1), '')
      THEN list_append(kinds, 'path')
    ELSE kinds
  END AS evidence,
  make_timestamptz(old.ended_us) AS ended_at,
  make_timestamptz(new.seen_us) AS first_seen_at,
  (new.seen_us - old.ended_us) / 86400000000 AS gap_days,
  last_prices.price AS last_price,
  last_prices.currency AS last_currency,
  first_prices.price AS first_price,
  first_prices.currency AS first_currency,
  CASE
    WHEN last_prices.currency = first_prices.currency
      THEN 100 * (first_prices.price - last_prices.price)::DOUBLE / last_prices.price::DOUBLE
  END AS change_pct,
  candidates,
  rivals,
  candidates > 1 OR rivals > 1 AS is_ambiguous,
  old.url,
  new.url AS new_url,
  sites.attribution
FROM direct
JOIN ended_or_new AS old ON old.item_id = old_id
JOIN ended_or_new AS new ON new.item_id = new_id
LEFT JOIN last_prices ON last_prices.item_id = old_id
LEFT JOIN first_prices ON first_prices.item_id = new_id
LEFT JOIN sites ON sites.site_id = old.site_id AND sites.is_current
WHERE (getvariable('since') IS NULL OR old.ended_us >= epoch_us(getvariable('since')::TIMESTAMPTZ))
  AND (getvariable('product') IS NULL OR getvariable('product') IN (old.product_id, new.product_id))
  AND (
    getvariable('category') IS NULL
    OR old.category_slug IN (FROM 'category_tree.sql')
    OR new.category_slug IN (FROM 'category_tree.sql')
  )
ORDER BY old.ended_us DESC, old_id, new_id
LIMIT coalesce(getvariable('top')::BIGINT, 100)
