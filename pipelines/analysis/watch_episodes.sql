-- part of: watch
-- When a shop was below a bound: one row for each period in which at least one of its listings was, with begin and end
-- in microseconds; a current period ends at the largest BIGINT. Periods of all shops that overlap or touch form one
-- episode. lowest: the listing with the lowest price of the period, the price, and since when it had it. is_known is
-- false if the first price of the period is older than the first known change. Reads bounds (line, product_id,
-- currency, kind, bound), priced (watch_priced.sql) and price_spells.
-- Variables:
-- · own_site (site): your own shop, which is left out
WITH breaches AS (
  SELECT
    line,
    kind,
    site_id,
    item_id,
    price_spells.price,
    epoch_us(from_at) AS from_us,
    coalesce(epoch_us(to_at), 9223372036854775807) AS to_us,
    began IS NOT NULL AS is_known
  FROM price_spells
  JOIN bounds USING (product_id, currency)
  LEFT JOIN (
    -- A duplicate's price is correct: its shop just has a cheaper listing.
    SELECT item_id, findings AS left_out_for FROM priced WHERE NOT is_counted AND findings <> ['duplicate']
  ) AS excluded USING (item_id)
  WHERE price_spells.price < bound
    AND NOT is_suspect
    -- A condition or currency that excludes an offer today also excludes its past prices. Other findings are only about
    -- the current price.
    AND NOT (left_out_for IS NOT NULL AND (to_at IS NULL OR list_has_any(left_out_for, ['condition', 'currency'])))
    AND (getvariable('own_site') IS NULL OR site_id <> getvariable('own_site')::BIGINT)
),
stretches AS (
  SELECT
    line,
    kind,
    site_id,
    min(from_us) AS from_us,
    max(to_us) AS to_us,
    arg_min(is_known, (from_us, is_known)) AS is_known,
    arg_min({'item_id': item_id, 'price': price, 'from_us': from_us}, (price, from_us, item_id)) AS lowest
  FROM (
    SELECT *, sum(is_apart::INTEGER) OVER (PARTITION BY line, kind, site_id ORDER BY from_us, to_us) AS stretch
    FROM (
      SELECT
        *,
        coalesce(from_us > max(to_us) OVER (
          PARTITION BY line, kind, site_id ORDER BY from_us, to_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), false) AS is_apart
      FROM breaches
    )
  )
  GROUP BY line, kind, site_id, stretch
)
SELECT
  *,
  sum(is_apart::INTEGER) OVER (PARTITION BY line, kind ORDER BY from_us, site_id, to_us) AS episode
FROM (
  SELECT
    *,
    coalesce(from_us > max(to_us) OVER (
      PARTITION BY line, kind ORDER BY from_us, site_id, to_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), false) AS is_apart
  FROM stretches
)
