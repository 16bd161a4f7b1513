-- How the price level changed, with your weights: turnover or expenditure by category, shop, product, brand, item,
-- region or dataset, and indices of the nodes above them in your tree (such as COICOP). One row per node, currency and
-- period; the node all contains every unit. The index of a unit is the price_index that elementary selects; the index of
-- a single item is its price. laspeyres: with the weights of the node's first period; young: with the weights of
-- weights_period; tornqvist: against the first period, with the mean shares of both periods; geks_tornqvist: GEKS over
-- Törnqvist indices in a rolling window, extended by the splice. units: number of units with a price; covered_pct:
-- their percentage of the node's weight for young. weight_pct: the node's percentage of all weights. contribution:
-- percentage points that the node adds to the change of all since the previous period, by young; the contributions of
-- nodes without common units add up.
-- Source: Consumer Price Index Manual (IMF and others, 2020), chapters 8 to 10; Eurostat, Guide on Multilateral Methods in
-- the HICP (2022); GEKS-Törnqvist: Ivancic, Diewert and Fox, Scanner Data, Time Aggregation and the Construction of Price
-- Indexes, Journal of Econometrics 161 (2011).
-- Exact: units, and weights until they are multiplied. The indices are doubles; equal to pyindexnum and PriceIndexCalc2
-- within 1e-9.
-- Limits: each index compares units that have a price and a weight in both periods, so a unit without a price in the
-- first period counts in geks_tornqvist only. Weights are not updated by prices.
-- Use weights by item for at most tens of thousands of items.
-- In plain DuckDB, first: CREATE TEMP TABLE weights AS SELECT 'category' AS kind, category AS unit, NULL::DATE AS period,
-- weight::DECIMAL(28, 10) AS weight FROM 'weights.csv'; CREATE TEMP TABLE tree AS SELECT child, parent FROM 'tree.csv'; SET
-- VARIABLE by = 'category'. With pricelake: query --analysis weighted_index --weights weights.csv --tree tree.csv
-- Variables:
-- · weights_period (day; default the weights without a period, else the mean of all): the period whose weights young
--   uses
-- · elementary (jevons | geks_jevons | tpd; default geks_jevons): the index of a unit
-- · node (text): only this node
WITH row_zones AS (FROM 'row_zones.sql'),
settings AS MATERIALIZED (FROM 'index_settings.sql'),
indices AS MATERIALIZED (FROM 'price_index.sql'),
-- Spellings of a brand that differ only in case count as one.
shares AS MATERIALIZED (
  SELECT kind, CASE kind WHEN 'brand' THEN lower(unit) ELSE unit END AS unit, period, sum(weight) AS weight
  FROM weights
  GROUP BY 1, 2, 3
),
levels AS MATERIALIZED (
  SELECT
    unit,
    currency,
    CASE unit_of_time
      WHEN 'month' THEN year(day) * 12 + month(day) - 1
      WHEN 'week' THEN (day - DATE '1970-01-05')::BIGINT // 7
      WHEN 'day' THEN (day - DATE '1970-01-05')::BIGINT
    END AS period,
    ln(level) AS level
  FROM (
    SELECT
      CASE kind
        WHEN 'category' THEN category_slug
        WHEN 'shop' THEN site_id::VARCHAR
        WHEN 'product' THEN product_id
        WHEN 'brand' THEN lower(brand)
        WHEN 'item' THEN item_id::VARCHAR
        WHEN 'region' THEN region
        WHEN 'dataset' THEN dataset
      END AS unit,
      currency,
      period AS day,
      CASE coalesce(getvariable('elementary')::VARCHAR, 'geks_jevons')
        WHEN 'jevons' THEN jevons
        WHEN 'tpd' THEN tpd
        ELSE geks_jevons
      END AS level
    FROM indices
    CROSS JOIN (SELECT any_value(kind) AS kind FROM shares)
  )
  CROSS JOIN (SELECT unit AS unit_of_time FROM settings)
  WHERE unit IS NOT NULL AND level IS NOT NULL
),
-- Weights by period. A weight without a period counts in every period.
dated_weights AS (
  SELECT
    shares.unit,
    CASE settings.unit
      WHEN 'month' THEN year(period) * 12 + month(period) - 1
      WHEN 'week' THEN (period - DATE '1970-01-05')::BIGINT // 7
      WHEN 'day' THEN (period - DATE '1970-01-05')::BIGINT
    END AS period,
    sum(weight)::DOUBLE AS weight
  FROM shares
  CROSS JOIN settings
  WHERE period IS NOT NULL
  GROUP BY 1, 2
),
constant_weights AS (
  SELECT unit, weight::DOUBLE AS weight FROM shares WHERE period IS NULL
),
reference_weights AS (
  SELECT
    units.unit,
    CASE
      WHEN getvariable('weights_period') IS NOT NULL
        THEN (SELECT sum(weight)::DOUBLE FROM shares WHERE shares.unit = units.unit AND period = getvariable('weights_period')::DATE)
      ELSE coalesce(constant_weights.weight, mean_weight)
    END AS weight
  FROM (SELECT unit, avg(weight) FILTER (period IS NOT NULL)::DOUBLE AS mean_weight FROM shares GROUP BY unit) AS units
  LEFT JOIN constant_weights USING (unit)
),
-- The units below each node of the tree, at any depth.
ancestors AS (
  WITH RECURSIVE up AS (
    SELECT DISTINCT unit, child, parent FROM tree JOIN shares ON unit = CASE kind WHEN 'brand' THEN lower(child) ELSE child END
    UNION
    SELECT up.unit, tree.child, tree.parent FROM up JOIN tree ON tree.child = up.parent
  )
  SELECT DISTINCT unit, parent AS node FROM up
  UNION
  SELECT DISTINCT unit, 'all' FROM shares
),
nodes AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY node, currency) AS key, node, currency
  FROM (SELECT DISTINCT node, currency FROM ancestors JOIN levels USING (unit))
),
members AS MATERIALIZED (
  SELECT key, unit FROM nodes JOIN ancestors USING (node)
),
first_periods AS (
  SELECT key, min(period) AS first_period
  FROM members
  JOIN nodes USING (key)
  JOIN levels USING (unit, currency)
  GROUP BY key
),
-- The level and the weights of each unit of a node in each period.
points AS MATERIALIZED (
  SELECT
    members.key,
    members.unit,
    (levels.period - first_period + 1)::INTEGER AS t,
    level,
    coalesce(dated_weights.weight, constant_weights.weight) AS weight,
    reference_weights.weight AS reference
  FROM members
  JOIN nodes USING (key)
  JOIN first_periods USING (key)
  JOIN levels ON levels.unit = members.unit AND levels.currency = nodes.currency
  LEFT JOIN dated_weights ON dated_weights.unit = members.unit AND dated_weights.period = levels.period
  LEFT JOIN constant_weights ON constant_weights.unit = members.unit
  LEFT JOIN reference_weights ON reference_weights.unit = members.unit
),
periods AS MATERIALIZED (
  SELECT key, t, (first_period + t - 1)::BIGINT AS period, units, lag(t) OVER (PARTITION BY key ORDER BY t) AS t_before
  FROM (SELECT key, t, count(*) AS units FROM points GROUP BY key, t)
  JOIN first_periods USING (key)
),
pairs AS MATERIALIZED (
  SELECT
    one.key, one.t AS a, two.t AS b,
    (sum(one.weight * (two.level - one.level)) / nullif(sum(one.weight), 0)
      + sum(two.weight * (two.level - one.level)) / nullif(sum(two.weight), 0)) / 2 AS change
  FROM points AS one
  JOIN points AS two USING (key, unit)
  WHERE two.t > one.t AND one.weight > 0 AND two.weight > 0
    AND (two.t - one.t < coalesce(getvariable('window_periods')::BIGINT, 25) OR one.t = 1
      OR coalesce(getvariable('splice') = 'fbew', false))
  GROUP BY one.key, one.t, two.t
),
links AS MATERIALIZED (
  SELECT key, a, b, change FROM pairs
  UNION ALL
  SELECT key, b, a, -change FROM pairs
  UNION ALL
  SELECT key, t, t, 0 FROM periods
),
spans AS MATERIALIZED (FROM 'index_spans.sql'),
window_levels AS MATERIALIZED (FROM 'geks_windows.sql'),
geks AS (FROM 'spliced_levels.sql'),
fixed AS (
  SELECT
    now.key,
    now.t,
    100 * sum(base.weight * exp(now.level - base.level)) / nullif(sum(base.weight), 0) AS laspeyres,
    100 * sum(base.reference * exp(now.level - base.level)) / nullif(sum(base.reference), 0) AS young
  FROM points AS now
  JOIN points AS base ON base.key = now.key AND base.unit = now.unit AND base.t = 1
  GROUP BY now.key, now.t
),
-- The contribution of each unit to the total cost in the Young index, in two consecutive periods.
unit_moves AS MATERIALIZED (
  SELECT
    currency,
    now.unit,
    periods.period,
    base.reference * (exp(now.level - base.level) - exp(before.level - base.level)) AS change,
    base.reference * exp(before.level - base.level) AS cost_before
  FROM points AS now
  JOIN nodes ON nodes.key = now.key AND node = 'all'
  JOIN periods ON periods.key = now.key AND periods.t = now.t
  JOIN points AS before ON before.key = now.key AND before.unit = now.unit AND before.t = t_before
  JOIN points AS base ON base.key = now.key AND base.unit = now.unit AND base.t = 1
),
moves AS (
  SELECT members.key, period, sum(change) AS change
  FROM unit_moves
  JOIN members USING (unit)
  JOIN nodes ON nodes.key = members.key AND nodes.currency = unit_moves.currency
  GROUP BY members.key, period
),
costs AS (
  SELECT currency, period, sum(cost_before) AS cost_before FROM unit_moves GROUP BY currency, period
),
covered AS (
  SELECT key, t, sum(reference) AS reference FROM points GROUP BY key, t
),
whole AS (
  SELECT key, sum(weight) AS reference FROM members JOIN reference_weights USING (unit) GROUP BY key
),
alls AS (
  SELECT currency, reference FROM nodes JOIN whole USING (key) WHERE node = 'all'
)
SELECT
  node,
  nodes.currency,
  CASE settings.unit
    WHEN 'month' THEN make_date((periods.period // 12)::INTEGER, (periods.period % 12)::INTEGER + 1, 1)
    WHEN 'week' THEN DATE '1970-01-05' + (periods.period * 7)::INTEGER
    WHEN 'day' THEN DATE '1970-01-05' + periods.period::INTEGER
  END AS period,
  units,
  100 * covered.reference / nullif(whole.reference, 0) AS covered_pct,
  100 * whole.reference / nullif(alls.reference, 0) AS weight_pct,
  laspeyres,
  young,
  CASE WHEN periods.t = 1 THEN 100 ELSE 100 * exp(direct.change) END AS tornqvist,
  100 * exp(geks.level) AS geks_tornqvist,
  100 * moves.change / nullif(costs.cost_before, 0) AS contribution,
  row_zones.time_zone
FROM nodes
JOIN periods USING (key)
CROSS JOIN settings
LEFT JOIN fixed ON fixed.key = periods.key AND fixed.t = periods.t
LEFT JOIN pairs AS direct ON direct.key = periods.key AND direct.a = 1 AND direct.b = periods.t
LEFT JOIN geks ON geks.key = periods.key AND geks.t = periods.t
LEFT JOIN moves ON moves.key = periods.key AND moves.period = periods.period
LEFT JOIN costs ON costs.currency = nodes.currency AND costs.period = periods.period
LEFT JOIN covered ON covered.key = periods.key AND covered.t = periods.t
LEFT JOIN whole ON whole.key = periods.key
LEFT JOIN alls ON alls.currency = nodes.currency
LEFT JOIN row_zones ON row_zones.site_id IS NOT DISTINCT FROM getvariable('site_id')::BIGINT
WHERE getvariable('node') IS NULL OR node = getvariable('node')
ORDER BY node <> 'all', node, nodes.currency, period
