-- part of: watch
-- The findings (watch_list.sql, as found) together with the earlier ones (watched_before). changes describes the
-- differences; it is null on the first run.
SELECT
  found.*,
  CASE
    WHEN since IS NULL THEN NULL
    WHEN before.line IS NULL THEN ['new in the list']
    ELSE list_filter(
      list_concat(
        [
          CASE
            WHEN before.is_matched AND NOT found.is_matched THEN 'no longer matched: ' || found.reason
            WHEN found.is_matched AND NOT before.is_matched THEN 'matched now'
          END,
          CASE WHEN before.price <> found.price THEN 'own price ' || before.price || ' → ' || found.price END,
          CASE
            WHEN before.cheapest <> found.cheapest OR before.cheapest_shop <> found.cheapest_shop
              THEN 'cheapest ' || before.cheapest || ' ' || before.cheapest_shop || ' → ' || found.cheapest || ' ' || found.cheapest_shop
          END,
          CASE WHEN before.position <> found.position THEN 'position ' || before.position || ' → ' || found.position END,
          CASE WHEN before.alarm <> found.alarm THEN concat_ws(': ', 'the alarm is ' || found.alarm || ' now',
            CASE WHEN found.alarm = 'unsure' THEN found.unsure_because[1] END) END
        ],
        list_concat(
          [
            'below the allowed price: ' || shop
            FOR shop IN found.below_now
            IF NOT list_contains(before.below_now, shop)
          ],
          [
            'no longer below the allowed price: ' || shop
            FOR shop IN before.below_now
            IF NOT list_contains(found.below_now, shop)
          ]
        )
      ),
      lambda change: change IS NOT NULL
    )
  END AS changes,
  since AS changes_since
FROM found
CROSS JOIN (SELECT max(watched_at) AS since FROM watched_before)
LEFT JOIN watched_before AS before
  ON coalesce(before.product_id, before.product) = coalesce(found.product_id, found.product)
  -- While no shop sold the product, the list's line had no currency.
  AND coalesce(before.currency, found.currency) IS NOT DISTINCT FROM coalesce(found.currency, before.currency)
QUALIFY row_number() OVER (PARTITION BY found.line ORDER BY before.currency NULLS LAST) = 1
ORDER BY found.line
