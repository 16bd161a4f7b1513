-- part of: offer_attributes, availability and attribute_proposals
-- Lists the texts in attribute values: each value of a list, and the fields of an object. Reads read_values (value and
-- other columns); returns the other columns, texts, and amount, in which an object's currency follows its number.
WITH single_values AS (
  SELECT
    * EXCLUDE (value),
    unnest(CASE WHEN starts_with(value, '[') AND json_valid(value) THEN from_json(value, '["VARCHAR"]') ELSE [value] END) AS value
  FROM read_values
  WHERE value IS NOT NULL
)
SELECT
  * EXCLUDE (value),
  CASE WHEN starts_with(value, '{') AND json_valid(value)
    THEN json_extract_string(value, ['$.availability', '$.status', '$.state', '$.quantity', '$.inStock', '$.value'])
    ELSE [value] END AS texts,
  -- Fields of schema.org's MonetaryAmount and of Google's shipping attribute. If an object contains two amounts, the
  -- amount is unknown.
  trim(CASE WHEN starts_with(value, '{') AND json_valid(value)
    THEN array_to_string(json_extract_string(value, ['$.value', '$.amount', '$.price', '$.cost', '$.currency', '$.priceCurrency']), ' ')
    ELSE value END) AS amount
FROM single_values
