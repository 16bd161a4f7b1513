-- part of: explore
-- Figures of a price list, in one row. lines: all lines; matched: lines whose product a shop sells; undercut: lines
-- that a shop sells cheaper; below: lines that a shop certainly sells below the lowest allowed price; unsure: lines
-- with only unsure alarms.
SELECT
  count(*) AS lines,
  count(*) FILTER (is_matched) AS matched,
  count(*) FILTER (undercut_shops > 0) AS undercut,
  count(*) FILTER (alarm = 'sure') AS below,
  count(*) FILTER (alarm = 'unsure') AS unsure
FROM watched
