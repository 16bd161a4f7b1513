-- part of: offer_prices and price_spells
-- Known facts about the prices of offers, in any order. Reads listings (items with item_id, price and price_before, -1
-- for no price, currency, price_changed_at and removed_at). A change shows the price that follows it. The first known
-- change also shows what came before it: no price if it is NEW or RELISTED, otherwise an offer at the previous price.
-- The item's own row shows its last price change (kind PRICE) and its removal, if no change does. -1 means that there
-- was no price. nth orders entries of the same instant: the own row's price, changes without an id, changes with an id,
-- the own row's removal. A change may show the item's current currency instead of the currency at that time. So if
-- changes of an item contain its currency, it is the previous currency of the next such change, or else the new one of
-- the last. It is null (unknown) if these two contradict each other or the item's current currency.
WITH switches AS (
  SELECT
    item_id,
    list_sort(list({'at': observed_at, 'nth': nth, 'old': old, 'new': new})) AS switches
  FROM (
    SELECT
      item_id, observed_at,
      coalesce(change_id, coalesce(list_position(['NEW', 'RELISTED', 'CHANGED', 'REMOVED'], kind), 3) - 5) AS nth,
      json_extract_string(changes, '$.currency[0]') AS old,
      json_extract_string(changes, '$.currency[1]') AS new
    FROM history
    SEMI JOIN listings USING (item_id)
    WHERE contains(changes, '"currency"') AND json_array_length(changes, '$.currency') = 2
  )
  -- The name `currency` may also belong to an attribute.
  WHERE regexp_full_match(coalesce(old, 'XXX'), '[A-Z]{3}') AND regexp_full_match(coalesce(new, 'XXX'), '[A-Z]{3}')
    AND old IS DISTINCT FROM new
  GROUP BY item_id
),
known_changes AS (
  SELECT
    * EXCLUDE (currency_now) REPLACE (
      CASE WHEN kind IN ('NEW', 'REMOVED', 'RELISTED') THEN kind ELSE 'CHANGED' END AS kind,
      coalesce(currency, currency_now) AS currency
    ),
    CASE
      WHEN previous_price IS NOT NULL THEN previous_price
      -- The pair of a first price matches the change's own price; the pair of an attribute named `price` doesn't.
      WHEN price IS NOT NULL AND regexp_full_match(json_extract_string(changes, '$.price'), '\[null,[-+.0-9eE]+\]')
        AND TRY_CAST(json_extract_string(changes, '$.price[1]') AS DOUBLE) = price::VARCHAR::DOUBLE THEN -1
      ELSE price
    END AS last_price
  FROM history
  JOIN (SELECT item_id, currency AS currency_now FROM listings) AS listings USING (item_id)
  WHERE history.kind IN ('NEW', 'REMOVED', 'RELISTED') OR price IS NOT NULL OR previous_price IS NOT NULL
),
stated AS (
  SELECT
    item_id,
    observed_date AS day,
    observed_at AS known_at,
    coalesce(change_id, list_position(['NEW', 'RELISTED', 'CHANGED', 'REMOVED'], kind) - 5) AS nth,
    kind,
    CASE WHEN kind <> 'CHANGED' THEN kind END AS listing,
    CASE
      WHEN kind = 'REMOVED' THEN -1
      -- A later read found the item, so its first price is in the next entry.
      WHEN kind = 'NEW' AND origin = 'diff' THEN NULL
      ELSE coalesce(price, -1)
    END AS price,
    CASE
      WHEN kind IN ('NEW', 'RELISTED') THEN -1
      -- A removal may not include the price.
      WHEN kind = 'REMOVED' THEN last_price
      ELSE coalesce(last_price, -1)
    END AS price_before,
    last_price,
    currency
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
    currency
  FROM listings
  WHERE removed_at IS NOT NULL
),
placed AS (
  SELECT
    stated.*,
    switches IS NOT NULL AS has_switched,
    list_filter(switches, lambda one: one.at = known_at AND (one.nth = nth OR kind = 'PRICE'))[1] AS own,
    list_filter(switches, lambda one: one.at < known_at OR one.at = known_at AND one.nth < nth)[-1] AS last,
    list_filter(switches, lambda one: one.at > known_at OR one.at = known_at AND one.nth > nth)[1] AS next
  FROM stated
  LEFT JOIN switches USING (item_id)
),
dated AS (
  SELECT
    * EXCLUDE (last, next),
    CASE
      WHEN NOT has_switched THEN currency
      WHEN next IS NULL THEN CASE WHEN last.new = currency THEN currency END
      WHEN last IS NULL OR last.new = next.old THEN next.old
    END AS currency_then
  FROM placed
)
SELECT
  * EXCLUDE (has_switched, own, currency, currency_then),
  CASE WHEN own IS NULL THEN currency_then ELSE own.new END AS currency,
  CASE WHEN own IS NULL THEN currency_then ELSE own.old END AS currency_before
FROM dated
