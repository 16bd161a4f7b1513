-- part of: explore
-- The lowest price of several products at the end of each of the last 30 periods of 24 hours, the oldest first; null if
-- no price is known. Uses offers that count today, or that don't count only because of another offer of the same shop.
-- Omits suspect prices (price_spells).
-- Variables:
-- · markets (text; required): JSON: [{"product": "…", "currency": "EUR"}, …]
WITH wanted AS (
  SELECT DISTINCT market.product AS product_id, market.currency
  FROM (
    SELECT unnest(from_json(getvariable('markets')::JSON, '[{"product": "VARCHAR", "currency": "VARCHAR"}]')) AS market
  )
),
counted AS MATERIALIZED (
  SELECT item_id
  FROM (FROM 'all_offers.sql')
  WHERE (is_counted OR findings = ['duplicate']) AND product_id IN (SELECT product_id FROM wanted)
),
spells AS MATERIALIZED (
  SELECT product_id, currency, price, epoch_us(from_at) AS from_us, coalesce(epoch_us(to_at), 9223372036854775807) AS to_us
  FROM price_spells
  WHERE product_id IN (SELECT product_id FROM wanted) AND item_id IN (SELECT item_id FROM counted) AND NOT is_suspect
),
moments AS (
  SELECT ago, seen_us - ago * 86400000000 AS at_us FROM (SELECT unnest(range(30)) AS ago), (FROM 'data_clock.sql')
),
standing AS (
  SELECT product_id, currency, ago, min(price) AS price
  FROM moments
  JOIN spells ON from_us <= at_us AND to_us > at_us
  GROUP BY ALL
)
SELECT product_id, currency, list(price ORDER BY ago DESC) AS prices
FROM (FROM wanted CROSS JOIN moments)
LEFT JOIN standing USING (product_id, currency, ago)
GROUP BY product_id, currency
ORDER BY product_id, currency
