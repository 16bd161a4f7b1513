-- New listings that may continue ended ones: pairs of listings of one shop whose price series you may link. The new
-- one was first seen after the old one, and at most the set days after the old one ended. evidence: product (both have
-- the same product_id), url (the same address, without scheme, www. and fragment), title (the same words); and as support,
-- path: addresses that differ only in the query. Words are compared by their first four letters, ignoring case, order
-- and accents, and numbers as a whole. gap_days: time from the end to the new listing, negative if that was seen first.
-- last_price and first_price: of the old series and of the new one; change_pct is null if their currencies differ.
-- candidates: number of new listings for the old one; rivals: number of old listings for the new one. is_ambiguous: one
-- of these numbers is above 1. The analysis doesn't choose, so link only unambiguous pairs, and review the others.
-- Source: a definition of this project.
-- Exact: prices, times and counts. gap_days and change_pct are doubles, divided once.
-- Limits: a pair is likely, not certain. A title alone counts if it has three or more words and the products aren't
-- known to differ. A value shared by more than 100 ended listings of the shop is ignored. A listing that came back under
-- its own id hasn't ended. If listing B continues A, and C continues B, the pair A and C is left out.
-- Variables:
-- · since (time): only listings that ended since then; in UTC if the time has no offset
-- · product (product): only this product
-- · top (whole number; default 100): number of rows, latest end first
WITH asked AS (SELECT true AS is_asked),
direct AS MATERIALIZED (FROM 'successor_pairs.sql'),
listings AS MATERIALIZED (
  SELECT item_id, site_id, product_id, title, url, category_slug
  FROM items
  WHERE item_id IN (SELECT old_id FROM direct UNION SELECT new_id FROM direct)
),
prices AS MATERIALIZED (
  SELECT
    item_id,
    arg_min(price, from_at) AS first_price,
    arg_min(currency, from_at) AS first_currency,
    arg_max(price, from_at) AS last_price,
    arg_max(currency, from_at) AS last_currency
  FROM price_spells
  SEMI JOIN listings USING (item_id)
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
  make_timestamptz(ended_us) AS ended_at,
  make_timestamptz(seen_us) AS first_seen_at,
  (seen_us - ended_us) / 86400000000 AS gap_days,
  before.last_price,
  before.last_currency,
  after.first_price,
  after.first_currency,
  CASE
    WHEN before.last_currency = after.first_currency
      THEN 100 * (after.first_price - before.last_price)::DOUBLE / before.last_price::DOUBLE
  END AS change_pct,
  candidates,
  rivals,
  candidates > 1 OR rivals > 1 AS is_ambiguous,
  old.url,
  new.url AS new_url,
  sites.attribution
FROM direct
JOIN listings AS old ON old.item_id = old_id
JOIN listings AS new ON new.item_id = new_id
LEFT JOIN prices AS before ON before.item_id = old_id
LEFT JOIN prices AS after ON after.item_id = new_id
LEFT JOIN sites ON sites.site_id = old.site_id AND sites.is_current
WHERE (getvariable('since') IS NULL OR ended_us >= epoch_us(getvariable('since')::TIMESTAMPTZ))
  AND (getvariable('product') IS NULL OR getvariable('product') IN (old.product_id, new.product_id))
  AND (
    getvariable('category') IS NULL
    OR old.category_slug IN (FROM 'category_tree.sql')
    OR new.category_slug IN (FROM 'category_tree.sql')
  )
ORDER BY ended_us DESC, old_id, new_id
LIMIT coalesce(getvariable('top')::BIGINT, 100)
