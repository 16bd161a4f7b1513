-- part of: every analysis that takes in_list
-- The products of your price list. explore reads them from its own table; without a price list, in_list is an error.
-- Variables:
-- · in_list (true or false): true for only the products of your price list, false for only the others
SELECT error('in_list needs a price list: run pricelake explore --list FILE')::VARCHAR AS product_id
WHERE getvariable('in_list') IS NOT NULL
