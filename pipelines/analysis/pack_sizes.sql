-- part of: judged_offers
-- Content of packs by the shop's attributes, else by the title (6 x 0.5 l, 40.000 g, 750ml, 10 kom). From
-- listed_offers; gives its columns without title and attributes, and unit (kg, l, piece or m) with millionths, the
-- quantity in millionths of the unit. Both are null if unknown. Attributes: quantity with unit; else size, volume,
-- content, netContent, netWeight or packSize in words. Numbers in words have a decimal point or comma; if a number has
-- both, the last one is the decimal sign. Three digits after it are thousands in 1 to 9 g or ml (1.000 g is a
-- kilogram), else decimals (40.000 g). Two such groups are thousands (1.000.000 g), and so are three digits after one
-- digit and a space (1 500 g). Fractions (1/2 kg), sums (190+20 g) and packs in words (33cl 24-pack, lot de 6) count.
-- 3G to 6G are networks. Beside tablets, milligrams are a strength. Ounces of a drink are fluid ounces.
WITH told AS (
  SELECT
    *,
    json_extract_string(attributes, ['$.quantity', '$.unit']) AS named,
    CASE
      WHEN regexp_matches(named[1], '^ *[0-9]{1,4}/[1-9][0-9]{0,3} *$')
        THEN TRY_CAST(string_split(named[1], '/')[1] AS DOUBLE) / TRY_CAST(string_split(named[1], '/')[2] AS DOUBLE)
      ELSE TRY_CAST(replace(named[1], ',', '.') AS DOUBLE)
    END AS quantity,
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
      WHEN words IS NULL THEN {'times': NULL, 'plus': NULL, 'number': NULL, 'unit': named[2], 'more': NULL}
      WHEN regexp_matches(words, '[0-9] ?[A-Za-z\x{80}-\x{10FFFF}]') THEN regexp_extract(
        words,
        '(?:^|[^A-Za-z0-9\x{80}-\x{10FFFF}.,])(?:([0-9]{1,3}) ?[xX×*] ?)?(?:([0-9]{1,7}(?:[.,][0-9]{1,6})?) ?\+ ?)?([1-9] [0-9]{3}|[0-9]{1,4}/[1-9][0-9]{0,3}|[0-9]{1,7}(?:[.,][0-9]{1,6})*) ?((?i:kgs?|kilos?|kilograms?|g|gr|gms?|gramm?|grams|grama|mg|dag|dkg|lbs?|oz|fl\.? ?oz|l|lt|ltr|lit|lit(?:er|re|ro)s?|litr[aiy]?|litar[ai]?|ml|cl|dl|кг|г|гр|л|мл|γρ|γραμμάρια|κιλά|κιλό|λίτρα|λίτρο|pcs?|pi[eè]ces?|piezas?|pezzi|pz|kom|komada?|stk|stück|stuks|szt|ks|kpl|buc|uds?|unidades|шт|бр|τεμ|count|ct|pairs?)|db)\.?(?: ?[xX×*] ?([0-9]{1,3}))?(?:$|[^A-Za-z0-9\x{80}-\x{10FFFF}])',
        ['times', 'plus', 'number', 'unit', 'more'])
    END AS size,
    CASE WHEN contains(words, 'mg') OR contains(words, 'MG') THEN regexp_extract(
      words, '([0-9]{1,4}) ?(?i:tablet|tabl|tbl|caps|kaps|tobol|softgel|comprim|komprim|gélule|pastil)', 1) END AS doses,
    -- Packs in words.
    CASE WHEN regexp_matches(words, '(?i:pack|lot de|set of|pack of)') THEN regexp_extract(
      words, '(?i:([0-9]{1,2})[ -]?(?:er[ -]?)?pack|(?:lot de|set of|pack of) ([0-9]{1,2}))(?:$|[^A-Za-z0-9])', ['before', 'after']) END AS packs,
    regexp_matches(words, '(?i:juice|drink|soda|cola|water|beer|wine|lemonade|milk)') AS is_drink
  FROM told
),
-- DuckDB plans an alias again wherever it is used, so columns that others use are in a separate step.
named AS (
  SELECT
    * EXCLUDE (size),
    size.times,
    size.plus,
    -- A space in a number parts thousands, as points do.
    CASE WHEN contains(size.number, ' ') THEN replace(size.number, ' ', '') ELSE size.number END AS number,
    size.unit AS given_unit,
    size.more,
    ' ' || translate(lower(size.unit), '. ', '') || ' ' AS name,
    string_split(replace(replace(size.number, ' ', ''), ',', '.'), '.') AS digits
  FROM found
),
coded AS (
  SELECT
    * EXCLUDE (name),
    CASE
      WHEN doses <> '' AND name = ' mg ' THEN 'piece'
      WHEN is_drink AND name = ' oz ' THEN 'floz'
      WHEN contains(' kg kgs kilo kilos kilogram kilograms кг κιλά κιλό ', name) THEN 'kg'
      WHEN contains(' g gr gm gms gram gramm grams grama г гр γρ γραμμάρια ', name) THEN 'g'
      WHEN contains(' l lt ltr lit liter liters litre litres litro litros litr litra litri litry litar litara litari л λίτρα λίτρο ', name) THEN 'l'
      WHEN contains(' ml мл ', name) THEN 'ml'
      WHEN contains(' pc pcs piece pieces pièce pièces pieza piezas pezzi pz kom komad komada st stk stück stuks szt ks kpl buc ud uds '
        || 'unidades db шт бр τεμ count ct pair pairs par ', name) THEN 'piece'
      WHEN contains(' dag dkg ', name) THEN 'dag'
      WHEN contains(' lb lbs ', name) THEN 'lb'
      ELSE trim(name)
    END AS code
  FROM named
),
weighed AS (
  SELECT
    * EXCLUDE (code),
    CASE code WHEN 'piece' THEN code WHEN 'm' THEN code WHEN 'l' THEN 'l' WHEN 'ml' THEN 'l' WHEN 'cl' THEN 'l' WHEN 'dl' THEN 'l'
      WHEN 'floz' THEN 'l' ELSE 'kg' END AS unit,
    CASE code WHEN 'kg' THEN 1e6 WHEN 'g' THEN 1e3 WHEN 'l' THEN 1e6 WHEN 'ml' THEN 1e3 WHEN 'piece' THEN 1e6 WHEN 'm' THEN 1e6
      WHEN 'cl' THEN 1e4 WHEN 'dl' THEN 1e5 WHEN 'dag' THEN 1e4 WHEN 'mg' THEN 1e0 WHEN 'lb' THEN 453592.37e0
      WHEN 'oz' THEN 28349.523125e0 WHEN 'floz' THEN 29573.5295625e0 END AS factor
  FROM coded
),
sized AS (
  SELECT
    * EXCLUDE (times, plus, number, given_unit, more, digits, factor, quantity, doses, packs, is_drink),
    factor * CASE
      WHEN number IS NULL THEN quantity
      WHEN doses <> '' AND given_unit = 'mg' THEN TRY_CAST(doses AS DOUBLE)
      WHEN given_unit = 'G' AND length(number) = 1 AND contains('3456', number) THEN NULL
      ELSE coalesce(
        TRY_CAST(times AS DOUBLE),
        TRY_CAST(more AS DOUBLE),
        CASE WHEN unit IN ('kg', 'l') THEN coalesce(TRY_CAST(packs.before AS DOUBLE), TRY_CAST(packs.after AS DOUBLE)) END,
        1) * (coalesce(TRY_CAST(replace(plus, ',', '.') AS DOUBLE), 0) + CASE
        WHEN contains(number, '/') THEN TRY_CAST(string_split(number, '/')[1] AS DOUBLE) / TRY_CAST(string_split(number, '/')[2] AS DOUBLE)
        ELSE TRY_CAST(
        CASE
          WHEN regexp_matches(number, '^[1-9][0-9]{0,2}(,[0-9]{3}){2,}$|^[1-9][0-9]{0,2}([.][0-9]{3}){2,}$')
            THEN array_to_string(digits, '')
          WHEN len(digits) = 1 OR factor = 1000 AND len(digits) = 2 AND length(digits[2]) = 3 AND length(digits[1]) = 1 AND digits[1] <> '0'
            THEN array_to_string(digits, '')
          ELSE array_to_string(digits[:-2], '') || '.' || digits[-1]
        END AS DOUBLE) END)
    END AS exact
  FROM weighed
)
SELECT
  * EXCLUDE (exact, unit),
  CASE WHEN exact BETWEEN 1 AND 1e12 THEN unit END AS unit,
  CASE WHEN exact BETWEEN 1 AND 1e12 THEN round(exact)::BIGINT END AS millionths
FROM sized
