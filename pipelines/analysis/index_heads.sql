-- part of: price indices
-- One row per series, with the values that its listings share. Reads series (index_series.sql). product: the product of
-- its first listing, or that listing itself if it has no product. Only relaunched listings share a series.
-- Variables:
-- · relaunches (none | product | url | any; default none): treat a listing and its successor as one: never, if they
--   have the same product, if they have the same address, or by any evidence in the successors analysis
SELECT series, key, currency, shop_id, coalesce(product_id, first_item_id::VARCHAR) AS product
FROM series
WHERE coalesce(getvariable('relaunches')::VARCHAR, 'none') = 'none'
UNION ALL
SELECT series, any_value(key), any_value(currency), min(shop_id), min(coalesce(product_id, first_item_id::VARCHAR))
FROM series
WHERE getvariable('relaunches') <> 'none'
GROUP BY series
