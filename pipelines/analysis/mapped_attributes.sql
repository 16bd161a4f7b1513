-- part of: offer_attributes and availability
-- The attribute names that the pipeline file maps for each website of mapped_sites (site_id; offer_rules, rule
-- attribute). A website's own names replace the names for all websites; an empty name means that the website has no
-- such attribute.
WITH rules AS (
  SELECT site_id, meaning, text AS name FROM offer_rules WHERE rule = 'attribute'
)
SELECT mapped_sites.site_id, rules.meaning, name
FROM mapped_sites
JOIN rules ON rules.site_id = mapped_sites.site_id OR rules.site_id IS NULL
LEFT JOIN (SELECT DISTINCT site_id, meaning FROM rules WHERE site_id IS NOT NULL) AS own
  ON own.site_id = mapped_sites.site_id AND own.meaning = rules.meaning
WHERE (rules.site_id IS NOT NULL OR own.meaning IS NULL) AND name <> ''
