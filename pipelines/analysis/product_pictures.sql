-- part of: explore
-- URLs of the pictures that shops show for a product, the most common first.
-- Variables:
-- · product (product; required): the product
-- · top (whole number; default 20): number of rows
SELECT image, count(*) AS listings
FROM items
WHERE product_id = getvariable('product') AND is_listed AND starts_with(image, 'https://')
GROUP BY image
ORDER BY listings DESC, image
LIMIT coalesce(getvariable('top')::BIGINT, 20)
