-- part of: watched_lines and explore
-- The lines of your price list with a list of the places that apply to each: cheapest, if no shop is cheaper; dearest,
-- if all shops are; middle; alone, if no other shop sells the product; undercut, if any shop is cheaper; rivals_out, if
-- a shop that sells it has no stock. Reads watched (watch_changes.sql).
SELECT
  *,
  CASE
    WHEN position IS NULL THEN []
    WHEN shops = 0 THEN ['alone']
    WHEN position = 1 THEN ['cheapest']
    WHEN position > shops THEN ['dearest', 'undercut']
    ELSE ['middle', 'undercut']
  END
  || CASE WHEN len(list_filter(left_out, lambda text: contains(text, ': out of stock'))) > 0 THEN ['rivals_out'] ELSE [] END AS places
FROM watched
