-- part of: the daily tables of a run
-- Daily price spread: how much the prices of one product differed at the end of each day (UTC), per currency, on days
-- with offers in two or more shops. Reads offer_prices (offer_prices.sql) between first_day and last_day. Figures and
-- grades are computed as for price_spread, from the prices that counted then (judged_days.sql). They are computed only
-- for days on which an offer of the product changes, and apply until the next change.
WITH groups AS (
  SELECT row_number() OVER (ORDER BY product_id, currency) AS group_id, product_id, currency
  FROM offer_prices
  GROUP BY product_id, currency
  HAVING min(site_id) <> max(site_id)
),
offered AS MATERIALIZED (
  SELECT group_id, item_id, site_id, price, from_day, to_day
  FROM offer_prices
  JOIN groups USING (product_id, currency)
),
spells AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY group_id, day) AS key, group_id, day, lead(day) OVER (PARTITION BY group_id ORDER BY day) AS until
  FROM (SELECT group_id, from_day AS day FROM offered UNION SELECT group_id, to_day FROM offered)
),
standing AS MATERIALIZED (
  SELECT key, item_id, site_id, price
  FROM spells
  JOIN offered USING (group_id)
  WHERE from_day <= day AND day < to_day
),
priced AS (SELECT *, NULL::VARCHAR AS doubt, false AS is_strange FROM (FROM 'judged_days.sql')),
spread_figures AS (FROM 'spread_figures.sql'),
credited AS (
  SELECT key, list_sort(list(DISTINCT attribution)) AS attribution
  FROM standing
  JOIN sites USING (site_id)
  WHERE is_current AND attribution IS NOT NULL
  GROUP BY key
),
figures AS (
  SELECT
    product_id,
    currency,
    day,
    until,
    spread_figures.* EXCLUDE (key, grade_reason),
    coalesce(attribution, []) AS attribution
  FROM spread_figures
  JOIN spells USING (key)
  JOIN groups USING (group_id)
  LEFT JOIN credited USING (key)
  ORDER BY product_id, currency, day
)
SELECT
  (day + nth::INTEGER)::DATE AS day,
  * EXCLUDE (day, until, nth),
  getvariable('run_id')::VARCHAR AS run_id
FROM (SELECT *, unnest(range(date_diff('day', day, until))) AS nth FROM figures)
