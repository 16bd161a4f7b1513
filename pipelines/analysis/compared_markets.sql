-- part of: explore
-- The lowest price of several products at two moments, and the shop that had it: one row for each product and currency
-- that has a price at either moment. Uses offers that count today, or that don't count only because of another offer of
-- the same shop. Omits suspect prices (price_spells).
-- Variables:
-- · markets (text; required): JSON: [{"product": "…", "currency": "EUR"}, …]
WITH wanted AS (
  SELECT DISTINCT market.product AS product_id, market.currency
  FROM (
    SELECT unnest(from_json(getvariable('markets')::JSON, '[{"product": "VARCHAR", "currency": "VARCHAR"}]')) AS market
  )
),
moment AS MATERIALIZED (FROM 'asked_moments.sql'),
counted AS MATERIALIZED (
  SELECT item_id
  FROM (FROM 'all_offers.sql')
  WHERE (is_counted OR findings = ['duplicate']) AND product_id IN (SELECT product_id FROM wanted)
),
standing AS MATERIALIZED (
  SELECT
    product_id,
    currency,
    {'price': price, 'site_id': site_id} AS offer,
    from_at <= since AND coalesce(to_at > since, true) AS is_first,
    from_at <= until AND coalesce(to_at > until, true) AS is_last
  FROM price_spells, moment
  WHERE product_id IN (SELECT product_id FROM wanted) AND item_id IN (SELECT item_id FROM counted) AND NOT is_suspect
),
lowest AS (
  SELECT product_id, currency, min(offer) FILTER (is_first) AS first, min(offer) FILTER (is_last) AS last
  FROM standing
  SEMI JOIN wanted USING (product_id, currency)
  GROUP BY product_id, currency
)
SELECT
  product_id,
  currency,
  first.price AS price_before,
  coalesce(before.name, first.site_id::VARCHAR) AS shop_before,
  last.price AS price_after,
  coalesce(after.name, last.site_id::VARCHAR) AS shop_after,
  last.price - first.price AS change,
  100 * (last.price - first.price)::DOUBLE / first.price::DOUBLE AS change_pct
FROM lowest
LEFT JOIN sites AS before ON before.site_id = first.site_id AND before.is_current
LEFT JOIN sites AS after ON after.site_id = last.site_id AND after.is_current
WHERE first IS NOT NULL OR last IS NOT NULL
ORDER BY product_id, currency
