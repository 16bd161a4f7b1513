-- part of: judged_offers
-- How much is in a pack: by the shop's attributes, else by the title (6 x 0.5 l, 40.000 g, 750ml, 10 kom). From
-- listed_offers; gives its columns without title and attributes, and unit (kg, l, piece or m) with millionths, the
-- quantity in millionths of the unit. Both are null where nothing tells.
-- Attributes: quantity with unit; else size, volume, content, netContent, netWeight or packSize in words.
-- Numbers in words have a decimal point or comma; where both stand, the last one is it. Three decimals behind 1 to 9 g or ml
-- are thousands (1.000 g is a kilogram), behind more they are decimals (40.000 g). 3G to 6G are networks.
WITH told AS (
  SELECT
    *,
    json_extract_string(attributes, ['$.quantity', '$.unit']) AS named,
    TRY_CAST(replace(named[1], ',', '.') AS DOUBLE) AS quantity,
    CASE
      WHEN quantity IS NULL OR named[2] IS NULL THEN concat_ws(
        ' ; ',
        array_to_string(named, ' '),
        array_to_string(json_extract_string(attributes, [
          '$.size', '$.volume', '$.content', '$.netContent', '$.net_content', '$.netWeight', '$.net_weight', '$.packSize', '$.pack_size'
        ]), ' ; '),
        title)
    END AS words
  FROM listed_offers
),
found AS (
  SELECT
    * EXCLUDE (title, attributes, named, words),
    CASE
      WHEN words IS NULL THEN {'times': NULL, 'number': NULL, 'unit': named[2], 'more': NULL}
      WHEN regexp_matches(words, '[0-9] ?[\p{L}]') THEN regexp_extract(
        words,
        '(?:^|[^\p{L}\p{N}.,])(?:(\d{1,3}) ?[xX×*] ?)?(\d{1,7}(?:[.,]\d{1,6})*) ?((?i:kgs?|kilos?|kilograms?|g|gr|gms?|gramm?|grams|grama|mg|dag|dkg|lbs?|oz|fl\.? ?oz|l|lt|ltr|lit|lit(?:er|re|ro)s?|litr[aiy]?|litar[ai]?|ml|cl|dl|кг|г|гр|л|мл|pcs?|pi[eè]ces?|piezas?|pezzi|pz|kom|komada?|stk|stück|stuks|szt|ks|kpl|buc|uds?|unidades|шт|бр|τεμ|count|ct|pairs?)|db)\.?(?: ?[xX×*] ?(\d{1,3}))?(?:$|[^\p{L}\p{N}])',
        ['times', 'number', 'unit', 'more'])
    END AS size
  FROM told
),
sized AS (
  SELECT
    * EXCLUDE (size, quantity),
    regexp_replace(lower(size.unit), '[. ]', '', 'g') AS name,
    CASE
      WHEN name IN ('kg', 'kgs', 'kilo', 'kilos', 'kilogram', 'kilograms', 'кг') THEN {'unit': 'kg', 'factor': 1e6}
      WHEN name IN ('g', 'gr', 'gm', 'gms', 'gram', 'gramm', 'grams', 'grama', 'г', 'гр') THEN {'unit': 'kg', 'factor': 1e3}
      WHEN name IN ('l', 'lt', 'ltr', 'lit', 'liter', 'liters', 'litre', 'litres', 'litro', 'litros', 'litr', 'litra', 'litri', 'litry',
        'litar', 'litara', 'litari', 'л') THEN {'unit': 'l', 'factor': 1e6}
      WHEN name IN ('ml', 'мл') THEN {'unit': 'l', 'factor': 1e3}
      WHEN name IN ('pc', 'pcs', 'piece', 'pieces', 'pièce', 'pièces', 'pieza', 'piezas', 'pezzi', 'pz', 'kom', 'komad',
        'komada', 'st', 'stk', 'stück', 'stuks', 'szt', 'ks', 'kpl', 'buc', 'ud', 'uds', 'unidades', 'db', 'шт', 'бр', 'τεμ', 'count',
        'ct', 'pair', 'pairs', 'par') THEN {'unit': 'piece', 'factor': 1e6}
      WHEN name = 'cl' THEN {'unit': 'l', 'factor': 1e4}
      WHEN name = 'dl' THEN {'unit': 'l', 'factor': 1e5}
      WHEN name IN ('dag', 'dkg') THEN {'unit': 'kg', 'factor': 1e4}
      WHEN name = 'm' THEN {'unit': 'm', 'factor': 1e6}
      WHEN name = 'mg' THEN {'unit': 'kg', 'factor': 1e0}
      WHEN name IN ('lb', 'lbs') THEN {'unit': 'kg', 'factor': 453592.37e0}
      WHEN name = 'oz' THEN {'unit': 'kg', 'factor': 28349.523125e0}
      WHEN name = 'floz' THEN {'unit': 'l', 'factor': 29573.5295625e0}
    END AS known,
    known['factor'] * CASE
      WHEN size.number IS NULL THEN quantity
      WHEN regexp_matches(size.number || size.unit, '^[3-6]G$') THEN NULL
      ELSE coalesce(TRY_CAST(size.times AS DOUBLE), 1) * coalesce(TRY_CAST(size.more AS DOUBLE), 1) * TRY_CAST(
        CASE
          WHEN known['factor'] = 1000 AND regexp_full_match(size.number, '[1-9][.,][0-9]{3}') THEN regexp_replace(size.number, '[.,]', '')
          ELSE replace(regexp_replace(size.number, '[.,](.*[.,])', '\1', 'g'), ',', '.')
        END AS DOUBLE)
    END AS exact
  FROM found
)
SELECT
  * EXCLUDE (exact, name, known),
  CASE WHEN exact BETWEEN 1 AND 1e12 THEN known['unit'] END AS unit,
  CASE WHEN exact BETWEEN 1 AND 1e12 THEN round(exact)::BIGINT END AS millionths
FROM sized
