-- part of: explore
-- A price list in figures, one row: lines; matched: those that a shop sells; undercut: those that a shop sells cheaper;
-- below: those that a shop sells below the lowest allowed price, for sure; unsure: those for which there are only unsure alarms.
SELECT
  count(*) AS lines,
  count(*) FILTER (is_matched) AS matched,
  count(*) FILTER (undercut_shops > 0) AS undercut,
  count(*) FILTER (alarm = 'sure') AS below,
  count(*) FILTER (alarm = 'unsure') AS unsure
FROM watched
