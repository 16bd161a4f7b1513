-- Made by generate.py from pipelines/analysis/spread_histogram.sql: change that one. Source 41f921dec5fde7ab.
-- step: spread_histogram__trusted
SELECT
  COALESCE(trusted_spread_pct, inlier_spread_pct) AS pct
FROM price_spread
WHERE
  grade < 'C' AND (
    :currency IS NULL OR currency = :currency
  );
-- step: spread_histogram
SELECT
  LEAST(CAST(FLOOR(pct / 5) AS DOUBLE), 20) * 5 AS from_pct,
  CASE WHEN pct < 100 THEN CAST(FLOOR(pct / 5) AS DOUBLE) * 5 + 5 END AS up_to_pct,
  COUNT(*) AS spreads
FROM spread_histogram__trusted AS trusted
GROUP BY ALL
ORDER BY
  from_pct NULLS LAST;
