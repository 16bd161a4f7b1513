-- part of: the daily tables of a run
-- Daily price spread: how much the prices of one product differed at the end of each day (UTC), per currency, on days
-- with offers in two or more shops. From offer_prices (offer_prices.sql) between first_day and last_day. The figures
-- are those of price_spread.sql, made by the query of spread_figures.sql. They are computed only for days on which an
-- offer of the product changes, and hold until the next change.
WITH groups AS (
  SELECT row_number() OVER (ORDER BY product_id, currency) AS group_id, product_id, currency
  FROM offer_prices
  GROUP BY product_id, currency
  HAVING min(site_id) <> max(site_id)
),
priced AS (
  SELECT group_id, site_id, price, from_day, to_day
  FROM offer_prices
  JOIN groups USING (product_id, currency)
),
exact_prices AS MATERIALIZED (FROM 'exact_units.sql'),
moves AS (
  SELECT group_id, from_day AS day FROM exact_prices
  UNION
  SELECT group_id, to_day FROM exact_prices
),
spells AS (
  SELECT group_id, day, lead(day) OVER (PARTITION BY group_id ORDER BY day) AS until
  FROM moves
),
price_groups AS MATERIALIZED (
  SELECT
    row_number() OVER () AS key,
    group_id,
    day,
    until,
    sum(units) AS total,
    list_sort(list(units)) AS prices,
    len(list_distinct(list(site_id)))::BIGINT AS shops,
    min(units::HUGEINT * 18446744073709551616 + site_id) AS cheapest,
    max(units::HUGEINT * 18446744073709551616 - site_id) AS dearest
  FROM spells
  JOIN exact_prices USING (group_id)
  WHERE from_day <= day AND day < to_day
  GROUP BY group_id, day, until
  HAVING min(site_id) <> max(site_id)
),
spread_figures AS (FROM 'spread_figures.sql'),
credited AS (
  SELECT group_id, day, list_sort(list(DISTINCT attribution)) AS attribution
  FROM spells
  JOIN (
    SELECT group_id, from_day, to_day, attribution
    FROM exact_prices
    JOIN sites USING (site_id)
    WHERE is_current AND attribution IS NOT NULL
  ) USING (group_id)
  WHERE from_day <= day AND day < to_day
  GROUP BY group_id, day
),
figures AS (
  SELECT
    product_id,
    currency,
    day,
    until,
    spread_figures.* EXCLUDE (key),
    coalesce(attribution, []) AS attribution
  FROM spread_figures
  JOIN price_groups USING (key)
  JOIN groups USING (group_id)
  LEFT JOIN credited USING (group_id, day)
  ORDER BY product_id, currency, day
)
SELECT
  (day + unnest(range(until - day))::INTEGER)::DATE AS day,
  * EXCLUDE (day, until),
  getvariable('run_id')::VARCHAR AS run_id
FROM figures
