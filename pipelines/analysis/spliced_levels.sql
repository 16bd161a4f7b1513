-- part of: price indices
-- An index that is never revised: the complete first window, and one period of each later window, linked to the
-- published index at the period that splice defines. Reads window_levels (key, last_t, t, level) and spans
-- (index_spans.sql).
-- Variables:
-- · splice (movement | window | half | mean | fbew; default mean): as in index_spans.sql
WITH windows AS (
  SELECT key, first_t, last_t, list(level ORDER BY t) AS levels
  FROM (
    SELECT key, first_t, last_t, unnest(range(first_t, last_t + 1)) AS t FROM spans
  )
  LEFT JOIN window_levels USING (key, last_t, t)
  GROUP BY key, first_t, last_t
),
-- Differences between published levels and the window's levels, in order. Periods that lack either are left out.
spliced AS (
  SELECT key, list_reduce(
    list({'first_t': first_t::BIGINT, 'levels': levels} ORDER BY last_t),
    lambda published, next: {
      'first_t': published.first_t,
      'levels': list_concat(
        published.levels,
        list_transform(range(len(published.levels) + 1, next.first_t + len(next.levels) - 1), lambda gap: NULL::DOUBLE),
        list_transform(
          [list_filter(
            list_transform(
              range(next.first_t, len(published.levels) + 1),
              lambda t: {'t': t, 'distance': published.levels[t] - next.levels[t - next.first_t + 1]}
            ),
            lambda one: one.distance IS NOT NULL
          )],
          lambda links: next.levels[len(next.levels)] + CASE coalesce(getvariable('splice')::VARCHAR, 'mean')
            WHEN 'mean' THEN list_avg(list_transform(links, lambda one: one.distance))
            WHEN 'movement' THEN links[len(links)].distance
            WHEN 'half' THEN list_filter(
              links, lambda one: one.t >= greatest(next.first_t, next.first_t - 1 + (len(next.levels) - 1) // 2))[1].distance
            ELSE links[1].distance
          END
        )
      )
    }
  ).levels AS levels
  FROM windows
  GROUP BY key
)
SELECT key, one.t AS t, one.level AS level
FROM (
  SELECT key, unnest(list_transform(levels, lambda level, place: {'t': place, 'level': level})) AS one FROM spliced
)
