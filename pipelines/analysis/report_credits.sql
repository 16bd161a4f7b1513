-- part of: the report
-- License and credit texts that you must pass on with the data, with the websites that require them.
SELECT attribution, list({'name': name, 'host': host} ORDER BY name, site_id) AS sites
FROM sites
WHERE is_current AND attribution IS NOT NULL
GROUP BY attribution
ORDER BY attribution
