-- part of: spread_figures
-- The reliability of a spread: A, B or C, with the reason. Reads price_groups: trusted, the prices that count, in
-- order.
SELECT key, CASE WHEN against IS NOT NULL THEN 'C' WHEN short_of_a <> '' THEN 'B' ELSE 'A' END AS grade,
  coalesce(against, nullif(short_of_a, ''), n || ' shops agree') AS grade_reason
FROM (
  SELECT
    key,
    len(trusted) AS n,
    coalesce(list_max([trusted[i + 1] / trusted[i] FOR i IN range(2, n - 1)]), 1) AS middle_gap,
    list_sort(list_filter(list_distinct(flatten(coalesce(left_out_for, []))), lambda finding: finding <> 'duplicate')) AS kinds,
    CASE
      WHEN n < 2 OR 2 * n < shops THEN format('only {} of {} shops can be compared', n, shops)
      WHEN n = 2 AND trusted[2] > alone * trusted[1] THEN format('two shops, {:.2f} times apart', trusted[2] / trusted[1])
      WHEN trusted[2] > alone * trusted[1] THEN format('the lowest price stands alone: the next is {:.2f} times as high', trusted[2] / trusted[1])
      WHEN trusted[n] > alone * trusted[n - 1] THEN format('the highest price stands alone: {:.2f} times the next', trusted[n] / trusted[n - 1])
      ELSE strange_doubt
    END AS against,
    concat_ws('; ', CASE WHEN n < sure_shops THEN 'only ' || n || ' shops' END, doubt, 'left out: ' || nullif(array_to_string(kinds, ', '), ''),
      CASE WHEN middle_gap > alone THEN format('two groups of shops, {:.2f} times apart', middle_gap) END) AS short_of_a
  FROM price_groups CROSS JOIN (FROM 'spread_limits.sql')
)
