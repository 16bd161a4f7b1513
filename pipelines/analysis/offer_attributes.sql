-- part of: judged_offers
-- What attributes tell of offers, where the pipeline file maps them (offer_rules, rule attribute; docs/concepts/attributes.md).
-- From priced (item_id, site_id, currency, attributes and other columns): one row for each offer with a mapped attribute.
-- availability, shipping_cost and regular_price are null if unknown: if no mapped attribute tells, if its value has another
-- form than those below, or if two values contradict each other. told_condition has the values of the mapped attributes in
-- lower case. A name is an attribute, or with points a path into one. Of a list, each value tells; of an object, the fields
-- named below.
WITH mapped_sites AS (SELECT DISTINCT site_id FROM priced),
mapped AS (FROM 'mapped_attributes.sql'),
read_values AS (
  SELECT
    item_id,
    site_id,
    currency,
    meaning,
    name,
    coalesce(
      json_extract_string(attributes, '$."' || name || '"'),
      CASE WHEN contains(name, '.') THEN json_extract_string(attributes, '$."' || replace(name, '.', '"."') || '"') END
    ) AS value
  FROM priced
  JOIN mapped USING (site_id)
),
fields AS (FROM 'attribute_fields.sql'),
attribute_texts AS (
  SELECT item_id, site_id, name, unnest(texts) AS text FROM fields WHERE meaning = 'availability'
),
worded AS (FROM 'availability_words.sql'),
available AS (
  SELECT item_id, CASE WHEN min(availability) = max(availability) THEN min(availability) END AS availability
  FROM worded
  GROUP BY item_id
),
conditions AS (
  SELECT item_id, list(lower(array_to_string(texts, ' '))) AS conditions FROM fields WHERE meaning = 'condition' GROUP BY item_id
),
-- An amount with its currency before or behind: "4,99 €", EUR 4.99. A lone sign before three digits may part thousands or
-- decimals, so it tells nothing, except behind a zero.
parsed AS (
  SELECT
    item_id,
    currency,
    meaning,
    lower(amount) AS plain,
    regexp_extract(amount, '^([^0-9.,+-]*)', 1) AS before,
    regexp_extract(amount, '([0-9][0-9., ]*)', 1) AS number,
    regexp_extract(amount, '([^0-9., ][^0-9.,]*)$', 1) AS behind,
    before || number || behind = amount AS is_amount,
    upper(trim(before || behind)) AS unit,
    trim(number) AS digits
  FROM (SELECT item_id, currency, meaning, regexp_replace(amount, '[\x{a0}\x{202f}]', ' ', 'g') AS amount
    FROM fields
    WHERE meaning IN ('shipping cost', 'regular price'))
),
amounts AS (
  SELECT
    item_id,
    meaning,
    CASE
      WHEN meaning = 'shipping cost' AND contains(
        '|free|free shipping|free delivery|besplatno|besplatna dostava|gratis|kostenlos|kostenloser versand|versandkostenfrei|gratuit|gratuite|gratuito|'
          || 'gratuita|envío gratis|spedizione gratuita|livraison gratuite|gratis verzending|darmowa|darmowa dostawa|za darmo|zdarma|doprava zdarma|'
          || 'zadarmo|ingyenes|fri frakt|fragtfri|ilmainen|δωρεάν|безплатно|бесплатно|', '|' || plain || '|') THEN 0::DECIMAL(18, 4)
      WHEN NOT is_amount OR unit <> '' AND unit <> currency
        AND NOT contains(' €/EUR EURO/EUR £/GBP ZŁ/PLN KČ/CZK FT/HUF KN/HRK LEI/RON KR/SEK KR/NOK KR/DKK DIN/RSD ЛВ/BGN ЛВ./BGN KR./DKK $/USD ',
          ' ' || unit || '/' || currency || ' ') THEN NULL
      WHEN regexp_matches(digits, '^[0-9]{1,12}[.][0-9]{4}$|^0[.,][0-9]{3}$') THEN TRY_CAST(replace(digits, ',', '.') AS DECIMAL(18, 4))
      -- Thousands in groups, and at most two decimals behind another sign.
      WHEN regexp_matches(digits, '^[0-9]{1,12}([.,][0-9]{1,2})?$|^[1-9][0-9]{0,2}(([.][0-9]{3}){1,3},[0-9]{1,2}|(,[0-9]{3}){1,3}[.][0-9]{1,2}|([.][0-9]{3}){2,3}|(,[0-9]{3}){2,3}|( [0-9]{3}){1,3}([.,][0-9]{1,2})?)$')
        THEN TRY_CAST(TRY_CAST(regexp_replace(digits, '[^0-9]', '', 'g') AS BIGINT)
          * CASE length(regexp_extract(digits, '[.,]([0-9]{1,2})$', 1)) WHEN 2 THEN 0.01 WHEN 1 THEN 0.1 ELSE 1 END AS DECIMAL(18, 4))
    END AS amount
  FROM parsed
),
-- All amounts must be known and equal.
costs AS (
  SELECT
    item_id,
    CASE WHEN count(amount) FILTER (meaning = 'shipping cost') = count(*) FILTER (meaning = 'shipping cost')
      AND min(amount) FILTER (meaning = 'shipping cost') = max(amount) FILTER (meaning = 'shipping cost')
      THEN min(amount) FILTER (meaning = 'shipping cost') END AS shipping_cost,
    CASE WHEN count(amount) FILTER (meaning = 'regular price') = count(*) FILTER (meaning = 'regular price')
      AND min(amount) FILTER (meaning = 'regular price') = max(amount) FILTER (meaning = 'regular price')
      THEN min(amount) FILTER (meaning = 'regular price') END AS regular_price
  FROM amounts
  GROUP BY item_id
)
SELECT item_id, availability, shipping_cost, regular_price, array_to_string(conditions, ' ') AS told_condition
FROM (SELECT DISTINCT item_id FROM read_values WHERE value IS NOT NULL)
LEFT JOIN available USING (item_id)
LEFT JOIN costs USING (item_id)
LEFT JOIN conditions USING (item_id)
