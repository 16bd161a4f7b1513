-- Selects products that belong to another product. A product without a row is a group of its own. Products that the
-- user joins form a group. A product identified by brand and part number (without a GTIN), or a group of such products,
-- joins the GTIN that offers with that brand and part number have or had. GTINs that the user joins count as one, and a
-- GTIN that the user keeps apart is ignored. The product stays alone if there is more than one such GTIN, if the check
-- digit is wrong, or if the part number has no digit (n/a, unknown, 000).
-- needs: items, user_matches
-- values: run_id VARCHAR
WITH members AS (
  SELECT product_id, other_id AS group_id FROM user_matches WHERE is_match
),
-- Pairs of groups that the user's rules separate, in both orders.
apart AS (
  SELECT DISTINCT coalesce(one.group_id, pair.product_id) AS group_id, coalesce(two.group_id, pair.other_id) AS other_group
  FROM (
    SELECT product_id, other_id FROM user_matches WHERE NOT is_match
    UNION ALL
    SELECT other_id AS product_id, product_id AS other_id FROM user_matches WHERE NOT is_match
  ) AS pair
  LEFT JOIN members AS one ON one.product_id = pair.product_id
  LEFT JOIN members AS two ON two.product_id = pair.other_id
),
keyed AS (
  SELECT DISTINCT product_id FROM items WHERE contains(product_id, '-')
),
bridges AS (
  SELECT
    regexp_replace(lower(brand), '[^\p{L}\p{N}]', '', 'g') || '-' || regexp_replace(lower(mpn), '[^\p{L}\p{N}]', '', 'g') AS key,
    product_id AS gtin_id,
    item_id,
    site_id
  FROM items
  WHERE gtin14 IS NOT NULL AND brand IS NOT NULL AND regexp_matches(mpn, '[1-9]')
),
leads AS (
  SELECT
    coalesce(one.group_id, bridges.key) AS group_id,
    coalesce(two.group_id, bridges.gtin_id) AS gtin_group,
    item_id,
    site_id
  FROM bridges
  SEMI JOIN keyed ON keyed.product_id = bridges.key
  LEFT JOIN members AS one ON one.product_id = bridges.key
  LEFT JOIN members AS two ON two.product_id = bridges.gtin_id
),
-- A group with a GTIN isn't merged into another group, so groups can't form chains.
found AS (
  SELECT
    leads.group_id,
    min(leads.gtin_group) AS gtin_group,
    min(item_id) AS item_id,
    count(DISTINCT site_id) AS shops
  FROM leads
  ANTI JOIN apart ON apart.group_id = leads.group_id AND apart.other_group = leads.gtin_group
  WHERE contains(leads.group_id, '-')
  GROUP BY leads.group_id
  HAVING min(leads.gtin_group) = max(leads.gtin_group)
),
-- If the user separates two groups that both lead to the same GTIN, at most one of them can have it, and we can't tell
-- which.
clashing AS (
  SELECT DISTINCT one.group_id
  FROM found AS one
  JOIN apart ON apart.group_id = one.group_id
  JOIN found AS two ON two.group_id = apart.other_group AND two.gtin_group = one.gtin_group
),
joined AS (
  SELECT * FROM found ANTI JOIN clashing ON clashing.group_id = found.group_id
)
SELECT product_id, match_id, evidence, item_id, shops, getvariable('run_id')::VARCHAR AS run_id
FROM (
  SELECT group_id AS product_id, gtin_group AS match_id, 'bridge' AS evidence, item_id, shops FROM joined
  UNION ALL
  SELECT
    members.product_id,
    coalesce(joined.gtin_group, members.group_id) AS match_id,
    'user' AS evidence,
    NULL::BIGINT AS item_id,
    NULL::BIGINT AS shops
  FROM members
  LEFT JOIN joined ON joined.group_id = members.group_id
)
