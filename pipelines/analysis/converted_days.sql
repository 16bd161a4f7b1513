-- part of: spread --fx
-- Daily price spreads, with their lowest, median and highest trusted price also converted to one currency, at the
-- newest exchange rate of each day. Reads daily_spreads (daily_spreads.sql) and rates (date, currency, rate; see
-- converted_items.sql).
-- Variables:
-- · base (currency; required): the base currency of the rates
WITH numbered AS (
  SELECT *, row_number() OVER () AS nth FROM daily_spreads
),
rated AS (
  SELECT
    numbered.*,
    CASE WHEN numbered.currency = getvariable('base') THEN 10000000000 ELSE (rates.rate * 10000000000)::HUGEINT END AS rate,
    rates.date AS rate_date
  FROM numbered
  ASOF LEFT JOIN rates ON rates.currency = numbered.currency AND rates.date <= numbered.day
),
converted AS (
  SELECT
    *,
    list_transform([trusted_min, trusted_median, trusted_max], lambda price: TRY_CAST(
      TRY_CAST((2 * (price::DECIMAL(23, 4) * 10000)::HUGEINT * 10000000000 + rate) // (2 * rate) AS BIGINT) * 0.0001
      AS DECIMAL(18, 4)
    )) AS prices
  FROM rated
)
SELECT
  * EXCLUDE (nth, rate, rate_date, prices),
  getvariable('base') AS converted_currency,
  prices[1] AS converted_min,
  prices[2] AS converted_median,
  prices[3] AS converted_max,
  rate_date
FROM converted
ORDER BY nth
