-- name: attribution_present
-- severity: gate
-- description: Every price spread with offers from open-data websites has their license texts.
-- found: [price spread lacks|price spreads lack] the license text of an open-data website
-- next: Compare sites.attribution with the texts in price_spread; you must pass on these texts with the data.
WITH open_offers AS (
  SELECT DISTINCT product_id, currency, site_id
  FROM items
  WHERE is_listed AND product_id IS NOT NULL AND currency IS NOT NULL AND price > 0
    AND site_id IN (SELECT site_id FROM sites WHERE is_current AND attribution IS NOT NULL)
)
SELECT product_id, currency, site_id, sites.attribution AS missing
FROM open_offers
JOIN sites USING (site_id)
JOIN price_spread USING (product_id, currency)
WHERE sites.is_current AND NOT list_contains(price_spread.attribution, sites.attribution)
