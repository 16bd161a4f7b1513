-- Price cuts, each with the lowest price of the days before it. lowest_before: the lowest price of these days (30, or
-- as many as days sets), up to the cut. days_known: the days with a known price of the listing; days_unlisted: the days
-- on which it was certainly not listed; days_unknown: the other days, before the first known change. cut_pct: the cut
-- from the previous price; cut_from_lowest_pct: the cut from lowest_before, negative if the new price is above it.
-- earlier_cut_at: the previous cut, if it was in these days. time_zone is the zone of the shop's days, in which since
-- and until are interpreted.
-- Source: Directive 98/6/EC, Article 6a (inserted by Directive (EU) 2019/2161): the prior price is the lowest one that
-- the trader applied in a period of at least 30 days before the reduction; Court of Justice of the European Union,
-- C-330/23 (Aldi Süd, 2024): an announced reduction is computed from that price.
-- Exact: prices and instants. Percentages and days are doubles.
-- Limits: this says nothing about lawfulness. The data doesn't say what a shop announced, and the article applies only
-- to announced reductions; Member States may provide otherwise for progressive reductions, goods that deteriorate, and
-- products on the market for less than 30 days. The date of a price is when the service saw it; a price between two
-- scrapes is unknown. The time of a suspect price (price_spells) counts as unknown, and a change to or from it is not a
-- cut. Always read lowest_before together with days_known.
-- Variables:
-- · days (whole number from 1; default 30): length of the period before the cut
-- · currency (currency): only prices in this currency
-- · site_id (site): only this shop
-- · product (product): only this product
-- · since (day; default the last 30 days): first day of cuts
-- · until (day; default the last day in the lake): last day of cuts
-- · top (whole number; default 100): number of rows, latest first
WITH row_zones AS (FROM 'row_zones.sql'),
span AS (
  SELECT
    coalesce(getvariable('until')::DATE, last_day) AS until_day,
    coalesce(getvariable('since')::DATE, until_day - 29) AS since_day,
    coalesce(getvariable('days')::BIGINT, 30) * 86400000000 AS before_us
  FROM (SELECT seen_day AS last_day FROM (FROM 'data_clock.sql'))
),
chosen AS (
  FROM price_spells
  WHERE (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
),
cuts AS MATERIALIZED (
  SELECT item_id, product_id, site_id, currency, from_at, epoch_us(from_at) AS from_us, price, price_before, before_us
  FROM chosen, span
  WHERE price < price_before AND NOT is_suspect AND from_day BETWEEN since_day AND until_day
  ORDER BY from_us DESC, item_id
  LIMIT coalesce(getvariable('top')::BIGINT, 100)
),
spells AS MATERIALIZED (
  SELECT
    item_id, currency, price, price_before, is_suspect, from_at, began,
    epoch_us(from_at) AS from_us,
    coalesce(epoch_us(to_at), 9223372036854775807) AS to_us
  FROM chosen
  SEMI JOIN cuts USING (item_id)
),
earlier_cuts AS (
  SELECT cuts.item_id, cuts.from_us, max(spells.from_at) AS earlier_cut_at
  FROM cuts
  JOIN spells
    ON spells.item_id = cuts.item_id AND spells.price < spells.price_before AND NOT spells.is_suspect
    AND spells.from_us < cuts.from_us AND spells.from_us >= cuts.from_us - before_us
  GROUP BY cuts.item_id, cuts.from_us
),
-- A listing whose first spell started with NEW wasn't listed before. For any other listing, the earlier time is
-- unknown.
firsts AS (
  SELECT item_id, min(from_us) AS first_us, arg_min_null(began, from_us) IS NOT DISTINCT FROM 'NEW' AS was_new
  FROM spells
  GROUP BY item_id
),
covered AS (
  SELECT
    cuts.item_id,
    cuts.from_us,
    min(spells.price) FILTER (NOT is_suspect) AS lowest_before,
    coalesce(sum(least(spells.to_us, cuts.from_us) - greatest(spells.from_us, cuts.from_us - before_us))
      FILTER (spells.began IS NOT NULL AND NOT is_suspect), 0) AS known_us,
    coalesce(sum(least(spells.to_us, cuts.from_us) - greatest(spells.from_us, cuts.from_us - before_us))
      FILTER (spells.began IS NULL OR is_suspect), 0) AS unsure_us
  FROM cuts
  JOIN spells
    ON spells.item_id = cuts.item_id AND spells.currency = cuts.currency
    AND spells.from_us < cuts.from_us AND spells.to_us > cuts.from_us - before_us
  GROUP BY cuts.item_id, cuts.from_us
),
parts AS (
  SELECT
    *,
    unsure_us + CASE WHEN was_new THEN 0 ELSE greatest(0, first_us - (from_us - before_us)) END AS unknown_us
  FROM cuts
  JOIN covered USING (item_id, from_us)
  JOIN firsts USING (item_id)
  LEFT JOIN earlier_cuts USING (item_id, from_us)
)
SELECT
  parts.item_id,
  items.title,
  parts.product_id,
  parts.site_id,
  sites.name AS shop,
  parts.currency,
  parts.from_at AS cut_at,
  price_before,
  parts.price,
  100 * (price_before - parts.price)::DOUBLE / price_before::DOUBLE AS cut_pct,
  lowest_before,
  100 * (lowest_before - parts.price)::DOUBLE / lowest_before::DOUBLE AS cut_from_lowest_pct,
  known_us / 86400000000 AS days_known,
  (before_us - known_us - unknown_us) / 86400000000 AS days_unlisted,
  unknown_us / 86400000000 AS days_unknown,
  earlier_cut_at,
  row_zones.time_zone,
  sites.attribution
FROM parts
JOIN (SELECT item_id, title FROM items) AS items USING (item_id)
LEFT JOIN sites ON sites.site_id = parts.site_id AND sites.is_current
LEFT JOIN row_zones ON row_zones.site_id = parts.site_id
ORDER BY parts.from_us DESC, parts.item_id
