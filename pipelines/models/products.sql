-- Computes one row for each product id of listed items: the same product across shops. The title is the oldest listed
-- offer's title, even if it is null. Brand, part number and category come from the oldest offer that has them. On a
-- tie, the offer with the lowest item id is used.
-- needs: items
-- values: run_id VARCHAR
WITH listed AS (
  SELECT
    *,
    -- One sortable number for (first_seen_at, item_id): argmin over a number is far cheaper than over a struct.
    coalesce(epoch_us(first_seen_at), 999999999999999999)::HUGEINT * 18446744073709551616 + item_id AS age
  FROM items
  WHERE is_listed AND product_id IS NOT NULL
),
oldest AS (
  SELECT
    product_id,
    max(gtin14) AS gtin14,
    arg_min_null(title, age) AS title,
    arg_min(brand, age) AS brand,
    arg_min(mpn, age) AS mpn,
    -- Name, path and slug are taken from the same offer.
    arg_min({'name': category_name, 'path': category_path, 'slug': category_slug}, age) FILTER (category_slug IS NOT NULL) AS category,
    count(*) AS offers,
    list(site_id) AS site_ids
  FROM listed
  GROUP BY product_id
)
SELECT
  product_id,
  gtin14,
  title,
  brand,
  mpn,
  category.name AS category_name,
  category.path AS category_path,
  category.slug AS category_slug,
  offers,
  len(list_distinct(site_ids))::BIGINT AS shops,
  getvariable('run_id')::VARCHAR AS run_id
FROM oldest
