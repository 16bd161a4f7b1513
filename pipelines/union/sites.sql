-- Combines the websites of several lakes: every name, host and license text in turn, since a lake first recorded it. A
-- lake may lack the license text, because export rows may lack it, so the newest row keeps any lake's text.
-- needs: all_sites
WITH shown AS (
  SELECT
    *,
    lag({'name': name, 'host': host, 'attribution': attribution}) OVER (PARTITION BY site_id ORDER BY valid_from, lake) AS before
  FROM all_sites
),
texts AS (
  SELECT site_id, max(attribution) AS attribution FROM all_sites WHERE is_current GROUP BY site_id
),
turns AS (
  SELECT site_id, name, host, attribution, valid_from, run_id, lake
  FROM shown
  WHERE before IS NULL OR before <> {'name': name, 'host': host, 'attribution': attribution}
  QUALIFY row_number() OVER (PARTITION BY site_id, valid_from ORDER BY lake DESC) = 1
),
spans AS (
  SELECT *, lead(valid_from) OVER (PARTITION BY site_id ORDER BY valid_from) AS valid_to FROM turns
)
SELECT
  site_id,
  name,
  host,
  CASE WHEN valid_to IS NULL THEN coalesce(spans.attribution, texts.attribution) ELSE spans.attribution END AS attribution,
  valid_from,
  valid_to,
  valid_to IS NULL AS is_current,
  run_id
FROM spans
LEFT JOIN texts USING (site_id)
ORDER BY site_id, valid_from
