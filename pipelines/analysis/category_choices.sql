-- part of: explore
-- Every category of the listings, for a selection list: its slug, its name, and a label that shows its place in the
-- tree.
SELECT slug, any_value(name) AS name, coalesce(max(path), any_value(name), slug) AS label
FROM (FROM 'category_names.sql')
GROUP BY slug
ORDER BY label, slug
