-- part of: the report
-- Datasets as the service describes them, with the number of their listings in the copy.
-- Variables:
-- · top (whole number; default 50): number of rows
WITH copied AS (
  SELECT dataset, count(*) AS copied
  FROM (SELECT unnest(list_distinct(datasets)) AS dataset FROM items WHERE is_listed)
  GROUP BY dataset
)
SELECT
  name,
  items,
  coalesce(copied, 0) AS copied,
  sites,
  models,
  healthy_models,
  newest_scrape_at,
  oldest_scrape_at
FROM datasets
LEFT JOIN copied ON copied.dataset = datasets.name
ORDER BY items DESC, dataset_id
LIMIT coalesce(getvariable('top')::BIGINT, 50)
