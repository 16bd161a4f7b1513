-- part of: catalog.sql, as view price_spells
-- What every listing cost from one instant to another, for as long as it stood at one price: a price spell. The analyses of
-- the past read it. One row a spell: from from_at until before to_at, null while it stands. from_day until before to_day
-- are the days (UTC) at whose end it stood.
-- began: NEW, RELISTED or CHANGED, what the spell began with; null where that is not known: the price is older than
-- the first change that is known, and from_at is when the listing was first seen. ended: CHANGED or REMOVED; null while
-- it stands. A listing that never changed begins NEW when it was first seen. Product and website are those of today.
-- (FROM '….sql') stands for the query of that file.
WITH offers AS (
  SELECT
    item_id,
    product_id,
    site_id,
    coalesce(price, -1) AS price,
    coalesce(previous_price, -1) AS price_before,
    currency,
    price_changed_at,
    coalesce(removed_at, gone_at) AS removed_at,
    first_seen_at
  FROM items
),
told AS (FROM 'told_prices.sql'),
steps AS (
  SELECT
    item_id, NULL::DATE AS day, NULL::TIMESTAMPTZ AS told_at, NULL::BIGINT AS nth, NULL::VARCHAR AS kind,
    NULL::VARCHAR AS listing, NULL::DECIMAL(18, 4) AS price, NULL::DECIMAL(18, 4) AS price_before,
    NULL::DECIMAL(18, 4) AS last_price, NULL::VARCHAR AS currency, NULL::VARCHAR AS currency_before
  FROM offers
  WHERE first_seen_at IS NOT NULL
  UNION ALL
  SELECT
    item_id, day, told_at, nth, kind,
    CASE WHEN kind IN ('NEW', 'RELISTED', 'REMOVED') THEN kind END,
    price, price_before, last_price, currency, currency_before
  FROM told
),
price_runs AS (FROM 'price_runs.sql'),
runs AS (
  SELECT
    price_runs.* EXCLUDE (told_at, kind, next_kind),
    coalesce(told_at, first_seen_at) AS from_at,
    next_told_at AS to_at,
    CASE
      WHEN kind = 'PRICE' THEN 'CHANGED'
      WHEN kind IS NULL AND price_changed_at IS NULL AND coalesce(next_kind, 'REMOVED') = 'REMOVED' THEN 'NEW'
      ELSE kind
    END AS began,
    CASE WHEN next_kind <> 'REMOVED' THEN 'CHANGED' ELSE next_kind END AS ended
  FROM price_runs
  JOIN (SELECT item_id, first_seen_at, price_changed_at FROM offers) USING (item_id)
),
-- A change of something else than the price goes on with the spell.
marked AS (
  SELECT
    *,
    lag(to_at) OVER in_order IS DISTINCT FROM from_at OR lag(price) OVER in_order <> price
      OR lag(currency) OVER in_order <> currency AS is_first
  FROM runs
  WHERE from_at < coalesce(to_at, TIMESTAMPTZ 'infinity') AND price > 0 AND currency IS NOT NULL
  WINDOW in_order AS (PARTITION BY item_id ORDER BY from_at)
),
numbered AS (
  SELECT *, sum(is_first::INTEGER) OVER (PARTITION BY item_id ORDER BY from_at) AS spell
  FROM marked
)
SELECT
  item_id,
  any_value(product_id) AS product_id,
  any_value(site_id) AS site_id,
  any_value(currency) AS currency,
  any_value(price)::DECIMAL(18, 4) AS price,
  min(from_at) AS from_at,
  CASE WHEN count(to_at) = count(*) THEN max(to_at) END AS to_at,
  DATE '1970-01-01' + (epoch_us(min(from_at)) // 86400000000)::INTEGER AS from_day,
  CASE WHEN count(to_at) = count(*) THEN DATE '1970-01-01' + (epoch_us(max(to_at)) // 86400000000)::INTEGER END AS to_day,
  arg_min_null(began, from_at) AS began,
  arg_max_null(ended, from_at) AS ended
FROM numbered
GROUP BY item_id, spell
