-- Which attributes may hold availability, delivery cost, condition, regular price and the content of the pack? Proposes
-- mappings for the pipeline file (docs/concepts/attributes.md), based on the names and values of attributes of listed
-- items: one row per meaning and name that isn't mapped yet. An attribute is proposed if its name fits and at least 80%
-- of its values are readable; or, for availability, if at least 80% of its values are availability words, whatever its
-- name. A quantity needs a unit: with the number, or in an attribute of the same website. items and shops: number of
-- items and shops with the attribute; known_pct: percentage of these items with a readable value; coverage_pct:
-- percentage of all listed items that have the attribute. unknown_values: the most frequent other values with their
-- number of items; define their meanings under values.
-- Limits: names are compared with words of English, German, Croatian and other European languages. Check the proposals
-- before you use them, because names can be misleading.
WITH outer_values AS MATERIALIZED (
  SELECT site_id, currency, one.key AS name, one.value, count(*) AS items
  FROM (
    SELECT site_id, currency, unnest(map_entries(json_transform(attributes, '"MAP(VARCHAR, JSON)"'))) AS one
    FROM items
    WHERE is_listed AND attributes <> '{}'
  )
  GROUP BY ALL
),
counted AS (
  SELECT site_id, currency, name, value->>'$' AS value, sum(items)::BIGINT AS items
  FROM (
    FROM outer_values
    UNION ALL
    SELECT site_id, currency, name || '.' || one.key, one.value, items
    FROM (
      SELECT site_id, currency, name, items, unnest(map_entries(json_transform(value, '"MAP(VARCHAR, JSON)"'))) AS one
      FROM outer_values
      WHERE starts_with(value::VARCHAR, '{')
    )
  )
  WHERE json_type(value) <> 'NULL'
    -- Names that the pipeline file can contain.
    AND NOT regexp_matches(name, '["''?*\[\]\\\x{0}-\x{1f}]') AND length(name) BETWEEN 1 AND 100
  GROUP BY ALL
),
named AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER () AS value_id,
    ' ' || lower(regexp_replace(regexp_replace(name, '([a-z])([A-Z])', '\1 \2', 'g'), '[^\p{L}\p{N}]+', ' ', 'g')) || ' ' AS words
  FROM counted
  -- An attribute whose value differs for each item, such as an id, is not proposed.
  WHERE length(value) <= 1000
),
meanings AS (
  SELECT value_id, 'availability' AS meaning FROM named
  UNION ALL
  SELECT value_id, 'shipping cost' FROM named
  WHERE regexp_matches(words, ' (shipping|delivery|postage|freight|dostav|poštarin|postarin|versand|lieferkost|porto|livraison|spedizion|env[ií]o|portes|verzend|wysy[lł]k|dostaw|doprav|sz[aá]ll[ií]t|livrare|frakt|fragt|toimitus)')
    AND NOT regexp_matches(words, ' (time|days?|date|eta|weight|class|method|country|zeit|tage|datum|vrijeme|rok|dani|type|carrier|from|free|threshold|min)')
  UNION ALL
  SELECT value_id, 'condition' FROM named
  WHERE regexp_matches(words, ' (condition|stanje|zustand|state|etat|état|stav|[aá]llapot|stare|kunto|skick|stand) $')
    AND name NOT IN ('condition', 'itemCondition', 'item_condition', 'stanje', 'zustand', 'etat', 'état', 'stan', 'állapot')
  UNION ALL
  SELECT value_id, 'regular price' FROM named
  WHERE regexp_matches(words, ' (regular|list|old|original|was|rrp|msrp|uvp|recommended|retail|redovna|stara|prethodna|strike|normal|full|base|regul[aä]r|alter?|bisher|barr[eé]|listino) ?(price|cijena|cena|preis|prix|prezzo|precio|prijs)? ')
    AND (regexp_matches(words, '(price|cijena|cena|preis|prix|prezzo|precio|prijs)') OR regexp_matches(words, ' (rrp|msrp|uvp) '))
  UNION ALL
  SELECT value_id, 'quantity' FROM named
  WHERE regexp_matches(words, ' (quantity|net (weight|volume)|contents?|pack(age)? size|volume|koli[cč]ina|neto (masa|te[zž]ina)|sadr[zž]aj|inhalt|(netto|f[uü]ll)menge|nettogewicht|contenance|contenuto|contenido|peso neto|inhoud|zawarto[sś][cć]|obsah|objem|[uű]rtartalom) ')
    AND NOT regexp_matches(words, ' (unit|stock|order|min|max|available) ')
  UNION ALL
  SELECT value_id, 'unit' FROM named
  WHERE regexp_matches(words, ' (unit|uom|jedinica|jm|einheit|unit[eéaà]|unidad|eenheid|jednostka|jednotka|(m[eé]rt[eé]k)?egys[eé]g) ')
    AND NOT regexp_matches(words, '(price|cijena|cena|preis|prix|prezzo|precio|prijs)')
),
-- Unit names that are the same in every language, and words for pieces.
units AS (
  SELECT value_id, site_id, regexp_full_match(lower(trim(value)), 'kg|g|dag|mg|l|ml|cl|dl|m|cm|mm|kom|pcs?|pieces?|st|stk|szt|ks|db|pz|ud') AS is_known
  FROM named
  SEMI JOIN (SELECT value_id FROM meanings WHERE meaning = 'unit') USING (value_id)
),
read_values AS (
  SELECT value_id, site_id, currency, name, meaning, value FROM named JOIN meanings USING (value_id)
),
fields AS (FROM 'attribute_fields.sql'),
attribute_texts AS (
  SELECT value_id, site_id, name, unnest(texts) AS text FROM fields WHERE meaning = 'availability'
),
worded AS (FROM 'availability_words.sql'),
amount_texts AS (SELECT value_id, currency, meaning, amount FROM fields WHERE meaning IN ('shipping cost', 'regular price')),
amounts AS (FROM 'attribute_amounts.sql'),
known AS (
  SELECT value_id, 'availability' AS meaning, min(availability) = max(availability) AS is_known, bool_or(is_word) AS is_word
  FROM worded
  GROUP BY value_id
  UNION ALL
  SELECT value_id, meaning, count(known_amount) = count(*) AND min(known_amount) = max(known_amount), false
  FROM amounts
  GROUP BY value_id, meaning
  UNION ALL
  SELECT value_id, meaning, regexp_matches(lower(array_to_string(texts, ' ')), 'new|nov|neu|nuov|nuevo|neuf|nieuw|nowy|used|rablj|polov|gebraucht|usat|occasion|refurb|obnov'), false
  FROM fields
  WHERE meaning = 'condition'
  UNION ALL
  SELECT value_id, 'unit', is_known, false
  FROM units
  UNION ALL
  SELECT
    value_id,
    meaning,
    regexp_matches(amount, '[1-9]') AND (
      regexp_full_match(lower(amount), '[0-9]{1,9}([.,][0-9]{1,6})? *(kg|g|dag|mg|l|ml|cl|dl|m|cm|mm)')
      OR regexp_full_match(amount, '[0-9]{1,9}([.,][0-9]{1,6})?') AND site_id IN (SELECT site_id FROM units WHERE is_known)
    ),
    false
  FROM fields
  WHERE meaning = 'quantity'
),
judged AS (
  SELECT
    named.*,
    meanings.meaning,
    coalesce(is_known, false) AS is_known,
    coalesce(is_known AND is_word, false) AS is_word
  FROM named
  JOIN meanings USING (value_id)
  LEFT JOIN known ON known.value_id = named.value_id AND known.meaning = meanings.meaning
),
unknown AS (
  SELECT meaning, name, list(left(value, 40) || ' (' || n || ')' ORDER BY n DESC, value)[:5] AS unknown_values
  FROM (SELECT meaning, name, value, sum(items) AS n FROM judged WHERE NOT is_known GROUP BY ALL)
  GROUP BY meaning, name
),
candidates AS (
  SELECT
    meaning,
    name,
    sum(items)::BIGINT AS items,
    count(DISTINCT site_id) AS shops,
    coalesce(sum(items) FILTER (is_known), 0)::BIGINT AS known_items,
    coalesce(sum(items) FILTER (is_word), 0)::BIGINT AS word_items,
    any_value(words) AS words
  FROM judged
  GROUP BY meaning, name
),
proposed AS (
  SELECT *
  FROM candidates
  WHERE known_items >= 0.8 * items
    AND (
      meaning <> 'availability'
      OR word_items >= 0.8 * items
      OR regexp_matches(words, ' (in )?(availab|stock|inventory|dostupn|zalih|raspolo|lager|verf[uü]gbar|bestand|lieferbar|disponib|stockage|existencia|giacenz|voorraad|beschikbaar|dost[eę]pn|magazyn|sklad|k[eé]szlet|rakt[aá]r|stoc|saldo|lagerstatus|varasto|saatavuus|διαθεσιμ|απόθεμα|наличност|наличие)')
        -- If there are other words next to it, the number has another meaning.
        AND NOT regexp_matches(words, '(date|time|limit|min|max|unit|location|code|exchange|reorder|out |sold|back|pre |not )')
    )
    AND NOT EXISTS (
      SELECT 1 FROM offer_rules WHERE rule = 'attribute' AND text <> '' AND (name = text OR starts_with(name, text || '.'))
    )
)
SELECT
  meaning,
  name,
  items,
  shops,
  100 * known_items::DOUBLE / items AS known_pct,
  100 * known_items::DOUBLE / (SELECT count(*) FROM items WHERE is_listed) AS coverage_pct,
  coalesce(unknown_values, []) AS unknown_values
FROM proposed
LEFT JOIN unknown USING (meaning, name)
-- A value inside an object that is proposed as a whole.
WHERE NOT EXISTS (
  SELECT 1 FROM proposed AS whole WHERE whole.meaning = proposed.meaning AND starts_with(proposed.name, whole.name || '.')
)
ORDER BY list_position(['availability', 'shipping cost', 'condition', 'regular price', 'quantity', 'unit'], meaning), known_items DESC, name
