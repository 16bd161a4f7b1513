-- Casts raw items column by column, as a user's own script would.
CREATE MACRO typed_items(path) AS TABLE
SELECT
  id::BIGINT AS item_id,
  title, brand, mpn, gtin,
  lpad(gtin, 14, '0') AS gtin14,
  coalesce(ltrim(gtin, '0'), lower(brand || '-' || mpn)) AS product_id,
  price::DECIMAL(18, 4) AS price,
  "previousPrice"::DECIMAL(18, 4) AS previous_price,
  "priceChangedAt"::TIMESTAMPTZ AS price_changed_at,
  currency, url, image,
  attributes::VARCHAR AS attributes,
  category.name AS category_name,
  category.path AS category_path,
  category.slug AS category_slug,
  category.source AS category_source,
  datasets,
  site.id::BIGINT AS site_id,
  site.name AS site_name,
  site.host AS site_host,
  source."modelId"::BIGINT AS source_id,
  source.name AS source_name,
  "firstSeenAt"::TIMESTAMPTZ AS first_seen_at,
  "lastSeenAt"::TIMESTAMPTZ AS last_seen_at,
  "lastChangedAt"::TIMESTAMPTZ AS last_changed_at,
  "removedAt"::TIMESTAMPTZ AS removed_at,
  "removedAt" IS NULL AS is_listed
FROM read_json(path, format = 'newline_delimited', columns = {
  id: 'VARCHAR', title: 'VARCHAR', brand: 'VARCHAR', mpn: 'VARCHAR', gtin: 'VARCHAR',
  price: 'VARCHAR', "previousPrice": 'VARCHAR', "priceChangedAt": 'VARCHAR', currency: 'VARCHAR',
  url: 'VARCHAR', image: 'VARCHAR', attributes: 'JSON',
  category: 'STRUCT(name VARCHAR, path VARCHAR, slug VARCHAR, source VARCHAR)',
  datasets: 'VARCHAR[]',
  site: 'STRUCT(id VARCHAR, name VARCHAR, host VARCHAR)',
  source: 'STRUCT("modelId" VARCHAR, name VARCHAR)',
  "firstSeenAt": 'VARCHAR', "lastSeenAt": 'VARCHAR', "lastChangedAt": 'VARCHAR', "removedAt": 'VARCHAR'
});
