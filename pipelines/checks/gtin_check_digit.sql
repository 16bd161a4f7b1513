-- name: gtin_check_digit
-- severity: warn
-- description: Every GTIN has 8, 12, 13 or 14 digits and a correct check digit. Each violation is one GTIN.
-- found: [GTIN has|GTINs have] a wrong length or check digit
-- next: Its offers still match by their digits. Look at an item's page, because the shop may use its own number.
-- scope: gtin
WITH numbered AS (
  SELECT gtin, TRY_CAST(gtin AS BIGINT) AS n, count(*) AS items, min(item_id) AS first_item_id
  FROM items
  WHERE gtin IS NOT NULL
  GROUP BY gtin
)
SELECT gtin, items, first_item_id
FROM numbered
WHERE n IS NULL
  OR length(gtin) NOT IN (8, 12, 13, 14)
  OR NOT regexp_full_match(gtin, '[0-9]+')
  -- GS1's weights alternate between 1 and 3 from the right. Only the last digit of the weighted sum matters.
  OR (
    n + n // 100 + n // 10000 + n // 1000000 + n // 100000000 + n // 10000000000 + n // 1000000000000
    + 3 * (n // 10 + n // 1000 + n // 100000 + n // 10000000 + n // 1000000000 + n // 100000000000
      + n // 10000000000000)
  ) % 10 <> 0
