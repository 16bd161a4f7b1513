-- part of: explore
-- Which shops lead price cuts, the one that led most often first. A shop leads with a cut if no other shop cut its
-- price of the product in the hours before, and at least one did in the hours after; it follows if another shop had cut
-- its price before. cuts: all its cuts; lead_pct: the share of cuts that it led among those that it led or followed.
-- Omits suspect prices (price_spells).
-- Limits: the more often a shop cuts prices, the more often it is followed by chance; price_leaders estimates the
-- effect of chance.
-- Variables:
-- · hours (whole number from 1; default 48): the hours before and after a cut
-- · days (whole number from 1; default 30): how many days back
-- · currency (currency): only prices in this currency
WITH span AS (
  SELECT
    seen_us - coalesce(getvariable('days')::BIGINT, 30) * 86400000000 AS since_us,
    coalesce(getvariable('hours')::BIGINT, 48) * 3600000000 AS within_us
  FROM (FROM 'data_clock.sql')
),
cuts AS MATERIALIZED (
  SELECT row_number() OVER () AS cut, product_id, currency, site_id, epoch_us(from_at) AS cut_us, within_us
  FROM price_spells, span
  WHERE price < price_before AND NOT is_suspect AND product_id IS NOT NULL AND from_at > make_timestamptz(since_us)
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (getvariable('category') IS NULL OR category_slug IN (FROM 'category_tree.sql'))
),
beside AS (
  SELECT own.cut, bool_or(other.cut_us < own.cut_us) AS is_after, bool_or(other.cut_us > own.cut_us) AS is_before
  FROM cuts AS own
  JOIN cuts AS other
    ON other.product_id = own.product_id AND other.currency = own.currency AND other.site_id <> own.site_id
    AND other.cut_us BETWEEN own.cut_us - own.within_us AND own.cut_us + own.within_us
  GROUP BY own.cut
),
counted AS (
  SELECT
    site_id,
    count(*) FILTER (is_before AND NOT is_after) AS led,
    count(*) FILTER (is_after) AS followed,
    count(*) AS cuts,
    count(DISTINCT product_id) AS products
  FROM cuts
  LEFT JOIN beside USING (cut)
  GROUP BY site_id
)
SELECT
  coalesce(sites.name, site_id::VARCHAR) AS shop,
  site_id,
  led,
  followed,
  100 * led::DOUBLE / nullif(led + followed, 0) AS lead_pct,
  cuts,
  products,
  sites.attribution
FROM counted
LEFT JOIN (FROM sites WHERE is_current) AS sites USING (site_id)
ORDER BY led DESC, lead_pct DESC NULLS LAST, cuts DESC, site_id
