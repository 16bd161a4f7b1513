-- Made by generate.py from pipelines/models/matches.sql: change that one. Source 663d3a615cd61bfa.
-- columns: product_id STRING, match_id STRING, evidence STRING, item_id BIGINT, shops BIGINT, run_id STRING
-- step: matches__members, kept
SELECT
  product_id,
  other_id AS group_id
FROM user_matches
WHERE
  is_match;
-- step: matches__apart, kept
SELECT DISTINCT
  COALESCE(one.group_id, pair.product_id) AS group_id,
  COALESCE(two.group_id, pair.other_id) AS other_group
FROM (
  SELECT
    product_id,
    other_id
  FROM user_matches
  WHERE
    NOT is_match
  UNION ALL
  SELECT
    other_id AS product_id,
    product_id AS other_id
  FROM user_matches
  WHERE
    NOT is_match
) AS pair
LEFT JOIN matches__members AS one
  ON one.product_id = pair.product_id
LEFT JOIN matches__members AS two
  ON two.product_id = pair.other_id;
-- step: matches__keyed
SELECT DISTINCT
  product_id
FROM items
WHERE
  CONTAINS(product_id, '-');
-- step: matches__bridges
SELECT
  REGEXP_REPLACE(LOWER(brand), '[^\\p{L}\\p{N}]', '') || '-' || REGEXP_REPLACE(LOWER(mpn), '[^\\p{L}\\p{N}]', '') AS key,
  product_id AS gtin_id,
  item_id,
  site_id
FROM items
WHERE
  NOT gtin14 IS NULL AND NOT brand IS NULL AND mpn RLIKE '[1-9]';
-- step: matches__leads
SELECT
  COALESCE(one.group_id, bridges.key) AS group_id,
  COALESCE(two.group_id, bridges.gtin_id) AS gtin_group,
  item_id,
  site_id
FROM matches__bridges AS bridges
SEMI JOIN matches__keyed AS keyed
  ON keyed.product_id = bridges.key
LEFT JOIN matches__members AS one
  ON one.product_id = bridges.key
LEFT JOIN matches__members AS two
  ON two.product_id = bridges.gtin_id;
-- step: matches__found, kept
SELECT
  leads.group_id,
  MIN(leads.gtin_group) AS gtin_group,
  MIN(item_id) AS item_id,
  COUNT(DISTINCT site_id) AS shops
FROM matches__leads AS leads
ANTI JOIN matches__apart AS apart
  ON apart.group_id = leads.group_id AND apart.other_group = leads.gtin_group
WHERE
  CONTAINS(leads.group_id, '-')
GROUP BY
  leads.group_id
HAVING
  MIN(leads.gtin_group) = MAX(leads.gtin_group);
-- step: matches__clashing
SELECT DISTINCT
  one.group_id
FROM matches__found AS one
JOIN matches__apart AS apart
  ON apart.group_id = one.group_id
JOIN matches__found AS two
  ON two.group_id = apart.other_group AND two.gtin_group = one.gtin_group;
-- step: matches__joined, kept
SELECT
  group_id,
  gtin_group,
  item_id,
  shops
FROM matches__found AS found
ANTI JOIN matches__clashing AS clashing
  ON clashing.group_id = found.group_id;
-- step: matches
SELECT
  product_id,
  match_id,
  evidence,
  item_id,
  shops,
  CAST(:run_id AS STRING) AS run_id
FROM (
  SELECT
    group_id AS product_id,
    gtin_group AS match_id,
    'bridge' AS evidence,
    item_id,
    shops
  FROM matches__joined AS joined
  UNION ALL
  SELECT
    members.product_id,
    COALESCE(joined.gtin_group, members.group_id) AS match_id,
    'user' AS evidence,
    CAST(NULL AS BIGINT) AS item_id,
    CAST(NULL AS BIGINT) AS shops
  FROM matches__members AS members
  LEFT JOIN matches__joined AS joined
    ON joined.group_id = members.group_id
);
