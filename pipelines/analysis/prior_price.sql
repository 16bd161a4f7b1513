-- Price cuts, each beside the lowest price of the 30 days before it. lowest_before is the lowest price that stood in the days
-- from 30 days before the cut until the cut; days_known: for how many of those days the listing's price is known, days_unlisted:
-- for how many it is known not to have been listed, and days_unknown: the rest, before the first change that is known.
-- cut_pct: the cut against the price just before it; cut_from_lowest_pct: against lowest_before, negative where the new
-- price is above it. earlier_cut_at: the cut before, if it lies in those 30 days: a step of several.
-- Source: Directive 98/6/EC, Article 6a (inserted by Directive (EU) 2019/2161): the prior price is the lowest one that the
-- trader applied in a period of at least 30 days before the reduction; Court of Justice of the European Union, C-330/23
-- (Aldi Süd, 2024): an announced reduction is computed from that price.
-- Exact: prices and instants. Percentages and days are doubles.
-- Limits: this says nothing about lawfulness. The data doesn't hold what a shop announced, and the article applies to
-- announced reductions alone; Member States may provide otherwise for progressive reductions, goods that
-- deteriorate, and products on the market for less than 30 days. A price is dated by when the service saw it: one that stood
-- between two looks is not known. Read lowest_before with days_known.
-- Optional variables: days (30): the length of the period before · currency · category (slug) · site_id ·
-- product (product_id) · since, until (DATE; 30 days up to the last one): cuts of these days · top (100), the latest first
WITH span AS (
  SELECT
    coalesce(getvariable('until')::DATE, last_day) AS until_day,
    coalesce(getvariable('since')::DATE, until_day - 29) AS since_day,
    coalesce(getvariable('days')::BIGINT, 30) * 86400000000 AS before_us
  FROM (SELECT DATE '1970-01-01' + (epoch_us(max(last_seen_at)) // 86400000000)::INTEGER AS last_day FROM items)
),
spells AS MATERIALIZED (
  SELECT
    item_id, product_id, site_id, currency, price, from_at, from_day, began,
    epoch_us(from_at) AS from_us,
    coalesce(epoch_us(to_at), 9223372036854775807) AS to_us
  FROM price_spells
  WHERE (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('site_id') IS NULL OR site_id = getvariable('site_id')::BIGINT)
    AND (getvariable('product') IS NULL OR product_id = getvariable('product'))
    AND (
      getvariable('category') IS NULL
      OR item_id IN (SELECT item_id FROM items WHERE category_slug = getvariable('category'))
    )
),
changes AS (
  SELECT
    *,
    lag(price) OVER in_order AS price_before,
    lag(to_us) OVER in_order = from_us AND lag(currency) OVER in_order = currency AS goes_on
  FROM spells
  WINDOW in_order AS (PARTITION BY item_id ORDER BY from_us)
),
all_cuts AS (
  SELECT *, lag(from_at) OVER (PARTITION BY item_id ORDER BY from_us) AS cut_before_at
  FROM changes
  WHERE goes_on AND price < price_before
),
cuts AS (
  SELECT item_id, product_id, site_id, currency, from_at, from_us, price, price_before, before_us,
    CASE WHEN epoch_us(cut_before_at) >= from_us - before_us THEN cut_before_at END AS earlier_cut_at
  FROM all_cuts, span
  WHERE from_day BETWEEN since_day AND until_day
  ORDER BY from_us DESC, item_id
  LIMIT coalesce(getvariable('top')::BIGINT, 100)
),
-- Before its first spell a listing that was new then was not listed; of any other nothing is known.
firsts AS (
  SELECT item_id, min(from_us) AS first_us, arg_min_null(began, from_us) IS NOT DISTINCT FROM 'NEW' AS was_new
  FROM spells
  SEMI JOIN cuts USING (item_id)
  GROUP BY item_id
),
covered AS (
  SELECT
    cuts.item_id,
    cuts.from_us,
    min(spells.price) AS lowest_before,
    coalesce(sum(least(spells.to_us, cuts.from_us) - greatest(spells.from_us, cuts.from_us - before_us))
      FILTER (spells.began IS NOT NULL), 0) AS known_us,
    coalesce(sum(least(spells.to_us, cuts.from_us) - greatest(spells.from_us, cuts.from_us - before_us))
      FILTER (spells.began IS NULL), 0) AS unsure_us
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
  sites.attribution
FROM parts
JOIN (SELECT item_id, title FROM items) AS items USING (item_id)
LEFT JOIN sites ON sites.site_id = parts.site_id AND sites.is_current
ORDER BY parts.from_us DESC, parts.item_id
