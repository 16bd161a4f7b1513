-- part of: the daily tables of a run
-- Daily price spread: how much the prices of one product differed at the end of each day (UTC), per currency, on days
-- with offers in two or more shops. From offer_prices (offer_prices.sql) between first_day and last_day. Figures and
-- grades are made as those of price_spread, by prices alone: the lowest price of a shop counts unless it is far from the
-- median. They are computed only for days on which an offer of the product changes, and hold until the next change.
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
  SELECT row_number() OVER () AS key, group_id, day, lead(day) OVER (PARTITION BY group_id ORDER BY day) AS until
  FROM (SELECT group_id, from_day AS day FROM offered UNION SELECT group_id, to_day FROM offered)
),
standing AS MATERIALIZED (
  SELECT key, item_id, site_id, price
  FROM spells
  JOIN offered USING (group_id)
  WHERE from_day <= day AND day < to_day
),
shops AS MATERIALIZED (
  SELECT key, site_id, min(price) AS lowest, arg_min(item_id, (price, item_id)) AS first_id
  FROM standing
  GROUP BY key, site_id
),
medians AS (
  SELECT key, len(prices) AS shops, (prices[(shops + 1) // 2] + prices[shops // 2 + 1])::DOUBLE AS twice_median
  FROM (SELECT key, list_sort(list(lowest::DECIMAL(20, 4))) AS prices FROM shops GROUP BY key)
),
priced AS (
  SELECT
    key,
    site_id,
    price,
    2 * price::DOUBLE / twice_median AS price_ratio,
    CASE
      WHEN shops >= median_shops AND (price_ratio > far OR price_ratio * far < 1) THEN ['outlier']
      WHEN item_id <> first_id THEN ['duplicate']
      ELSE []
    END AS findings,
    findings = [] AS is_counted,
    NULL::VARCHAR AS doubt,
    false AS is_strange
  FROM standing
  JOIN (SELECT key, site_id, first_id FROM shops) AS firsts USING (key, site_id)
  JOIN medians USING (key)
  CROSS JOIN (FROM 'spread_limits.sql')
),
spread_figures AS (FROM 'spread_figures.sql'),
credited AS (
  SELECT key, list_sort(list(DISTINCT attribution)) AS attribution
  FROM shops
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
  (day + unnest(range(until - day))::INTEGER)::DATE AS day,
  * EXCLUDE (day, until),
  getvariable('run_id')::VARCHAR AS run_id
FROM figures
