-- part of: watch
-- Shops below your lowest allowed prices, now and in the past: one row per period in which a shop was below the lowest
-- of a line. Overlapping or adjacent periods of several shops form one episode of the line (1 is the oldest). place is
-- the shop's place in it: 1 for the first offender, then the followers in order; shops that begin at the same instant
-- by site_id. to_at is null if the shop is still below. days ends with the newest last_seen_at of items then.
-- lowest_price is the lowest price of the period, and priced_at its beginning; item_id and url are the listing that had
-- it; change_id, kind, landed and run_id are the change of history that brought it, with the values as they landed.
-- They are null if the price is older than the first known change, or is known only from the listing; in the first
-- case, from_known is false, and from_at is when the listing was first seen. alarm is sure or unsure, and
-- unsure_because gives the reason; both are only set for shops that are now below with a price that counts. Reads found
-- (watch_list.sql), alarms (watch_alarms.sql), items, history, offers, price_spells and clock (now_us).
-- Source: a definition of this project.
-- Exact: prices, times, places and counts. days is a double, divided once.
-- Limits: a past price is compared with today's lowest. A time is when the service saw a price, not when the shop set
-- it. Prices that are suspect (price_spells) or don't count now (offers.is_counted) are left out; a past price is
-- judged by the listing's other prices alone. If a line has no currency, the currency in which shops now sell the
-- product is used, or else the only currency of its past; if there are several, the line has no rows.
WITH priced AS MATERIALIZED (FROM 'watch_priced.sql'),
past_currencies AS (
  SELECT product_id, min(currency) AS past_currency
  FROM price_spells
  WHERE product_id IN (SELECT product_id FROM found)
  GROUP BY product_id
  HAVING count(DISTINCT currency) = 1
),
bounds AS (
  SELECT line, product_id, coalesce(currency, past_currency) AS currency, 'below' AS kind, lowest AS bound
  FROM found
  LEFT JOIN past_currencies USING (product_id)
  WHERE lowest IS NOT NULL
),
episodes AS MATERIALIZED (FROM 'watch_episodes.sql'),
placed AS (
  SELECT
    * EXCLUDE (kind, is_apart),
    dense_rank() OVER (PARTITION BY line, episode ORDER BY began_us, site_id) AS place,
    first_value(site_id) OVER (PARTITION BY line, episode ORDER BY from_us, site_id) AS first_site_id
  FROM (SELECT *, min(from_us) OVER (PARTITION BY line, episode, site_id) AS began_us FROM episodes)
),
-- If several changes have the same time, the last one set the price.
brought AS (
  SELECT item_id, epoch_us(observed_at) AS from_us, price, change_id, kind, changes, url, run_id
  FROM history
  WHERE item_id IN (SELECT lowest.item_id FROM episodes)
  QUALIFY row_number() OVER (PARTITION BY item_id, observed_at, price ORDER BY change_id DESC NULLS LAST, kind) = 1
),
names AS (
  SELECT site_id, name, attribution FROM sites WHERE is_current
)
SELECT
  placed.line,
  found.product,
  found.product_id,
  found.title,
  bounds.currency,
  found.lowest AS allowed,
  episode + 1 AS episode,
  place,
  coalesce(names.name, placed.site_id::VARCHAR) AS shop,
  placed.site_id,
  coalesce(firsts.name, first_site_id::VARCHAR) AS first_shop,
  make_timestamptz(placed.from_us) AS from_at,
  is_known AS from_known,
  CASE WHEN to_us < 9223372036854775807 THEN make_timestamptz(to_us) END AS to_at,
  to_us = 9223372036854775807 AS is_now,
  CASE WHEN alarms.line IS NOT NULL THEN CASE WHEN alarms.doubt IS NULL THEN 'sure' ELSE 'unsure' END END AS alarm,
  list_filter([alarms.doubt], lambda text: text IS NOT NULL) AS unsure_because,
  greatest(0, CASE WHEN to_us = 9223372036854775807 THEN now_us ELSE to_us END - placed.from_us) / 86400000000 AS days,
  placed.lowest.price AS lowest_price,
  found.lowest - placed.lowest.price AS below,
  make_timestamptz(placed.lowest.from_us) AS priced_at,
  placed.lowest.item_id AS item_id,
  coalesce(brought.url, items.url) AS url,
  brought.change_id,
  brought.kind,
  brought.changes AS landed,
  brought.run_id,
  list_filter([names.attribution], lambda text: text IS NOT NULL) AS attribution
FROM placed
JOIN found USING (line)
JOIN bounds USING (line)
CROSS JOIN clock
LEFT JOIN names ON names.site_id = placed.site_id
LEFT JOIN names AS firsts ON firsts.site_id = first_site_id
LEFT JOIN items ON items.item_id = placed.lowest.item_id
LEFT JOIN alarms ON alarms.line = placed.line AND alarms.site_id = placed.site_id AND to_us = 9223372036854775807
LEFT JOIN brought
  ON brought.item_id = placed.lowest.item_id
  AND brought.from_us = placed.lowest.from_us
  AND brought.price = placed.lowest.price
ORDER BY placed.line, episode, place, placed.from_us
