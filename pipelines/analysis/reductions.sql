-- Announced reductions: offers whose regular price (offers.regular_price) is above their current price, each with the
-- lowest price of the 30 days before the reduction began. verdict: honest if the regular price is not above that lowest
-- price, and the price is known for all days on which the listing existed; not honest if there was a lower price in
-- these days; otherwise not known. began_at: when the price fell below the regular price, possibly in consecutive cuts;
-- or when the shop raised its regular price, if that was later. announced_pct: the reduction that the shop announces;
-- cut_from_lowest_pct: from lowest_before, negative if the price is above it. days_known, days_unlisted and
-- days_unknown have the same meaning as in prior_price. shop_honest, shop_not_honest and shop_not_known count all
-- announced reductions of the shop.
-- Source: as for prior_price. The three verdicts are a definition of this project.
-- Exact: prices, instants and counts. Percentages and days are doubles.
-- Limits: this says nothing about lawfulness. A regular price may be a manufacturer's recommendation, and not announce
-- a reduction at all; Member States may provide otherwise for some goods. It is known only if the pipeline file maps
-- the attribute (docs/concepts/attributes.md). Its past is known only for a mapped attribute without a path, as a
-- number. Prices are those that the service saw. Suspect prices (price_spells) count as unknown; offers that are a
-- placeholder or off scale are left out.
-- Variables:
-- · days (whole number from 1; default 30): length of the period before the reduction
-- · currency (currency): only prices in this currency
-- · site_id (site): only this shop
-- · product (product): only this product
-- · top (whole number; default 100): number of rows, not honest first, then the largest announced reductions
WITH span AS (
  SELECT coalesce(getvariable('days')::BIGINT, 30) * 86400000000 AS before_us
),
announced AS MATERIALIZED (
  SELECT item_id, product_id, site_id, currency, price, regular_price
  FROM (FROM 'all_offers.sql')
  WHERE regular_price > price AND price > 0 AND NOT list_has_any(findings, ['placeholder', 'scale'])
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
    AND (
      getvariable('category') IS NULL
      OR item_id IN (SELECT item_id FROM items WHERE category_slug IN (FROM 'category_tree.sql'))
    )
),
spells AS MATERIALIZED (
  SELECT
    item_id,
    price_spells.currency,
    price_spells.price,
    is_suspect,
    price_spells.began,
    epoch_us(from_at) AS from_us,
    coalesce(epoch_us(to_at), 9223372036854775807) AS to_us,
    coalesce(price_before > price_spells.price AND price_before < regular_price, false) AS is_deeper
  FROM price_spells
  JOIN (SELECT item_id, regular_price FROM announced) AS announced USING (item_id)
),
-- A listing whose first spell started with NEW wasn't listed before. For any other listing, the earlier time is
-- unknown.
firsts AS (
  SELECT
    item_id,
    min(from_us) AS first_us,
    arg_min_null(began, from_us) IS NOT DISTINCT FROM 'NEW' AS was_new,
    max(from_us) FILTER (NOT is_deeper) AS cut_us
  FROM spells
  GROUP BY item_id
),
rules AS (
  SELECT site_id, text AS name FROM offer_rules WHERE rule = 'attribute' AND meaning = 'regular price'
),
-- Names set for a website replace the names set for all websites.
names AS (
  SELECT shops.site_id, name
  FROM (SELECT DISTINCT site_id FROM announced) AS shops
  JOIN rules ON rules.site_id = shops.site_id OR rules.site_id IS NULL AND shops.site_id NOT IN (SELECT site_id FROM rules WHERE site_id IS NOT NULL)
  WHERE name <> ''
),
raises AS (
  SELECT item_id, max(told_us) AS raised_us
  FROM (
    SELECT
      announced.item_id,
      epoch_us(observed_at) AS told_us,
      coalesce(json_extract(changes, '$."' || name || '"'), json_extract(changes, '$."attributes.' || name || '"')) AS pair
    FROM (FROM 'product_history.sql') AS told
    JOIN announced ON announced.item_id = told.item_id
    JOIN names ON names.site_id = announced.site_id
    WHERE contains(changes, name)
  )
  WHERE TRY_CAST(pair ->> 1 AS DECIMAL(18, 4)) > coalesce(TRY_CAST(pair ->> 0 AS DECIMAL(18, 4)), 0)
  GROUP BY item_id
),
begun AS MATERIALIZED (
  SELECT announced.*, first_us, was_new, greatest(cut_us, coalesce(raised_us, cut_us)) AS begun_us, before_us
  FROM announced
  JOIN firsts USING (item_id)
  LEFT JOIN raises USING (item_id)
  CROSS JOIN span
),
covered AS (
  SELECT
    begun.item_id,
    min(spells.price) FILTER (NOT is_suspect) AS lowest_before,
    coalesce(sum(least(spells.to_us, begun_us) - greatest(spells.from_us, begun_us - before_us))
      FILTER (spells.began IS NOT NULL AND NOT is_suspect), 0) AS known_us,
    coalesce(sum(least(spells.to_us, begun_us) - greatest(spells.from_us, begun_us - before_us))
      FILTER (spells.began IS NULL OR is_suspect), 0) AS unsure_us
  FROM begun
  JOIN spells
    ON spells.item_id = begun.item_id AND spells.currency = begun.currency
    AND spells.from_us < begun_us AND spells.to_us > begun_us - before_us
  GROUP BY begun.item_id
),
judged AS (
  SELECT
    *,
    CASE
      WHEN lowest_before < regular_price THEN 'not honest'
      WHEN lowest_before IS NOT NULL AND unknown_us = 0 THEN 'honest'
      ELSE 'not known'
    END AS verdict
  FROM (
    SELECT
      begun.*,
      lowest_before,
      coalesce(known_us, 0) AS known_us,
      coalesce(unsure_us, 0) + CASE WHEN was_new THEN 0 ELSE least(before_us, greatest(0, first_us - (begun_us - before_us))) END AS unknown_us
    FROM begun
    LEFT JOIN covered USING (item_id)
  )
)
SELECT
  judged.item_id,
  listings.title,
  judged.product_id,
  judged.site_id,
  coalesce(sites.name, judged.site_id::VARCHAR) AS shop,
  judged.currency,
  judged.price,
  judged.regular_price,
  100 * (judged.regular_price - judged.price)::DOUBLE / judged.regular_price::DOUBLE AS announced_pct,
  make_timestamptz(begun_us) AS began_at,
  lowest_before,
  100 * (lowest_before - judged.price)::DOUBLE / lowest_before::DOUBLE AS cut_from_lowest_pct,
  known_us / 86400000000 AS days_known,
  (before_us - known_us - unknown_us) / 86400000000 AS days_unlisted,
  unknown_us / 86400000000 AS days_unknown,
  verdict,
  count(*) FILTER (verdict = 'honest') OVER (PARTITION BY judged.site_id) AS shop_honest,
  count(*) FILTER (verdict = 'not honest') OVER (PARTITION BY judged.site_id) AS shop_not_honest,
  count(*) FILTER (verdict = 'not known') OVER (PARTITION BY judged.site_id) AS shop_not_known,
  listings.url,
  sites.attribution
FROM judged
JOIN (SELECT item_id, title, url FROM items) AS listings USING (item_id)
LEFT JOIN sites ON sites.site_id = judged.site_id AND sites.is_current
ORDER BY list_position(['not honest', 'honest', 'not known'], verdict), announced_pct DESC, judged.item_id
LIMIT coalesce(getvariable('top')::BIGINT, 100)
