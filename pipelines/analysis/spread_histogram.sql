-- Number of products by price spread, in steps of 5 percent; spreads of 100 percent or more share one step (up_to is
-- null). Uses trusted prices, grades A and B.
-- Variables:
-- · currency (currency): only prices in this currency
WITH trusted AS (
  SELECT trusted_spread_pct AS pct
  FROM price_spread
  WHERE grade < 'C' AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
)
SELECT
  least(floor(pct / 5), 20) * 5 AS from_pct,
  CASE WHEN pct < 100 THEN floor(pct / 5) * 5 + 5 END AS up_to_pct,
  count(*) AS spreads
FROM trusted
GROUP BY ALL
ORDER BY from_pct
