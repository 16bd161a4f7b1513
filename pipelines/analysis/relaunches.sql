-- part of: price indices
-- Listings that unambiguously continue an ended listing (one candidate, one rival: successor_pairs.sql), with the first
-- listing of their chain. A chain has at most 16 listings.
-- Variables:
-- · relaunches (none | product | url | any; default none): treat a listing and its successor as one: never, if they
--   have the same product, if they have the same address, or by any evidence in the successors analysis
WITH asked AS (SELECT coalesce(getvariable('relaunches')::VARCHAR, 'none') <> 'none' AS is_asked),
pairs AS (FROM 'successor_pairs.sql'),
links AS (
  SELECT new_id AS item_id, old_id AS before_id
  FROM pairs
  WHERE candidates = 1 AND rivals = 1
    AND (getvariable('relaunches') = 'any' OR list_contains(kinds, getvariable('relaunches')::VARCHAR))
),
twice AS (
  SELECT one.item_id, coalesce(two.before_id, one.before_id) AS before_id
  FROM links AS one
  LEFT JOIN links AS two ON two.item_id = one.before_id
),
four_times AS (
  SELECT one.item_id, coalesce(two.before_id, one.before_id) AS before_id
  FROM twice AS one
  LEFT JOIN twice AS two ON two.item_id = one.before_id
),
eight_times AS (
  SELECT one.item_id, coalesce(two.before_id, one.before_id) AS before_id
  FROM four_times AS one
  LEFT JOIN four_times AS two ON two.item_id = one.before_id
)
SELECT one.item_id, coalesce(two.before_id, one.before_id) AS first_item_id
FROM eight_times AS one
LEFT JOIN eight_times AS two ON two.item_id = one.before_id
