-- Price spread of each product: how much its prices differ, per currency, for products in two or more shops; and how
-- far to trust that (docs/concepts/spreads.md). The trusted figures and the grade cover the counted offers. From tables
-- offers (judged_offers.sql) and sites.
-- (FROM '….sql') is replaced by the query of that file; spread_figures.sql computes the figures. pricelake query
-- --analysis price_spread runs them all.
WITH compared AS (
  -- Most products are in one shop.
  SELECT product_id, currency
  FROM offers
  WHERE price > 0
  GROUP BY product_id, currency
  HAVING min(site_id) <> max(site_id)
),
priced AS (
  SELECT
    product_id,
    currency,
    site_id,
    price,
    -- A price that moved by less than a factor of 2.5 was put up or down.
    CASE WHEN is_counted AND previous_price BETWEEN price / 2.5 AND price::DOUBLE * 2.5
      THEN (previous_price::DECIMAL(23, 4) * 10000)::BIGINT END AS units_before,
    is_counted,
    is_counted AND doubts <> [] AS is_doubted,
    findings,
    unit,
    -- Zero to four decimals is too little to compare.
    CASE WHEN is_counted OR findings = ['pack'] THEN nullif(unit_price, 0) END AS unit_price
  FROM offers
  SEMI JOIN compared USING (product_id, currency)
  WHERE price > 0
),
exact_prices AS (FROM 'exact_units.sql'),
price_groups AS MATERIALIZED (
  SELECT
    product_id || ' ' || currency AS key,
    product_id,
    currency,
    sum(units) AS total,
    list_sort(list(units)) AS prices,
    list_distinct(list(site_id)) AS site_ids,
    len(site_ids)::BIGINT AS shops,
    -- Price and site in one sortable number; on a tie of prices the lowest site id wins at both ends.
    min(units::HUGEINT * 18446744073709551616 + site_id) AS cheapest,
    max(units::HUGEINT * 18446744073709551616 - site_id) AS dearest,
    count(*) FILTER (NOT is_counted) AS left_out,
    CASE WHEN left_out = 0 THEN prices ELSE list_sort(list(units) FILTER (is_counted)) END AS trusted,
    min(units) FILTER (is_counted AND NOT is_doubted) AS sure_min,
    max(units) FILTER (is_counted AND NOT is_doubted) AS sure_max,
    bool_or(is_doubted) AS has_doubts,
    list({'low': least(units, units_before), 'high': greatest(units, units_before)}) FILTER (units_before IS NOT NULL) AS moves,
    min(units::HUGEINT * 18446744073709551616 + site_id) FILTER (is_counted) AS trusted_cheapest,
    max(units::HUGEINT * 18446744073709551616 - site_id) FILTER (is_counted) AS trusted_dearest,
    list(findings) FILTER (NOT is_counted) AS left_out_findings,
    min(unit) FILTER (unit_price IS NOT NULL) AS unit,
    -- Prices of a kilogram and of a piece are not compared.
    min(unit) FILTER (unit_price IS NOT NULL) = max(unit) FILTER (unit_price IS NOT NULL)
      AND min(site_id) FILTER (unit_price IS NOT NULL) <> max(site_id) FILTER (unit_price IS NOT NULL) AS has_units,
    min(unit_price) AS unit_min,
    max(unit_price) AS unit_max
  FROM exact_prices
  GROUP BY product_id, currency
),
spread_figures AS (FROM 'spread_figures.sql'),
credited AS (
  SELECT key, list_sort(list(DISTINCT attribution)) AS attribution
  FROM (SELECT key, unnest(site_ids) AS site_id FROM price_groups)
  JOIN (SELECT site_id, attribution FROM sites WHERE is_current AND attribution IS NOT NULL) USING (site_id)
  GROUP BY key
),
counted AS (
  SELECT
    *,
    coalesce(len(trusted), 0) AS n,
    list_sort(list_distinct(coalesce(flatten(left_out_findings), []))) AS kinds
  FROM price_groups
),
stepped AS (
  SELECT
    *,
    -- The widest step between two neighbouring prices that is too wide: nobody confirms a price that stands alone beyond
    -- a factor of 1.6, unless one of the offers moved from one side to the other; and two groups of shops that are
    -- farther apart than 4 hardly sell the same.
    CASE WHEN trusted[n] > 1.6 * trusted[1] THEN list_max([
      trusted[i + 1] / trusted[i]
      FOR i IN range(1, n)
      IF trusted[i + 1] / trusted[i] > CASE WHEN i = 1 OR i = n - 1 THEN 1.6 ELSE 4 END
        AND coalesce(len([1 FOR move IN moves IF move.low <= 1.05 * trusted[i] AND 1.05 * move.high >= trusted[i + 1]]), 0) = 0
    ]) END AS gap,
    CASE WHEN trusted[n] > 1.6 * trusted[1] THEN list_max([trusted[i + 1] / trusted[i] FOR i IN range(1, n)]) > 1.6 ELSE false END
      AS is_parted,
    shops <= 3 AND list_contains(kinds, 'scale') AS is_off_scale,
    has_doubts AND coalesce(sure_min <> trusted[1] OR sure_max <> trusted[n], true) AS is_doubtful
  FROM counted
),
trust AS (
  SELECT
    *,
    CASE
      WHEN n < 2 OR is_off_scale OR is_doubtful OR gap IS NOT NULL OR 2 * n < shops THEN 'C'
      WHEN n >= 4 AND NOT has_doubts AND NOT is_parted AND (kinds = [] OR kinds = ['duplicate']) THEN 'A'
      ELSE 'B'
    END AS grade
  FROM stepped
)
SELECT
  product_id,
  currency,
  spread_figures.* EXCLUDE (key),
  coalesce(attribution, []) AS attribution,
  getvariable('run_id')::VARCHAR AS run_id,
  grade,
  concat_ws('; ',
    CASE
      WHEN n < 2 THEN CASE n WHEN 0 THEN 'no' ELSE 'one' END || ' trusted shop of ' || trust.shops
      WHEN is_off_scale THEN trust.shops || ' shops that differ by a factor near 10, 100 or 1,000'
      WHEN is_doubtful THEN 'the lowest or highest price may be of another product'
      WHEN gap IS NOT NULL THEN format('a gap of factor {:.1f} between two prices', gap)
      WHEN 2 * n < trust.shops THEN 'most shops left out'
      ELSE n || ' shops'
    END,
    CASE WHEN left_out > 0 THEN 'left out: ' || array_to_string(kinds, ', ') END) AS grade_reason,
  left_out,
  n AS trusted_shops,
  CASE WHEN n > 1 THEN (trusted[1] * 0.0001)::DECIMAL(18, 4) END AS trusted_min,
  CASE WHEN n > 1 THEN (((trusted[(n + 1) // 2] + trusted[n // 2 + 1] + 1) // 2) * 0.0001)::DECIMAL(18, 4) END AS trusted_median,
  CASE WHEN n > 1 THEN (trusted[n] * 0.0001)::DECIMAL(18, 4) END AS trusted_max,
  CASE WHEN n > 1 THEN 100 * (trusted[n] - trusted[1])::DOUBLE / trusted[1]::DOUBLE END AS trusted_spread_pct,
  CASE WHEN n > 1 THEN (trusted_cheapest - trusted[1]::HUGEINT * 18446744073709551616)::BIGINT END AS trusted_cheapest_site_id,
  CASE WHEN n > 1 THEN (trusted[n]::HUGEINT * 18446744073709551616 - trusted_dearest)::BIGINT END AS trusted_dearest_site_id,
  CASE WHEN has_units THEN unit END AS unit,
  CASE WHEN has_units THEN unit_min END AS unit_min,
  CASE WHEN has_units THEN unit_max END AS unit_max,
  CASE WHEN has_units THEN 100 * (unit_max - unit_min)::DOUBLE / unit_min::DOUBLE END AS unit_spread_pct
FROM spread_figures
JOIN trust USING (key)
LEFT JOIN credited USING (key)
