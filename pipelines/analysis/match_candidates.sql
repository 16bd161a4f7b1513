-- Pairs of products that may be the same and aren't matched yet (the matches table), for a person to decide: same
-- brand, at least half of their words in common, and no different quantities by mapped attributes. similarity: words in
-- both titles as a share of words in either (Jaccard). Words count by their first four letters, ignoring case and
-- accents, and numbers whole, except those of the brand. for and against: the evidence for and against a match. Pairs
-- with a product without a valid GTIN come first, then pairs without differing numbers, then pairs whose products no shop
-- sells both, then the most similar. Save your decisions (yes or no in the match column) as CSV, and set
-- analysis.matches in the pipeline file to that file.
-- Source: Fellegi and Sunter, A Theory for Record Linkage, Journal of the American Statistical Association 64 (1969);
-- blocking and similarity: Christen, Data Matching (Springer, 2012).
-- Exact: counts. similarity and ratios of prices are doubles.
-- Limits: only listed offers with a price and a brand. A pair must share a word that at most 30 products of the brand
-- have, so work grows with the number of listings. Words from one shop in less than half of a product's listings don't
-- count. This analysis never joins products by itself.
-- Variables:
-- · brand (brand): only this brand, ignoring case
-- · min_similarity (number; default 0.5): the minimum similarity of titles
-- · top (whole number; default 20): number of rows
WITH listed AS MATERIALIZED (
  SELECT
    coalesce(matches.match_id, items.product_id) AS product,
    items.item_id,
    items.site_id,
    items.title,
    items.brand,
    items.gtin14,
    regexp_replace(strip_accents(lower(items.brand)), '[^\p{L}\p{N}]', '', 'g') AS brand_key,
    regexp_replace(lower(items.mpn), '[^\p{L}\p{N}]', '', 'g') AS number_key,
    items.category_slug,
    CASE WHEN judged.quantity > 0 THEN format('{} {}', judged.quantity, judged.unit) END AS pack,
    items.currency,
    CASE WHEN judged.is_counted AND items.price > 0 THEN items.price::DOUBLE END AS counted_price
  FROM items
  JOIN (SELECT item_id, is_counted, quantity, unit FROM (FROM 'all_offers.sql')) AS judged USING (item_id)
  LEFT JOIN matches ON matches.product_id = items.product_id
  WHERE items.brand IS NOT NULL AND items.title IS NOT NULL
    AND (getvariable('brand') IS NULL OR lower(items.brand) = lower(getvariable('brand')::VARCHAR))
),
described AS (
  SELECT
    product,
    count(*) AS listings,
    arg_min(title, item_id) AS title,
    arg_min(brand, item_id) AS brand,
    min(brand_key) AS brand_key,
    max(gtin14) AS gtin14,
    min(number_key) AS number_key,
    min(category_slug) AS category_slug,
    list_aggregate(list_sort(list(pack)), 'mode') AS pack,
    list_distinct(list(site_id)) AS site_ids,
    min(currency) AS currency,
    median(counted_price) AS price
  FROM listed
  GROUP BY product
  HAVING min(brand_key) <> '' AND count(DISTINCT currency) = 1
),
texts AS (
  SELECT product, brand_key, replace(strip_accents(lower(title)), ',', '.') AS words FROM listed
),
stems AS (
  SELECT product, stem, count(*) AS listings
  FROM (
    SELECT
      product,
      unnest(list_distinct(list_concat(
        [left(word, 4) FOR word IN regexp_extract_all(words, '\p{L}{3,}') IF NOT contains(brand_key, word)],
        regexp_extract_all(words, '[0-9]+(?:[.][0-9]+)?')
      ))) AS stem
    FROM texts
  )
  GROUP BY product, stem
),
kept AS (
  SELECT product, stem
  FROM stems
  JOIN described USING (product)
  WHERE 2 * stems.listings >= described.listings
),
profiles AS MATERIALIZED (
  SELECT product, list_sort(list(stem)) AS words FROM kept GROUP BY product
),
blocks AS (
  SELECT product, brand_key, pack, stem
  FROM kept
  JOIN described USING (product)
  QUALIFY count(*) OVER (PARTITION BY brand_key, stem) BETWEEN 2 AND 30
),
pairs AS (
  SELECT DISTINCT one.product, two.product AS other
  FROM blocks AS one
  JOIN blocks AS two ON two.brand_key = one.brand_key AND two.stem = one.stem AND two.product > one.product
  WHERE coalesce(one.pack = two.pack, true)
),
-- Compares in both directions.
apart AS (
  SELECT coalesce(one.match_id, told.product_id) AS product, coalesce(two.match_id, told.other_id) AS other
  FROM user_matches AS told
  LEFT JOIN matches AS one ON one.product_id = told.product_id
  LEFT JOIN matches AS two ON two.product_id = told.other_id
  WHERE NOT is_match
),
undecided AS (
  SELECT *
  FROM pairs
  ANTI JOIN apart ON (apart.product = pairs.product AND apart.other = pairs.other)
    OR (apart.product = pairs.other AND apart.other = pairs.product)
),
compared AS (
  SELECT
    undecided.product,
    undecided.other,
    one,
    two,
    list_sort(list_intersect(first_words.words, second_words.words)) AS shared,
    list_filter(first_words.words, lambda word: NOT list_contains(second_words.words, word)) AS only_first,
    list_filter(second_words.words, lambda word: NOT list_contains(first_words.words, word)) AS only_second,
    len(shared) / (len(shared) + len(only_first) + len(only_second)) AS similarity,
    len(list_intersect(one.site_ids, two.site_ids)) AS shops_of_both,
    one.gtin14 IS NOT NULL AND two.gtin14 IS NOT NULL AS has_two_gtins,
    -- Each title has a number that the other lacks.
    len([1 FOR word IN only_first IF word[1] <= '9']) > 0 AND len([1 FOR word IN only_second IF word[1] <= '9']) > 0
      AS has_two_numbers,
    CASE WHEN one.currency = two.currency THEN greatest(one.price, two.price) / least(one.price, two.price) END AS price_ratio
  FROM undecided
  JOIN described AS one ON one.product = undecided.product
  JOIN described AS two ON two.product = undecided.other
  JOIN profiles AS first_words ON first_words.product = undecided.product
  JOIN profiles AS second_words ON second_words.product = undecided.other
)
SELECT
  product,
  other,
  NULL::VARCHAR AS "match",
  one.title AS title,
  two.title AS other_title,
  similarity,
  concat_ws('; ',
    'brand ' || one.brand,
    CASE WHEN one.pack = two.pack THEN one.pack END,
    'words: ' || array_to_string(shared, ' '),
    CASE WHEN one.number_key = two.number_key THEN 'same part number' END,
    CASE WHEN one.category_slug = two.category_slug THEN 'same category' END,
    CASE WHEN price_ratio <= 1.6 THEN format('prices {:.0f} % apart', 100 * (price_ratio - 1)) END
  ) AS "for",
  nullif(concat_ws('; ',
    CASE WHEN has_two_gtins THEN 'two GTINs' END,
    CASE WHEN shops_of_both > 0 THEN 'sold side by side in ' || shops_of_both || CASE shops_of_both WHEN 1 THEN ' shop' ELSE ' shops' END END,
    CASE WHEN one.number_key <> two.number_key THEN 'other part number' END,
    CASE WHEN has_two_numbers THEN 'other numbers' END,
    CASE WHEN price_ratio > 1.6 THEN format('prices differ by a factor of {:.1f}', price_ratio) END,
    CASE WHEN only_first <> [] THEN 'only the first: ' || array_to_string(only_first, ' ') END,
    CASE WHEN only_second <> [] THEN 'only the other: ' || array_to_string(only_second, ' ') END
  ), '') AS against,
  len(one.site_ids) AS shops,
  len(two.site_ids) AS other_shops,
  one.price,
  two.price AS other_price,
  one.currency,
  two.currency AS other_currency,
  list_sort(list_distinct(list_concat(one.site_ids, two.site_ids))) AS site_ids
FROM compared
WHERE similarity >= coalesce(getvariable('min_similarity')::DOUBLE, 0.5)
ORDER BY has_two_gtins, has_two_numbers, coalesce(price_ratio > 1.6, false), shops_of_both > 0, similarity DESC, len(shared) DESC, product, other
LIMIT coalesce(getvariable('top')::BIGINT, 20)
