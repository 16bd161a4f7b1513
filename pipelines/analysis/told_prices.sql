-- part of: offer_prices and price_spells
-- Known facts about the prices of offers, in any order. From listings (items with item_id, price and price_before, -1 for
-- none, currency, price_changed_at and removed_at). A change says which price follows it. The first known change also
-- says what was before it: nothing if it is NEW or RELISTED, else an offer at the previous price. The item's own row
-- says its last price change (kind PRICE) and its removal, if no change does. -1 means that there is known to be no
-- price. nth orders entries of one instant: the own row's price, changes without an id, those with one, the own row's
-- removal.
WITH known_changes AS (
  SELECT
    * REPLACE (CASE WHEN kind IN ('NEW', 'REMOVED', 'RELISTED') THEN kind ELSE 'CHANGED' END AS kind),
    CASE
      WHEN previous_price IS NOT NULL THEN previous_price
      -- The pair of a first price agrees with the change's own price; that of an attribute named price does not.
      WHEN price IS NOT NULL AND json_type(changes, '$.price[0]') = 'NULL'
        -- A longer list after IN would be a join, which reads the changes of each row.
        AND list_contains(['UBIGINT', 'BIGINT', 'HUGEINT', 'UHUGEINT', 'DOUBLE'], json_type(changes, '$.price[1]'))
        AND TRY_CAST(json_extract_string(changes, '$.price[1]') AS DOUBLE) = price::VARCHAR::DOUBLE THEN -1
      ELSE price
    END AS last_price
  FROM history
  SEMI JOIN listings USING (item_id)
  WHERE history.kind IN ('NEW', 'REMOVED', 'RELISTED') OR price IS NOT NULL OR previous_price IS NOT NULL
)
SELECT
  item_id,
  observed_date AS day,
  observed_at AS told_at,
  coalesce(change_id, list_position(['NEW', 'RELISTED', 'CHANGED', 'REMOVED'], kind) - 5) AS nth,
  kind,
  CASE WHEN kind <> 'CHANGED' THEN kind END AS listing,
  CASE
    WHEN kind = 'REMOVED' THEN -1
    -- Found by a later read: the next entry has the price that it had at first.
    WHEN kind = 'NEW' AND origin = 'diff' THEN NULL
    ELSE coalesce(price, -1)
  END AS price,
  CASE
    WHEN kind IN ('NEW', 'RELISTED') THEN -1
    -- A removal may come without the price.
    WHEN kind = 'REMOVED' THEN last_price
    ELSE coalesce(last_price, -1)
  END AS price_before,
  last_price,
  currency,
  -- An item may change its currency: the pair has the previous one.
  CASE
    WHEN contains(changes, '"currency"') AND json_extract_string(changes, '$.currency[1]') = currency
      THEN json_extract_string(changes, '$.currency[0]')
    ELSE currency
  END AS currency_before
FROM known_changes
UNION ALL
SELECT
  item_id,
  DATE '1970-01-01' + (epoch_us(price_changed_at) // 86400000000)::INTEGER,
  price_changed_at,
  -9,
  'PRICE',
  NULL,
  price,
  price_before,
  price_before,
  currency,
  currency
FROM listings
WHERE price_changed_at IS NOT NULL
UNION ALL
SELECT
  item_id,
  DATE '1970-01-01' + (epoch_us(removed_at) // 86400000000)::INTEGER,
  removed_at,
  9223372036854775807,
  'REMOVED',
  'REMOVED',
  -1,
  price,
  price,
  currency,
  currency
FROM listings
WHERE removed_at IS NOT NULL
