-- name: site_currency
-- severity: warn
-- description: A website that sells in one currency has no listings in another.
-- found: [currency is|currencies are] unusual for [its website|their websites]
-- next: Look at the items in the sample; analyses don't compare a price in the wrong currency with the product's other prices.
-- scope: site_id
-- parameter: share DOUBLE default 0.95: minimum share of a website's listings that have its usual currency
-- parameter: listings BIGINT default 20: minimum number of listings to judge a website
WITH counted AS (
  SELECT site_id, currency, count(*) AS listings, min(item_id) AS first_item_id
  FROM items
  WHERE is_listed AND currency IS NOT NULL AND price IS NOT NULL
  GROUP BY site_id, currency
),
shared AS (
  SELECT
    *,
    sum(listings) OVER (PARTITION BY site_id) AS site_listings,
    first_value(currency) OVER (PARTITION BY site_id ORDER BY listings DESC, currency) AS usual_currency,
    max(listings) OVER (PARTITION BY site_id) AS usual_listings
  FROM counted
)
SELECT site_id, usual_currency, currency, listings, first_item_id
FROM shared
WHERE currency <> usual_currency AND site_listings >= $listings AND usual_listings >= $share * site_listings
