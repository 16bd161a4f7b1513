-- part of: offer_prices and price_spells
-- Prices of offers from one known instant to the next; -1 if an offer was not listed. Reads listings, and steps: the
-- known prices (known_prices.sql), and one step without a time for the beginning of an offer.
WITH ordered AS (
  SELECT
    *,
    last_value(listing IGNORE NULLS) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS listing_so_far,
    lead(listing IGNORE NULLS) OVER in_order AS next_listing,
    lead(kind) OVER in_order AS next_kind,
    lead(kind, 2) OVER in_order AS kind_after_next,
    lead(price_before) OVER in_order AS next_price_before,
    lead(last_price IGNORE NULLS) OVER in_order AS next_last_price,
    lead(currency_before) OVER in_order AS next_currency_before,
    lead(day) OVER in_order AS next_day,
    lead(known_at) OVER in_order AS next_known_at
  FROM steps
  WINDOW in_order AS (PARTITION BY item_id ORDER BY known_at NULLS FIRST, nth)
)
SELECT
  item_id,
  product_id,
  site_id,
  CASE
    -- A change of values between a removal and a relisting doesn't relist the offer.
    WHEN kind IN ('CHANGED', 'PRICE') AND listing_so_far = 'REMOVED'
      AND coalesce(next_listing <> 'REMOVED', listings.removed_at IS NOT NULL) THEN -1
    -- An offer was not listed before its first known listing, even if its own row has a price.
    WHEN listing_so_far IS NULL AND kind = 'PRICE' AND next_kind IN ('NEW', 'RELISTED') THEN -1
    WHEN listing_so_far IS NULL AND kind IS NULL AND next_kind = 'PRICE' AND kind_after_next IN ('NEW', 'RELISTED') THEN -1
    ELSE coalesce(ordered.price, next_price_before, next_last_price, listings.price)
  END AS price,
  -- An unknown currency stays null.
  CASE
    WHEN ordered.price IS NOT NULL OR ordered.currency IS NOT NULL THEN ordered.currency
    WHEN next_kind IS NOT NULL THEN next_currency_before
    ELSE listings.currency
  END AS currency,
  kind,
  next_kind,
  listings.first_seen_at,
  listings.price_changed_at,
  known_at,
  next_known_at,
  day,
  next_day
FROM ordered
JOIN listings USING (item_id)
