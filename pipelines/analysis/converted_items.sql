-- part of: spread --fx and query --fx
-- Items with their prices in one currency, for price_spread.sql to compare shops across currencies:
--   CREATE TEMP VIEW rates AS SELECT date::DATE AS date, currency, rate::DECIMAL(28, 10) AS rate FROM 'rates.csv';
--   SET VARIABLE base = 'EUR'; CREATE TEMP VIEW items_in_base AS (this); and price_spread.sql over it, named items.
-- A rate is how much of the currency one unit of the base buys, as central banks publish it: the newest one of each
-- currency up to the day. Offers in a currency without a rate are left out. Exact: half away from zero at the fourth
-- decimal, by integers; a price that does not fit becomes null. The price before is kept in the base only.
-- Variables:
-- · base (currency; required): the base currency of the rates
-- · day (day; default the newest rates): day of the rates
WITH newest AS (
  SELECT currency, (arg_max(rate, date) * 10000000000)::HUGEINT AS rate
  FROM rates
  WHERE date <= coalesce(getvariable('day')::DATE, date) AND currency <> getvariable('base')
  GROUP BY currency
)
SELECT items.* REPLACE (
  getvariable('base') AS currency,
  CASE
    WHEN rate IS NULL THEN price
    ELSE TRY_CAST(
      TRY_CAST((2 * (price::DECIMAL(23, 4) * 10000)::HUGEINT * 10000000000 + rate) // (2 * rate) AS BIGINT) * 0.0001
      AS DECIMAL(18, 4)
    )
  END AS price,
  CASE WHEN rate IS NULL THEN previous_price END AS previous_price
)
FROM items
LEFT JOIN newest USING (currency)
WHERE currency = getvariable('base') OR rate IS NOT NULL
