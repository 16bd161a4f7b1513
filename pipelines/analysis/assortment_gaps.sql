-- Products that others sell and you don't: at least min_shops shops list the product now in one currency, and your shop
-- lists it in none. lowest, lowest_shop, median and highest use the lowest price of each shop. first_sold_at: when the
-- first of these shops started selling it; sold_widely_at: when min_shops of them sold it. own_ended_at: when your
-- shop's last listing of the product ended; null if your shop never had one.
-- Exact: counts, prices and times. median is exact, half away from zero at the fourth decimal.
-- Limits: only offers that count are included (offers.is_counted). A shop is assumed to sell a product since its oldest
-- current listing was first seen. The true time may be earlier if the product moved to a new address; absences since
-- then are ignored. Listings without a product, including yours, are ignored.
-- Variables:
-- · own_site (site; required): your own shop
-- · min_shops (whole number; default 2): minimum number of other shops that sell it
-- · currency (currency): only prices in this currency
-- · top (whole number; default 100): number of rows
WITH asked AS MATERIALIZED (
  SELECT
    CASE
      WHEN getvariable('own_site') IS NULL THEN error('set own_site to the site_id of your own shop, which the sites table lists')
      WHEN known.site_id IS NULL THEN error('own_site ' || getvariable('own_site') || ' is not a site_id in the sites table')
      ELSE known.site_id
    END AS own_site_id,
    greatest(coalesce(getvariable('min_shops')::BIGINT, 2), 1) AS min_shops
  FROM (SELECT 1)
  LEFT JOIN (SELECT DISTINCT site_id FROM sites) AS known ON known.site_id = getvariable('own_site')::BIGINT
),
own AS (
  SELECT product_id, bool_or(is_listed) AS is_sold, max(coalesce(removed_at, gone_at)) AS ended_at
  FROM (FROM 'product_listings.sql') AS listings
  JOIN asked ON listings.site_id = own_site_id
  GROUP BY product_id
),
sold AS NOT MATERIALIZED (
  SELECT product_id, currency, site_id, item_id, CASE WHEN is_counted THEN price END AS price
  FROM (FROM 'all_offers.sql')
  CROSS JOIN asked
  WHERE site_id <> own_site_id AND price > 0 AND (is_counted OR findings = ['duplicate'])
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (
      getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug IN (FROM 'category_tree.sql'))
    )
),
-- Lists take memory, so they are built only for the chosen products. One offer of each shop counts.
chosen AS MATERIALIZED (
  SELECT product_id, currency, min_shops, own.ended_at AS own_ended_at
  FROM (SELECT product_id, currency, count(*) AS shops FROM sold WHERE price IS NOT NULL GROUP BY product_id, currency)
  CROSS JOIN asked
  LEFT JOIN own USING (product_id)
  WHERE shops >= min_shops AND NOT coalesce(own.is_sold, false)
  ORDER BY shops DESC, product_id, currency
  LIMIT coalesce(getvariable('top')::BIGINT, 100)
),
chosen_offers AS MATERIALIZED (
  SELECT * FROM sold SEMI JOIN chosen USING (product_id, currency)
),
sellers AS (
  SELECT product_id, currency, site_id, min(price) AS shop_price, min(first_seen_at) AS sold_at
  FROM chosen_offers
  JOIN (SELECT item_id, first_seen_at FROM (FROM 'product_listings.sql')) AS listings USING (item_id)
  GROUP BY product_id, currency, site_id
),
gaps AS (
  SELECT
    product_id,
    currency,
    count(*) AS shops,
    list_sort(list(shop_price)) AS prices,
    arg_min(site_id, (shop_price, site_id)) AS lowest_site_id,
    list_sort(list(sold_at) FILTER (sold_at IS NOT NULL)) AS sold_from,
    any_value(own_ended_at) AS own_ended_at,
    any_value(min_shops) AS min_shops
  FROM sellers
  JOIN chosen USING (product_id, currency)
  WHERE shop_price IS NOT NULL
  GROUP BY product_id, currency
),
credited AS (
  SELECT product_id, currency, list_sort(list(DISTINCT attribution)) AS attribution
  FROM sellers
  SEMI JOIN gaps USING (product_id, currency)
  JOIN sites ON sites.site_id = sellers.site_id AND sites.is_current
  WHERE attribution IS NOT NULL
  GROUP BY product_id, currency
)
SELECT
  gaps.product_id,
  products.title,
  products.brand,
  products.category_name,
  products.category_slug,
  gaps.currency,
  gaps.shops,
  prices[1] AS lowest,
  coalesce(sites.name, lowest_site_id::VARCHAR) AS lowest_shop,
  (((prices[(shops + 1) // 2]::DECIMAL(23, 4) * 10000)::HUGEINT + (prices[shops // 2 + 1]::DECIMAL(23, 4) * 10000)::HUGEINT + 1) // 2)::BIGINT
    * 0.0001::DECIMAL(18, 4) AS median,
  prices[shops] AS highest,
  sold_from[1] AS first_sold_at,
  sold_from[min_shops] AS sold_widely_at,
  own_ended_at,
  coalesce(credited.attribution, []) AS attribution
FROM gaps
LEFT JOIN (SELECT product_id, title, brand, category_name, category_slug FROM products) AS products USING (product_id)
LEFT JOIN sites ON sites.site_id = lowest_site_id AND sites.is_current
LEFT JOIN credited USING (product_id, currency)
ORDER BY shops DESC, gaps.product_id, gaps.currency
