-- Made by generate.py from pipelines/models/products.sql: change that one. Source c846386bf79f31ef.
-- columns: product_id STRING, gtin14 STRING, title STRING, brand STRING, mpn STRING, category_name STRING, category_path STRING, category_slug STRING, offers BIGINT, shops BIGINT, run_id STRING
-- step: products__listed
SELECT
  item_id,
  title,
  brand,
  mpn,
  gtin,
  gtin14,
  product_id,
  price,
  previous_price,
  price_changed_at,
  currency,
  url,
  image,
  attributes,
  category_name,
  category_path,
  category_slug,
  category_source,
  datasets,
  site_id,
  site_name,
  site_host,
  source_id,
  source_name,
  first_seen_at,
  last_seen_at,
  last_changed_at,
  removed_at,
  is_listed,
  gone_at,
  extra,
  read_at,
  change_id,
  run_id,
  CAST(COALESCE(UNIX_MICROS(first_seen_at), 1000000000000000000) AS DECIMAL(38, 0)) * 18446744073709551616 + item_id AS age
FROM items
WHERE
  is_listed AND NOT product_id IS NULL;
-- step: products__oldest
SELECT
  product_id,
  MAX(gtin14) AS gtin14,
  MIN_BY(title, age) AS title,
  MIN_BY(brand, age) FILTER(WHERE
    NOT brand IS NULL) AS brand,
  MIN_BY(mpn, age) FILTER(WHERE
    NOT mpn IS NULL) AS mpn,
  MIN_BY(category_name, age) FILTER(WHERE
    NOT category_slug IS NULL) AS category_name,
  MIN_BY(category_path, age) FILTER(WHERE
    NOT category_slug IS NULL) AS category_path,
  MIN_BY(category_slug, age) FILTER(WHERE
    NOT category_slug IS NULL) AS category_slug,
  COUNT(*) AS offers,
  COLLECT_LIST(site_id) AS site_ids
FROM products__listed AS listed
GROUP BY
  product_id;
-- step: products
SELECT
  product_id,
  gtin14,
  title,
  brand,
  mpn,
  category_name,
  category_path,
  category_slug,
  offers,
  CAST(ARRAY_SIZE(ARRAY_DISTINCT(site_ids)) AS BIGINT) AS shops,
  CAST(:run_id AS STRING) AS run_id
FROM products__oldest AS oldest;
