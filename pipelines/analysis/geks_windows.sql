-- part of: price indices
-- The GEKS index in each window: the mean of all paths from its first period to t through each period of the window.
-- Reads links (key, a, b, change: log price relatives of pairs of periods in both directions, and of each period with
-- itself) and spans (key, first_t, last_t, base_t: windows, and the first period with prices in each).
SELECT spans.key, last_t, there.b AS t, avg(there.change - back.change) AS level
FROM spans
JOIN links AS back ON back.key = spans.key AND back.b = base_t AND back.a BETWEEN first_t AND last_t
JOIN links AS there ON there.key = spans.key AND there.a = back.a AND there.b BETWEEN first_t AND last_t
GROUP BY spans.key, last_t, there.b
