-- part of: catalog.sql, as view price_spells
-- Price spells: how long each listing had each price. Analyses of the past read this view. One row for each spell: it
-- lasts from from_at until before to_at, which is null if the price is current. from_day until before to_day are the
-- days (of time_zone) at whose end the listing had the price. began: NEW, RELISTED or CHANGED, how the spell began;
-- null if the price is older than the first known change: from_at is then when the listing was first seen. ended:
-- CHANGED or REMOVED; null if the price is current. A listing that never changed begins NEW when it was first seen.
-- Product, website and category are today's. ended_before: when the listing's previous spell ended; null for the first
-- known one, equal to from_at if there is no gap. price_before: its price then, in the same currency. is_suspect: a
-- price of 0.01 or less; a price between two others that are about 10, 100 or 1,000 times as high or as low (from 7.9
-- to 12.6 times, and so on) and near each other; or a current price that is a placeholder or off scale (the offers
-- table). A price that returns to the earlier level is not suspect. A suspect price is never a price_before. If
-- with_suspects is true, no price is suspect. is_confirmed: the price is current, and the listing's own row also has
-- it; false if the row contradicts history. (FROM '….sql') is replaced by the query of that file.
-- Variables:
-- · with_suspects (true or false; default false): include prices that look wrong
WITH listings AS (FROM 'past_offers.sql'),
known AS (FROM 'known_prices.sql'),
zones AS MATERIALIZED (FROM 'time_zones.sql'),
steps AS (
  SELECT
    item_id, NULL::DATE AS day, NULL::TIMESTAMPTZ AS known_at, NULL::BIGINT AS nth, NULL::VARCHAR AS kind,
    NULL::VARCHAR AS listing, NULL::DECIMAL(18, 4) AS price, NULL::DECIMAL(18, 4) AS price_before,
    NULL::DECIMAL(18, 4) AS last_price, NULL::VARCHAR AS currency, NULL::VARCHAR AS currency_before
  FROM listings
  WHERE first_seen_at IS NOT NULL
  UNION ALL
  FROM known
),
price_runs AS (FROM 'price_runs.sql'),
runs AS (
  SELECT
    item_id,
    price,
    currency,
    coalesce(known_at, first_seen_at) AS from_at,
    next_known_at AS to_at,
    CASE
      WHEN kind = 'PRICE' THEN 'CHANGED'
      WHEN kind IS NULL AND price_changed_at IS NULL AND coalesce(next_kind, 'REMOVED') = 'REMOVED' THEN 'NEW'
      ELSE kind
    END AS began,
    CASE WHEN next_kind <> 'REMOVED' THEN 'CHANGED' ELSE next_kind END AS ended
  FROM price_runs
),
neighbors AS (
  SELECT
    *,
    lag(to_at) OVER in_order AS ended_before,
    lag(price) OVER in_order AS price_before,
    lag(currency) OVER in_order AS currency_before,
    lead(from_at) OVER in_order AS next_from_at,
    lead(price) OVER in_order AS next_price,
    lead(currency) OVER in_order AS next_currency
  FROM runs
  WHERE from_at < coalesce(to_at, TIMESTAMPTZ 'infinity') AND price > 0 AND currency IS NOT NULL
  WINDOW in_order AS (PARTITION BY item_id ORDER BY from_at)
),
-- A change of anything but the price continues the spell, so a spell may have several runs.
marked AS MATERIALIZED (
  SELECT
    * EXCLUDE (currency_before, next_from_at, next_price, next_currency, price_before),
    CASE WHEN currency_before = currency THEN neighbors.price_before END AS prior_price,
    CASE WHEN ended_before = from_at AND currency_before = currency THEN price_before END AS price_before,
    coalesce(ended_before <> from_at OR neighbors.price_before <> price OR currency_before <> currency, true) AS is_first,
    coalesce(next_from_at <> to_at OR next_price <> price OR next_currency <> currency, true) AS is_last
  FROM neighbors
),
spells AS MATERIALIZED (
  SELECT * EXCLUDE (is_first, is_last) FROM marked WHERE is_first AND is_last
  UNION ALL
  SELECT * EXCLUDE (is_first, is_last, last_to_at, last_ended) REPLACE (last_to_at AS to_at, last_ended AS ended)
  FROM (
    SELECT *, lead(to_at) OVER in_order AS last_to_at, lead(ended) OVER in_order AS last_ended
    FROM marked
    WHERE is_first <> is_last
    WINDOW in_order AS (PARTITION BY item_id ORDER BY from_at)
  )
  WHERE is_first
),
-- A scale error is an episode that starts with a jump by a factor of about 10, 100 or 1,000, and ends with a jump back
-- to the earlier level. The price may also change by up to a quarter at each jump.
jumps AS (
  SELECT item_id, from_at, round(tens)::INTEGER AS jump
  FROM (SELECT item_id, from_at, log10(price::DOUBLE / prior_price) AS tens FROM spells WHERE prior_price IS NOT NULL)
  WHERE abs(round(tens)) BETWEEN 1 AND 3 AND abs(tens - round(tens)) <= 0.1
),
stretches AS (
  SELECT item_id, from_at, price, jump, count(jump) OVER (PARTITION BY item_id ORDER BY from_at) AS jumped
  FROM spells
  LEFT JOIN jumps USING (item_id, from_at)
  WHERE item_id IN (SELECT item_id FROM jumps GROUP BY item_id HAVING count(*) >= 2)
),
episodes AS (
  SELECT
    *,
    coalesce(jump = -lead(jump) OVER in_order
      AND abs(log10(lead(first_price) OVER in_order / lag(last_price) OVER in_order)) <= 0.2, false) AS is_off,
    lead(from_at) OVER in_order AS returned_at,
    row_number() OVER in_order AS n
  FROM (
    SELECT
      item_id, any_value(jump) AS jump, min(from_at) AS from_at,
      arg_min(price, from_at)::DOUBLE AS first_price, arg_max(price, from_at)::DOUBLE AS last_price
    FROM stretches
    GROUP BY item_id, jumped
  )
  WINDOW in_order AS (PARTITION BY item_id ORDER BY from_at)
),
-- Where jumps alternate, every second episode returns to the earlier level, so it is correct.
scaled AS (
  SELECT item_id, from_at AS off_from, returned_at
  FROM (
    SELECT *, n - coalesce(max(CASE WHEN NOT is_off THEN n END) OVER (PARTITION BY item_id ORDER BY n), 0) AS place
    FROM episodes
  )
  WHERE is_off AND place % 2 = 1
),
compared AS (
  SELECT
    spells.*,
    coalesce(from_at < returned_at, false) AS is_scaled,
    off_from,
    coalesce(from_at = returned_at, false) AS is_right_again,
    NOT coalesce(getvariable('with_suspects')::BOOLEAN, false) AS is_judged,
    coalesce(to_at IS NULL AND is_wrong_now, false) AND NOT is_right_again AS is_wrong,
    coalesce(to_at IS NULL AND is_listed AND own_price = price AND own_currency = currency, false) AS is_confirmed,
    listing.product_id,
    listing.site_id,
    listing.category_slug,
    coalesce(own_zones.time_zone, common_zone.time_zone) AS time_zone
  FROM spells
  JOIN (
    SELECT item_id, product_id, site_id, price AS own_price, currency AS own_currency, is_listed, category_slug FROM items
  ) AS listing ON listing.item_id = spells.item_id
  LEFT JOIN scaled ON scaled.item_id = spells.item_id AND from_at BETWEEN off_from AND returned_at
  LEFT JOIN (
    SELECT item_id, true AS is_wrong_now FROM offers WHERE list_has_any(findings, ['placeholder', 'scale'])
  ) AS wrong ON wrong.item_id = spells.item_id
  LEFT JOIN (FROM zones WHERE site_id IS NOT NULL) AS own_zones USING (site_id)
  CROSS JOIN (SELECT time_zone FROM zones WHERE site_id IS NULL) AS common_zone
)
SELECT
  item_id,
  product_id,
  site_id,
  currency,
  price::DECIMAL(18, 4) AS price,
  from_at,
  to_at,
  CASE
    WHEN time_zone = 'UTC' THEN DATE '1970-01-01' + (epoch_us(from_at) // 86400000000)::INTEGER
    ELSE (from_at AT TIME ZONE time_zone)::DATE
  END AS from_day,
  CASE
    WHEN time_zone = 'UTC' THEN DATE '1970-01-01' + (epoch_us(to_at) // 86400000000)::INTEGER
    ELSE (to_at AT TIME ZONE time_zone)::DATE
  END AS to_day,
  began,
  ended,
  ended_before,
  CASE
    WHEN is_judged AND (price_before <= 0.01 OR from_at > off_from) THEN NULL
    ELSE price_before
  END::DECIMAL(18, 4) AS price_before,
  is_judged AND (price <= 0.01 OR is_wrong OR is_scaled) AS is_suspect,
  category_slug,
  is_confirmed,
  time_zone
FROM compared
