-- part of: table offers
-- Every listed offer with a price, and the reasons not to compare it (docs/concepts/spreads.md): placeholder, currency,
-- stale, out_of_stock, scale, pack, condition, terms, outlier, duplicate. Of the offers without findings, the cheapest
-- of each shop counts. Each offer is first judged by itself. All offers are then compared with those that passed, one
-- price per shop. doubts are evidence against a counted offer: title, brand, unit_price, set.
-- (FROM '….sql') is replaced by the query of that file.
WITH priced AS (
  SELECT
    item_id,
    items.product_id,
    items.currency,
    items.site_id,
    price,
    previous_price,
    -- Whole powers of ten between the price and the one before.
    CASE WHEN price > 0 AND previous_price > 0 THEN log10(price::DOUBLE / previous_price::DOUBLE) END AS jump,
    CASE WHEN is_stale THEN DATE '1970-01-01' + (epoch_us(sources.last_seen_at) // 86400000000)::INTEGER END AS seen_day,
    shop_currencies.currency AS usual_currency,
    title,
    brand,
    attributes
  FROM items
  LEFT JOIN shop_currencies ON shop_currencies.site_id = items.site_id
  LEFT JOIN sources ON sources.site_id = items.site_id AND sources.source_id = items.source_id
  WHERE is_listed AND product_id IS NOT NULL AND price IS NOT NULL AND items.currency IS NOT NULL
),
listed_offers AS (FROM 'exact_units.sql'),
sized AS (FROM 'pack_sizes.sql'),
told_attributes AS MATERIALIZED (FROM 'offer_attributes.sql'),
alone AS MATERIALIZED (
  SELECT
    * EXCLUDE (brand),
    units <= 100 AS is_nothing,
    -- 1234, 1111, 9999, 9999.99 and longer ones: what people type to fill a field.
    contains(
      ' 12340000 123450000 1234560000 12345670000 11110000 111110000 1111110000 11111110000 99990000 999990000 9999990000 99999990000 '
        || '999999990000 99999900 999999900 9999999900 99999999900 ',
      ' ' || units || ' ') AS is_filler,
    coalesce(abs(jump - round(jump)) <= 0.2 AND abs(round(jump)) BETWEEN 1 AND 3, false) AS is_jump,
    seen_day IS NOT NULL AS is_stale,
    coalesce(usual_currency <> currency, false) AS is_foreign,
    coalesce(availability = 'out of stock', false) AS is_out,
    -- Content of a pack as one number. One piece says nothing about the content.
    CASE unit WHEN 'kg' THEN 4 * millionths WHEN 'l' THEN 4 * millionths + 1 WHEN 'm' THEN 4 * millionths + 2
      WHEN 'piece' THEN CASE WHEN millionths > 1000000 THEN 4 * millionths + 3 END END AS pack
  FROM sized
  LEFT JOIN told_attributes USING (item_id)
),
-- Most products have one offer, which nothing can be compared with.
several AS (
  SELECT product_id, currency FROM alone GROUP BY product_id, currency HAVING count(*) > 1
),
-- All listings of these products, in any currency.
described AS (
  SELECT item_id, product_id, title, brand, attributes, told_condition
  FROM priced
  LEFT JOIN told_attributes USING (item_id)
  SEMI JOIN several USING (product_id)
),
told_words AS (FROM 'offer_words.sql'),
worded AS MATERIALIZED (
  SELECT
    *,
    -- Numbers, because the most frequent one is wanted.
    coalesce(list_position(['used', 'refurbished', 'opened'], condition), 0) AS condition_code,
    coalesce(list_position(['per unit', 'rental', 'deposit'], terms), 0) AS terms_code
  FROM told_words
),
usual_words AS (
  SELECT
    product_id,
    currency,
    list_aggregate(list_sort(list(condition_code)), 'mode') AS usual_condition,
    list_aggregate(list_sort(list(terms_code)), 'mode') AS usual_terms
  FROM alone
  JOIN worded USING (item_id)
  GROUP BY product_id, currency
  HAVING max(condition_code) + max(terms_code) > 0
),
packs AS (
  SELECT product_id, currency, list_aggregate(list_sort(list(pack)), 'mode') AS usual_pack
  FROM alone
  SEMI JOIN several USING (product_id, currency)
  GROUP BY product_id, currency
  HAVING min(pack) <> max(pack)
),
packed AS (
  SELECT
    alone.*,
    condition,
    terms,
    is_set,
    is_alone,
    is_other_brand,
    coalesce(usual_condition <> condition_code, false) AS is_other_condition,
    coalesce(usual_terms <> terms_code, false) AS is_other_terms,
    usual_pack,
    -- Pieces say nothing about weight, volume or length.
    coalesce(
      CASE WHEN pack % 4 = usual_pack % 4 THEN abs(pack // 4 - usual_pack // 4) > 0.05 * (usual_pack // 4)
        ELSE pack % 4 <> 3 AND usual_pack % 4 <> 3 END,
      false) AS is_other_pack,
    -- A title may name the trade case (12x1l) beside the price of one piece.
    coalesce(pack % 4 = usual_pack % 4 AND pack // 4 >= 4 * (usual_pack // 4) AND (pack // 4) % (usual_pack // 4) = 0, false)
      AND NOT (is_other_condition OR is_other_terms) AND is_sound AS may_be_case,
    -- Doubtful offers are compared with the others, but no offer is compared with them.
    is_sound AND NOT (is_other_pack OR is_other_condition OR is_other_terms) AS is_comparable,
    is_comparable AND NOT is_filler AND NOT is_jump AS is_reference
  FROM (SELECT *, NOT (is_nothing OR is_stale OR is_foreign OR is_out) AS is_sound FROM alone) AS alone
  LEFT JOIN packs USING (product_id, currency)
  LEFT JOIN usual_words USING (product_id, currency)
  LEFT JOIN worded USING (item_id)
),
-- One price for each shop.
shops AS MATERIALIZED (
  SELECT
    product_id,
    currency,
    site_id,
    count(*) AS listings,
    min(units) FILTER (is_reference) AS shop_price
  FROM packed
  SEMI JOIN several USING (product_id, currency)
  GROUP BY product_id, currency, site_id
),
price_groups AS MATERIALIZED (
  SELECT product_id || ' ' || currency AS key, product_id, currency, list_sort(list(shop_price)) AS prices
  FROM shops
  WHERE shop_price IS NOT NULL
  GROUP BY product_id, currency
),
outlier_limits AS (FROM 'outlier_limits.sql'),
-- DuckDB plans an alias again wherever it is used, so columns that others use are in a separate step.
joined AS (
  SELECT
    packed.*,
    prices,
    len(prices) AS shops,
    list_position(prices, coalesce(shop_price, CASE WHEN is_reference THEN units END)) AS place,
    middle_squared,
    log_limit,
    listings
  FROM packed
  LEFT JOIN price_groups USING (product_id, currency)
  LEFT JOIN (SELECT * FROM shops WHERE listings > 1) AS shops USING (product_id, currency, site_id)
  LEFT JOIN outlier_limits USING (key)
),
-- The middle price of the other shops, or the two middle ones if their number is even.
placed AS (
  SELECT
    * EXCLUDE (place, shops),
    coalesce(place, shops + 1) AS own,
    (CASE WHEN place IS NULL THEN shops + 1 ELSE shops END) // 2 AS low_place,
    (CASE WHEN place IS NULL THEN shops ELSE shops - 1 END) // 2 + 1 AS high_place
  FROM joined
),
-- From the shop's own place on, places in the list of all shops are one further.
compared AS (
  SELECT
    * EXCLUDE (prices, own, low_place, high_place),
    units / prices[low_place + (low_place >= own)::INTEGER]::DOUBLE AS from_low,
    units / prices[high_place + (high_place >= own)::INTEGER]::DOUBLE AS from_high,
    coalesce(own <= len(prices) AND (
      prices[own + 1]::DOUBLE / units <= 1.05 OR own > 1 AND units / prices[own - 1]::DOUBLE <= 1.05
    ), false) AS has_twin
  FROM placed
),
measured AS (
  SELECT
    *,
    CASE WHEN units > 0 THEN sqrt(from_low * from_high) END AS price_ratio,
    CASE WHEN units > 0 THEN log10(from_low) END AS low_log,
    CASE WHEN units > 0 THEN log10(from_high) END AS high_log
  FROM compared
),
decided AS (
  SELECT
    *,
    coalesce(may_be_case AND price_ratio BETWEEN 0.67 AND 1.5, false) AS is_case,
    is_nothing OR is_filler AND coalesce(price_ratio NOT BETWEEN 0.5 AND 2, false) AS is_placeholder,
    is_jump AND coalesce(price_ratio NOT BETWEEN 0.5 AND 2, true)
      OR coalesce(abs(low_log - round(low_log)) <= 0.2 AND abs(round(low_log)) BETWEEN 1 AND 3
        AND abs(high_log - round(high_log)) <= 0.2 AND abs(round(high_log)) BETWEEN 1 AND 3, false) AS is_off_scale,
    CASE WHEN log_limit IS NOT NULL AND units > 0
      THEN (units::HUGEINT * units > 4 * middle_squared OR 4 * (units::HUGEINT * units) < middle_squared)
        AND abs(ln(units) - ln(middle_squared) / 2) > log_limit
        -- If most prices are equal, a low one that another shop has as well is a clearance.
        AND NOT (log_limit = 0 AND has_twin AND units::HUGEINT * units < middle_squared)
      ELSE false END AS is_far_out
  FROM measured
),
-- The cheapest good listing of each shop counts. Price and id make one sortable number.
ranked AS (
  SELECT
    * REPLACE (is_other_pack AND NOT is_case AS is_other_pack),
    units::HUGEINT * 18446744073709551616 + item_id AS rank,
    (is_comparable OR is_case) AND NOT (is_placeholder OR is_off_scale OR is_far_out) AS is_in_order
  FROM decided
),
firsts AS (
  SELECT product_id, currency, site_id, min(rank) AS first_rank
  FROM ranked
  WHERE listings > 1 AND is_in_order
  GROUP BY product_id, currency, site_id
),
repeated AS (
  SELECT ranked.* EXCLUDE (rank, listings), is_in_order AND coalesce(rank > first_rank, false) AS is_repeated
  FROM ranked
  LEFT JOIN firsts USING (product_id, currency, site_id)
),
judged AS (
  SELECT
    *,
    is_off_scale AND NOT is_placeholder AND NOT is_other_pack AS is_scaled,
    is_far_out AND NOT is_placeholder AND NOT is_other_pack AND NOT is_off_scale AS is_outlier,
    is_repeated OR NOT is_in_order AS is_found,
    -- The price of a kilogram or litre, where the pack is another.
    coalesce(unit IN ('kg', 'l') AND price_ratio NOT BETWEEN 0.67 AND 1.5
      AND price_ratio * millionths BETWEEN 950000 AND 1050000, false) AS is_unit_price,
    coalesce(is_set AND price_ratio > 1.5, false) AS is_larger
  FROM repeated
),
told AS (
  SELECT
    *,
    CASE WHEN is_found THEN list_filter([
      CASE WHEN is_placeholder THEN {'finding': 'placeholder', 'why': 'a price that fills a field'} END,
      CASE WHEN is_foreign THEN {'finding': 'currency', 'why': 'the shop sells in ' || usual_currency} END,
      CASE WHEN is_stale THEN {'finding': 'stale', 'why': 'its source was last seen on ' || seen_day} END,
      CASE WHEN is_out THEN {'finding': 'out_of_stock', 'why': 'out of stock'} END,
      CASE WHEN is_scaled THEN {'finding': 'scale', 'why': CASE
        WHEN price_ratio > 2 THEN format('{:.1f} times the price of other shops', price_ratio)
        WHEN price_ratio < 0.5 THEN format('other shops ask {:.1f} times as much', 1 / price_ratio)
        WHEN NOT is_jump THEN 'between two prices that are 10, 100 or 1,000 times as far apart'
        WHEN jump > 0 THEN format('{:.1f} times its price before', pow(10, jump))
        ELSE format('its price before was {:.1f} times as much', pow(10, -jump)) END} END,
      CASE WHEN is_other_pack THEN {'finding': 'pack', 'why': format('{} {}, others {} {}', pack // 4 / 1e6, unit,
        usual_pack // 4 / 1e6, ['kg', 'l', 'm', 'piece'][usual_pack % 4 + 1])} END,
      CASE WHEN is_other_condition THEN {'finding': 'condition', 'why': coalesce(condition, 'not said to be as the others are')} END,
      CASE WHEN is_other_terms THEN {'finding': 'terms', 'why': coalesce(terms, 'not said to be as the others are')} END,
      CASE WHEN is_outlier THEN {'finding': 'outlier', 'why': CASE
        WHEN price_ratio > 1 THEN format('{:.1f} times the price of other shops', price_ratio)
        ELSE format('other shops ask {:.1f} times as much', 1 / price_ratio) END} END,
      CASE WHEN is_repeated THEN {'finding': 'duplicate', 'why': 'the shop lists the product more than once; a lower price counts'} END
    ], lambda one: one IS NOT NULL) END AS found,
    CASE WHEN NOT is_found AND (is_alone OR is_other_brand OR is_unit_price OR is_larger) THEN list_filter([
      CASE WHEN is_alone THEN {'finding': 'title', 'why': 'no word of its title is in the others'} END,
      CASE WHEN is_other_brand AND NOT is_alone THEN {'finding': 'brand', 'why': 'another brand than the others'} END,
      CASE WHEN is_unit_price THEN {'finding': 'unit_price', 'why': 'what the others ask for a ' || unit} END,
      CASE WHEN is_larger THEN {'finding': 'set', 'why': 'may be several pieces'} END
    ], lambda one: one IS NOT NULL) END AS doubted
  FROM judged
)
SELECT
  product_id,
  currency,
  item_id,
  site_id,
  price,
  NOT is_found AS is_counted,
  CASE WHEN is_found THEN [one.finding FOR one IN found] ELSE [] END AS findings,
  CASE
    WHEN is_found THEN array_to_string([one.why FOR one IN found], '; ')
    WHEN doubted IS NOT NULL THEN array_to_string([one.why FOR one IN doubted], '; ')
  END AS reason,
  price_ratio,
  millionths / 1e6 AS quantity,
  unit,
  CASE WHEN price > 0 AND NOT is_case THEN
    TRY_CAST(TRY_CAST((2000000 * units::HUGEINT + millionths) // (2 * millionths) AS BIGINT) * 0.0001 AS DECIMAL(18, 4))
  END AS unit_price,
  getvariable('run_id')::VARCHAR AS run_id,
  CASE WHEN doubted IS NULL THEN [] ELSE [one.finding FOR one IN doubted] END AS doubts,
  condition,
  previous_price,
  availability,
  shipping_cost,
  TRY_CAST(price + shipping_cost AS DECIMAL(18, 4)) AS delivered_price,
  regular_price
FROM told
