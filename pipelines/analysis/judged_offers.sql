-- part of: table offers
-- Which offers of a product to compare, and why not the others (docs/concepts/spreads.md). One row for each listed
-- offer with a price, if the product has two or more offers in the currency; for other offers, items has all the data.
-- Facts about single offers come first (offer_facts.sql). The cheapest offer of a shop without such a fact counts. The
-- median of these prices is computed, and prices far from it are left out. Remaining doubts about the lowest and
-- highest price lower the grade of the spread (spread_grades.sql). spread_limits.sql has the thresholds. (FROM '….sql')
-- stands for the query in that file.
WITH listings AS MATERIALIZED (
  SELECT items.item_id, product_id, currency, several.key, items.site_id, items.source_id, items.price, nullif(items.brand, '') AS brand, items.title
  FROM items
  -- A number for each product and currency, which is cheaper to group by than both.
  JOIN (SELECT product_id, currency, row_number() OVER (ORDER BY product_id, currency) AS key FROM product_prices WHERE offers > 1) AS several
    USING (product_id, currency)
  WHERE items.is_listed AND items.price IS NOT NULL
),
offered AS (SELECT * EXCLUDE (brand, title) FROM listings),
facts AS MATERIALIZED (FROM 'offer_facts.sql'),
shops AS MATERIALIZED (
  SELECT key, site_id, min({'is_filler': is_filler, 'price': price, 'item_id': item_id}) AS first
  FROM facts
  WHERE facts = []
  GROUP BY key, site_id
),
medians AS (
  SELECT key, len(prices) AS shops, (prices[(shops + 1) // 2] + prices[shops // 2 + 1])::DOUBLE AS twice_median
  FROM (SELECT key, list_sort(list(first.price::DECIMAL(20, 4))) AS prices FROM shops WHERE NOT first.is_filler GROUP BY key)
),
judged AS MATERIALIZED (
  SELECT
    facts.*,
    CASE shops WHEN 1 THEN '1 shop' ELSE shops || ' shops' END AS compared_with,
    2 * price::DOUBLE / twice_median AS price_ratio,
    log10(greatest(price_ratio, 1e-9)) AS tens,
    facts = [] AND (is_filler OR shops >= median_shops) AND coalesce(price_ratio > far OR price_ratio * far < 1, false) AS is_far,
    CASE WHEN facts = [] AND NOT is_far AND item_id <> first.item_id THEN first.price END AS first_price,
    facts = [] AND NOT is_far AND first_price IS NULL AS is_counted
  FROM facts
  LEFT JOIN shops USING (key, site_id)
  LEFT JOIN medians USING (key) CROSS JOIN (FROM 'spread_limits.sql')
),
ends AS MATERIALIZED (
  SELECT item_id, product_id
  FROM judged
  JOIN (SELECT key, min(price) AS lowest, max(price) AS highest FROM judged WHERE is_counted GROUP BY key) USING (key)
  WHERE is_counted AND lowest < highest AND (price = lowest OR price = highest)
),
texts AS MATERIALIZED (
  SELECT item_id, product_id, strip_accents(lower(brand)) AS brand, title
  FROM listings SEMI JOIN ends USING (product_id)
),
-- If all listings state the same brand, their titles have the same stem and don't have to be compared.
stems AS MATERIALIZED (
  SELECT
    item_id, product_id, are_branded,
    [left(word, 4) FOR word IN regexp_extract_all(brand, '[\p{L}\p{N}]{3,}')] AS of_brand,
    list_distinct(list_concat(of_brand, [left(word, 4) FOR word IN regexp_extract_all(strip_accents(lower(title)), '\p{L}{3,}')])) AS of_listing
  FROM texts
  JOIN (SELECT product_id, count(brand) > 1 AS are_branded FROM texts GROUP BY product_id HAVING count(brand) < count(*) OR min(brand) <> max(brand))
    USING (product_id)
),
shared AS (
  SELECT product_id, list(stem) AS of_several
  FROM (SELECT product_id, stem FROM (SELECT product_id, unnest(of_listing) AS stem FROM stems) GROUP BY product_id, stem HAVING count(*) > 1)
  GROUP BY product_id
),
doubts AS (
  SELECT
    item_id,
    NOT list_has_any(of_listing, coalesce(of_several, [])) AS is_strange,
    NOT is_strange AND are_branded AND of_brand <> [] AND NOT list_has_any(of_brand, of_several) AS is_other_brand
  FROM ends
  JOIN stems USING (item_id, product_id)
  LEFT JOIN shared USING (product_id)
  WHERE of_listing <> []
),
told AS (
  SELECT
    judged.*,
    CASE WHEN is_counted THEN [] ELSE list_filter(facts || [
      {'finding': CASE WHEN is_filler THEN 'placeholder' WHEN abs(tens - round(tens)) <= 0.2 THEN 'scale' ELSE 'outlier' END,
        'why': CASE WHEN is_far AND price_ratio < 1 THEN format('the median of {} is {:.2f} times as high', compared_with, 1 / price_ratio)
          WHEN is_far THEN format('{:.2f} times the median of {}', price_ratio, compared_with) END},
      {'finding': 'duplicate', 'why': 'its shop also lists the product for ' || first_price}
    ], lambda one: one.why IS NOT NULL) END AS found,
    list_filter([
      {'finding': 'title', 'why': CASE WHEN is_strange THEN 'no other listing shares a word of its title' END},
      {'finding': 'brand', 'why': CASE WHEN is_other_brand THEN 'no other listing names its brand' END}
    ], lambda one: one.why IS NOT NULL) AS doubted
  FROM judged
  LEFT JOIN doubts USING (item_id)
)
SELECT
  product_id, currency, item_id, site_id, price, is_counted,
  [one.finding FOR one IN found] AS findings,
  [one.finding FOR one IN doubted] AS doubts,
  nullif(array_to_string([one.why FOR one IN (found || doubted)], '; '), '') AS reason,
  price_ratio, quantity, unit, unit_price, condition, availability, shipping_cost, delivered_price, regular_price,
  getvariable('run_id')::VARCHAR AS run_id
FROM told
