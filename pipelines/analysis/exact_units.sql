-- part of: price_spread, price_spread_daily and judged_offers
-- Prices as whole units of 0.0001, so that figures are exact: from priced (price and other columns), with column units.
-- A product of DECIMAL(18,4) overflows from 10^10 on; the wider one costs three times as much.
SELECT
  *,
  CASE
    WHEN abs(price) < 10000000000 THEN (price * 10000)::BIGINT
    ELSE (price::DECIMAL(23, 4) * 10000)::BIGINT
  END AS units
FROM priced
