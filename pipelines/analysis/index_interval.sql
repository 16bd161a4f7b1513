-- Confidence intervals for an index: the chained Jevons index of each group, with an interval computed by repeatedly
-- drawing products (bootstrap). One row per group and period; the range from lower to upper contains confidence percent
-- of the indices of the drawn products. std_error: the standard deviation of these indices. clusters: number of units
-- that are drawn: products, or 300 random groups of them if there are more.
-- Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), percentile interval; clusters: Cameron, Gelbach
-- and Miller, Bootstrap-Based Improvements for Inference with Clustered Errors, Review of Economics and Statistics 90 (2008).
-- Exact: clusters and draws. The same seed gives the same draws.
-- Limits: the interval covers the choice of products, not of shops, nor errors in prices. With few products it is too
-- narrow.
-- Variables:
-- · replicates (whole number from 20 to 2000; default 200): number of draws
-- · seed (text; default 1): any text; another text gives other draws
-- · confidence (number from 50 to 99.9; default 95): percent of the indices in the interval
WITH row_zones AS (FROM 'row_zones.sql'),
settings AS MATERIALIZED (FROM 'index_settings.sql'),
listings AS MATERIALIZED (FROM 'index_listings.sql'),
groups AS MATERIALIZED (FROM 'index_groups.sql'),
series AS MATERIALIZED (FROM 'index_series.sql'),
period_prices AS MATERIALIZED (FROM 'period_prices.sql'),
sizes AS (
  SELECT key, least(count(DISTINCT coalesce(product_id, first_item_id::VARCHAR)), 300) AS size FROM series GROUP BY key
),
products AS MATERIALIZED (
  SELECT series, key, product, currency, shop_id, size FROM (FROM 'index_heads.sql') JOIN sizes USING (key)
),
-- In a small group, each product is a cluster. The products of a large group are divided among 300 clusters.
clustered AS (
  SELECT series, key, currency, shop_id, dense_rank() OVER (PARTITION BY key ORDER BY product) AS cluster
  FROM products
  WHERE size < 300
  UNION ALL
  SELECT series, key, currency, shop_id, 1 + ('0x' || left(md5(product), 15))::BIGINT % 300 FROM products WHERE size >= 300
),
-- Replaces each group with its clusters, because prices are summed by cluster.
heads AS MATERIALIZED (
  SELECT series, key * 512 + cluster AS key, currency, shop_id FROM clustered
),
patterns AS MATERIALIZED (FROM 'index_patterns.sql'),
sums AS MATERIALIZED (FROM 'index_sums.sql'),
known_periods AS MATERIALIZED (
  SELECT key, period, lag(period) OVER (PARTITION BY key ORDER BY period) AS period_before, items
  FROM (SELECT key // 512 AS key, period, sum(n)::BIGINT AS items FROM sums GROUP BY key // 512, period)
),
-- The previous period is found first, so that DuckDB joins by item and period, not by period alone.
wanted AS MATERIALIZED (
  SELECT pattern_key, known.key, sums.key % 512 AS cluster, known.period, n, total, period_before
  FROM sums
  JOIN (SELECT key, period, period_before FROM known_periods WHERE period_before IS NOT NULL) AS known
    ON known.key = sums.key // 512 AND known.period = sums.period
),
moves AS MATERIALIZED (
  SELECT now.key, now.cluster, now.period, sum(now.n)::BIGINT AS matched, sum(now.total - before.total) / 1e15 AS move
  FROM wanted AS now
  JOIN sums AS before ON before.pattern_key = now.pattern_key AND before.period = period_before
  GROUP BY now.key, now.cluster, now.period
),
-- How often each replicate draws each cluster. Groups with the same number of clusters use the same draws. Replicate 0 has
-- each cluster once.
drawn AS (
  SELECT size, replicate, cluster, count(*) AS times
  FROM (
    SELECT
      size,
      replicate,
      1 + ('0x' || left(md5(coalesce(getvariable('seed')::VARCHAR, '1') || ' ' || replicate || ' ' || draw), 15))::BIGINT % size AS cluster
    FROM (SELECT DISTINCT size, unnest(range(1, size + 1)) AS draw FROM sizes)
    CROSS JOIN (SELECT unnest(range(1, coalesce(getvariable('replicates')::BIGINT, 200) + 1)) AS replicate)
  )
  GROUP BY size, replicate, cluster
),
draws AS MATERIALIZED (
  SELECT size, replicate, list(CASE WHEN replicate = 0 THEN 1 ELSE coalesce(times, 0) END::DOUBLE ORDER BY cluster) AS times
  FROM (
    SELECT size, unnest(range(1, size + 1)) AS cluster, replicate
    FROM (SELECT DISTINCT size FROM sizes)
    CROSS JOIN (SELECT unnest(range(0, coalesce(getvariable('replicates')::BIGINT, 200) + 1)) AS replicate)
  )
  LEFT JOIN drawn USING (size, replicate, cluster)
  GROUP BY size, replicate
),
-- The sums that all clusters of a group contribute in a period, in a fixed order.
moved AS (
  SELECT
    key, size, period,
    list_transform(clusters, lambda one: one.matched) AS matched,
    list_transform(clusters, lambda one: one.move) AS move
  FROM (
    SELECT
      key, size, period,
      list({'matched': coalesce(matched, 0)::DOUBLE, 'move': coalesce(move, 0)} ORDER BY cluster) AS clusters
    FROM (
      SELECT key, size, period, unnest(range(1, size + 1)) AS cluster
      FROM (SELECT DISTINCT key, period FROM moves)
      JOIN sizes USING (key)
    )
    LEFT JOIN moves USING (key, period, cluster)
    GROUP BY key, size, period
  )
),
steps AS (
  SELECT key, replicate, period, list_dot_product(times, move) / nullif(list_dot_product(times, matched), 0) AS change
  FROM draws
  JOIN moved USING (size)
),
-- A replicate without a price in two consecutive periods has no index from then on.
levels AS (
  SELECT
    key,
    replicate,
    period,
    CASE
      WHEN count(change) OVER so_far = row_number() OVER so_far - 1 THEN exp(coalesce(sum(change) OVER so_far, 0))
    END AS level
  FROM (
    SELECT key, replicate, known_periods.period
    FROM known_periods
    CROSS JOIN (SELECT DISTINCT replicate FROM draws)
  )
  LEFT JOIN steps USING (key, replicate, period)
  WINDOW so_far AS (PARTITION BY key, replicate ORDER BY period)
),
figures AS (
  SELECT
    key,
    period,
    max(level) FILTER (WHERE replicate = 0) AS level,
    stddev_samp(level) FILTER (WHERE replicate > 0) AS std_error,
    quantile_cont(level, (100 - coalesce(getvariable('confidence')::DOUBLE, 95)) / 200) FILTER (WHERE replicate > 0) AS lower_level,
    quantile_cont(level, (100 + coalesce(getvariable('confidence')::DOUBLE, 95)) / 200) FILTER (WHERE replicate > 0) AS upper_level
  FROM levels
  GROUP BY key, period
)
SELECT
  category_slug,
  groups.currency,
  groups.site_id,
  sites.name AS shop,
  product_group AS product_id,
  item_group AS item_id,
  brand,
  dataset,
  region,
  CASE unit
    WHEN 'month' THEN make_date((figures.period // 12)::INTEGER, (figures.period % 12)::INTEGER + 1, 1)
    WHEN 'week' THEN DATE '1970-01-05' + (figures.period * 7)::INTEGER
    WHEN 'day' THEN DATE '1970-01-05' + figures.period::INTEGER
  END AS period,
  items,
  size AS clusters,
  100 * level AS jevons,
  100 * std_error AS std_error,
  100 * lower_level AS lower,
  100 * upper_level AS upper,
  row_zones.time_zone,
  sites.attribution
FROM figures
JOIN known_periods ON known_periods.key = figures.key AND known_periods.period = figures.period
JOIN sizes ON sizes.key = figures.key
JOIN groups ON groups.key = figures.key
CROSS JOIN settings
LEFT JOIN sites ON sites.site_id = groups.site_id
LEFT JOIN row_zones
  ON row_zones.site_id IS NOT DISTINCT FROM coalesce(groups.site_id, getvariable('site_id')::BIGINT)
WHERE coalesce(sites.is_current, true)
ORDER BY category_slug, groups.currency, groups.site_id, product_group, item_group, brand, dataset, region, period
