-- part of: explore
-- Every category that listings have, to choose from: its slug, its name, and a label that says where it stands.
SELECT slug, any_value(name) AS name, coalesce(max(path), any_value(name), slug) AS label
FROM (FROM 'category_names.sql')
GROUP BY slug
ORDER BY label, slug
