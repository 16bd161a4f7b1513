-- Made by generate.py from pipelines/analysis/judged_offers.sql: change that one. Source 65dd08f17a78fa96.
-- columns: product_id STRING, currency STRING, item_id BIGINT, site_id BIGINT, price DECIMAL(18,4), is_counted BOOLEAN, findings ARRAY<STRING>, reason STRING, price_ratio DOUBLE, quantity DOUBLE, unit STRING, unit_price DECIMAL(18,4), run_id STRING, doubts ARRAY<STRING>, condition STRING, previous_price DECIMAL(18,4), availability STRING, shipping_cost DECIMAL(18,4), delivered_price DECIMAL(18,4), regular_price DECIMAL(18,4)
-- step: offers__priced, kept
SELECT
  item_id,
  items.product_id,
  items.currency,
  items.site_id,
  price,
  previous_price,
  CASE
    WHEN price > 0 AND previous_price > 0
    THEN LOG10(CAST(price AS DOUBLE) / CAST(previous_price AS DOUBLE))
  END AS jump,
  CASE
    WHEN is_stale
    THEN CAST('1970-01-01' AS DATE) + CAST((
      UNIX_MICROS(sources.last_seen_at) DIV 86400000000
    ) AS INT)
  END AS seen_day,
  shop_currencies.currency AS usual_currency,
  title,
  brand,
  attributes
FROM items
LEFT JOIN shop_currencies
  ON shop_currencies.site_id = items.site_id
LEFT JOIN sources
  ON sources.site_id = items.site_id AND sources.source_id = items.source_id
WHERE
  is_listed
  AND NOT product_id IS NULL
  AND NOT price IS NULL
  AND NOT items.currency IS NULL;
-- step: offers__listed_offers
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  title,
  brand,
  attributes,
  CASE
    WHEN ABS(price) < 10000000000
    THEN CAST((
      price * 10000
    ) AS BIGINT)
    ELSE CAST((
      CAST(price AS DECIMAL(23, 4)) * 10000
    ) AS BIGINT)
  END AS units
FROM offers__priced AS priced;
-- step: offers__told
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  title,
  brand,
  attributes,
  units,
  ARRAY(GET_JSON_OBJECT(attributes, '$.quantity'), GET_JSON_OBJECT(attributes, '$.unit')) AS named,
  CASE
    WHEN GET(named, 0) RLIKE '^ *[0-9]{1,4}/[1-9][0-9]{0,3} *\\z'
    THEN TRY_CAST(GET(SPLIT(GET(named, 0), '[/]'), 0) AS DOUBLE) / TRY_CAST(GET(SPLIT(GET(named, 0), '[/]'), 1) AS DOUBLE)
    ELSE TRY_CAST(CASE
      WHEN NOT REPLACE(GET(named, 0), ',', '.') RLIKE '[0-9.][dDfF]'
      THEN REPLACE(GET(named, 0), ',', '.')
    END AS DOUBLE)
  END AS quantity,
  CASE
    WHEN quantity IS NULL OR GET(named, 1) IS NULL
    THEN CONCAT_WS(
      ' ; ',
      ARRAY_JOIN(named, ' '),
      ARRAY_JOIN(
        ARRAY(
          GET_JSON_OBJECT(attributes, '$.size'),
          GET_JSON_OBJECT(attributes, '$.volume'),
          GET_JSON_OBJECT(attributes, '$.content'),
          GET_JSON_OBJECT(attributes, '$.netContent'),
          GET_JSON_OBJECT(attributes, '$.net_content'),
          GET_JSON_OBJECT(attributes, '$.netWeight'),
          GET_JSON_OBJECT(attributes, '$.net_weight'),
          GET_JSON_OBJECT(attributes, '$.packSize'),
          GET_JSON_OBJECT(attributes, '$.pack_size')
        ),
        ' ; '
      ),
      title
    )
  END AS words
FROM offers__listed_offers AS listed_offers;
-- step: offers__found
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  brand,
  units,
  quantity,
  CASE
    WHEN words IS NULL
    THEN NAMED_STRUCT('times', NULL, 'plus', NULL, 'number', NULL, 'unit', GET(named, 1), 'more', NULL)
    WHEN words RLIKE '[0-9] ?[A-Za-z\\x{80}-\\x{10FFFF}]'
    THEN NAMED_STRUCT(
      'times',
      REGEXP_EXTRACT(
        words,
        '(?:^|[^A-Za-z0-9\\x{80}-\\x{10FFFF}.,])(?:([0-9]{1,3}) ?[xX×*] ?)?(?:([0-9]{1,7}(?:[.,][0-9]{1,6})?) ?\\+ ?)?([1-9] [0-9]{3}|[0-9]{1,4}/[1-9][0-9]{0,3}|[0-9]{1,7}(?:[.,][0-9]{1,6})*) ?((?iu:kgs?|kilos?|kilograms?|g|gr|gms?|gramm?|grams|grama|mg|dag|dkg|lbs?|oz|fl\\.? ?oz|l|lt|ltr|lit|lit(?:er|re|ro)s?|litr[aiy]?|litar[ai]?|ml|cl|dl|кг|г|гр|л|мл|γρ|γραμμάρια|κιλά|κιλό|λίτρα|λίτρο|pcs?|pi[eè]ces?|piezas?|pezzi|pz|kom|komada?|stk|stück|stuks|szt|ks|kpl|buc|uds?|unidades|шт|бр|τεμ|count|ct|pairs?)|db)\\.?(?: ?[xX×*] ?([0-9]{1,3}))?(?:\\z|[^A-Za-z0-9\\x{80}-\\x{10FFFF}])',
        1
      ),
      'plus',
      REGEXP_EXTRACT(
        words,
        '(?:^|[^A-Za-z0-9\\x{80}-\\x{10FFFF}.,])(?:([0-9]{1,3}) ?[xX×*] ?)?(?:([0-9]{1,7}(?:[.,][0-9]{1,6})?) ?\\+ ?)?([1-9] [0-9]{3}|[0-9]{1,4}/[1-9][0-9]{0,3}|[0-9]{1,7}(?:[.,][0-9]{1,6})*) ?((?iu:kgs?|kilos?|kilograms?|g|gr|gms?|gramm?|grams|grama|mg|dag|dkg|lbs?|oz|fl\\.? ?oz|l|lt|ltr|lit|lit(?:er|re|ro)s?|litr[aiy]?|litar[ai]?|ml|cl|dl|кг|г|гр|л|мл|γρ|γραμμάρια|κιλά|κιλό|λίτρα|λίτρο|pcs?|pi[eè]ces?|piezas?|pezzi|pz|kom|komada?|stk|stück|stuks|szt|ks|kpl|buc|uds?|unidades|шт|бр|τεμ|count|ct|pairs?)|db)\\.?(?: ?[xX×*] ?([0-9]{1,3}))?(?:\\z|[^A-Za-z0-9\\x{80}-\\x{10FFFF}])',
        2
      ),
      'number',
      REGEXP_EXTRACT(
        words,
        '(?:^|[^A-Za-z0-9\\x{80}-\\x{10FFFF}.,])(?:([0-9]{1,3}) ?[xX×*] ?)?(?:([0-9]{1,7}(?:[.,][0-9]{1,6})?) ?\\+ ?)?([1-9] [0-9]{3}|[0-9]{1,4}/[1-9][0-9]{0,3}|[0-9]{1,7}(?:[.,][0-9]{1,6})*) ?((?iu:kgs?|kilos?|kilograms?|g|gr|gms?|gramm?|grams|grama|mg|dag|dkg|lbs?|oz|fl\\.? ?oz|l|lt|ltr|lit|lit(?:er|re|ro)s?|litr[aiy]?|litar[ai]?|ml|cl|dl|кг|г|гр|л|мл|γρ|γραμμάρια|κιλά|κιλό|λίτρα|λίτρο|pcs?|pi[eè]ces?|piezas?|pezzi|pz|kom|komada?|stk|stück|stuks|szt|ks|kpl|buc|uds?|unidades|шт|бр|τεμ|count|ct|pairs?)|db)\\.?(?: ?[xX×*] ?([0-9]{1,3}))?(?:\\z|[^A-Za-z0-9\\x{80}-\\x{10FFFF}])',
        3
      ),
      'unit',
      REGEXP_EXTRACT(
        words,
        '(?:^|[^A-Za-z0-9\\x{80}-\\x{10FFFF}.,])(?:([0-9]{1,3}) ?[xX×*] ?)?(?:([0-9]{1,7}(?:[.,][0-9]{1,6})?) ?\\+ ?)?([1-9] [0-9]{3}|[0-9]{1,4}/[1-9][0-9]{0,3}|[0-9]{1,7}(?:[.,][0-9]{1,6})*) ?((?iu:kgs?|kilos?|kilograms?|g|gr|gms?|gramm?|grams|grama|mg|dag|dkg|lbs?|oz|fl\\.? ?oz|l|lt|ltr|lit|lit(?:er|re|ro)s?|litr[aiy]?|litar[ai]?|ml|cl|dl|кг|г|гр|л|мл|γρ|γραμμάρια|κιλά|κιλό|λίτρα|λίτρο|pcs?|pi[eè]ces?|piezas?|pezzi|pz|kom|komada?|stk|stück|stuks|szt|ks|kpl|buc|uds?|unidades|шт|бр|τεμ|count|ct|pairs?)|db)\\.?(?: ?[xX×*] ?([0-9]{1,3}))?(?:\\z|[^A-Za-z0-9\\x{80}-\\x{10FFFF}])',
        4
      ),
      'more',
      REGEXP_EXTRACT(
        words,
        '(?:^|[^A-Za-z0-9\\x{80}-\\x{10FFFF}.,])(?:([0-9]{1,3}) ?[xX×*] ?)?(?:([0-9]{1,7}(?:[.,][0-9]{1,6})?) ?\\+ ?)?([1-9] [0-9]{3}|[0-9]{1,4}/[1-9][0-9]{0,3}|[0-9]{1,7}(?:[.,][0-9]{1,6})*) ?((?iu:kgs?|kilos?|kilograms?|g|gr|gms?|gramm?|grams|grama|mg|dag|dkg|lbs?|oz|fl\\.? ?oz|l|lt|ltr|lit|lit(?:er|re|ro)s?|litr[aiy]?|litar[ai]?|ml|cl|dl|кг|г|гр|л|мл|γρ|γραμμάρια|κιλά|κιλό|λίτρα|λίτρο|pcs?|pi[eè]ces?|piezas?|pezzi|pz|kom|komada?|stk|stück|stuks|szt|ks|kpl|buc|uds?|unidades|шт|бр|τεμ|count|ct|pairs?)|db)\\.?(?: ?[xX×*] ?([0-9]{1,3}))?(?:\\z|[^A-Za-z0-9\\x{80}-\\x{10FFFF}])',
        5
      )
    )
  END AS size,
  CASE
    WHEN CONTAINS(words, 'mg') OR CONTAINS(words, 'MG')
    THEN REGEXP_EXTRACT(
      words,
      '([0-9]{1,4}) ?(?iu:tablet|tabl|tbl|caps|kaps|tobol|softgel|comprim|komprim|gélule|pastil)',
      1
    )
  END AS doses,
  CASE
    WHEN words RLIKE '(?iu:pack|lot de|set of|pack of)'
    THEN NAMED_STRUCT(
      'before',
      REGEXP_EXTRACT(
        words,
        '(?iu:([0-9]{1,2})[ -]?(?:er[ -]?)?pack|(?:lot de|set of|pack of) ([0-9]{1,2}))(?:\\z|[^A-Za-z0-9])',
        1
      ),
      'after',
      REGEXP_EXTRACT(
        words,
        '(?iu:([0-9]{1,2})[ -]?(?:er[ -]?)?pack|(?:lot de|set of|pack of) ([0-9]{1,2}))(?:\\z|[^A-Za-z0-9])',
        2
      )
    )
  END AS packs,
  words RLIKE '(?iu:juice|drink|soda|cola|water|beer|wine|lemonade|milk)' AS is_drink
FROM offers__told AS told;
-- step: offers__named
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  brand,
  units,
  quantity,
  doses,
  packs,
  is_drink,
  size.times,
  size.plus,
  CASE
    WHEN CONTAINS(size.number, ' ')
    THEN REPLACE(size.number, ' ', '')
    ELSE size.number
  END AS number,
  size.unit AS given_unit,
  size.more,
  ' ' || TRANSLATE(LOWER(size.unit), '. ', '') || ' ' AS name,
  SPLIT(REPLACE(REPLACE(size.number, ' ', ''), ',', '.'), '[.]') AS digits
FROM offers__found AS found;
-- step: offers__coded
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  brand,
  units,
  quantity,
  doses,
  packs,
  is_drink,
  times,
  plus,
  number,
  given_unit,
  more,
  digits,
  CASE
    WHEN doses <> '' AND name = ' mg '
    THEN 'piece'
    WHEN is_drink AND name = ' oz '
    THEN 'floz'
    WHEN CONTAINS(' kg kgs kilo kilos kilogram kilograms кг κιλά κιλό ', name)
    THEN 'kg'
    WHEN CONTAINS(' g gr gm gms gram gramm grams grama г гр γρ γραμμάρια ', name)
    THEN 'g'
    WHEN CONTAINS(
      ' l lt ltr lit liter liters litre litres litro litros litr litra litri litry litar litara litari л λίτρα λίτρο ',
      name
    )
    THEN 'l'
    WHEN CONTAINS(' ml мл ', name)
    THEN 'ml'
    WHEN CONTAINS(
      ' pc pcs piece pieces pièce pièces pieza piezas pezzi pz kom komad komada st stk stück stuks szt ks kpl buc ud uds ' || 'unidades db шт бр τεμ count ct pair pairs par ',
      name
    )
    THEN 'piece'
    WHEN CONTAINS(' dag dkg ', name)
    THEN 'dag'
    WHEN CONTAINS(' lb lbs ', name)
    THEN 'lb'
    ELSE TRIM(name)
  END AS code
FROM offers__named AS named;
-- step: offers__weighed
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  brand,
  units,
  quantity,
  doses,
  packs,
  is_drink,
  times,
  plus,
  number,
  given_unit,
  more,
  digits,
  CASE code
    WHEN 'piece'
    THEN code
    WHEN 'm'
    THEN code
    WHEN 'l'
    THEN 'l'
    WHEN 'ml'
    THEN 'l'
    WHEN 'cl'
    THEN 'l'
    WHEN 'dl'
    THEN 'l'
    WHEN 'floz'
    THEN 'l'
    ELSE 'kg'
  END AS unit,
  CASE code
    WHEN 'kg'
    THEN 1e6
    WHEN 'g'
    THEN 1e3
    WHEN 'l'
    THEN 1e6
    WHEN 'ml'
    THEN 1e3
    WHEN 'piece'
    THEN 1e6
    WHEN 'm'
    THEN 1e6
    WHEN 'cl'
    THEN 1e4
    WHEN 'dl'
    THEN 1e5
    WHEN 'dag'
    THEN 1e4
    WHEN 'mg'
    THEN 1e0
    WHEN 'lb'
    THEN 453592.37e0
    WHEN 'oz'
    THEN 28349.523125e0
    WHEN 'floz'
    THEN 29573.5295625e0
  END AS factor
FROM offers__coded AS coded;
-- step: offers__sized_
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  brand,
  units,
  unit,
  factor * CASE
    WHEN number IS NULL
    THEN quantity
    WHEN doses <> '' AND given_unit = 'mg'
    THEN TRY_CAST(doses AS DOUBLE)
    WHEN given_unit = 'G' AND LENGTH(number) = 1 AND CONTAINS('3456', number)
    THEN NULL
    ELSE COALESCE(
      TRY_CAST(times AS DOUBLE),
      TRY_CAST(more AS DOUBLE),
      CASE
        WHEN unit IN ('kg', 'l')
        THEN COALESCE(TRY_CAST(packs.before AS DOUBLE), TRY_CAST(packs.after AS DOUBLE))
      END,
      1
    ) * (
      COALESCE(
        TRY_CAST(CASE
          WHEN NOT REPLACE(plus, ',', '.') RLIKE '[0-9.][dDfF]'
          THEN REPLACE(plus, ',', '.')
        END AS DOUBLE),
        0
      ) + CASE
        WHEN CONTAINS(number, '/')
        THEN TRY_CAST(GET(SPLIT(number, '[/]'), 0) AS DOUBLE) / TRY_CAST(GET(SPLIT(number, '[/]'), 1) AS DOUBLE)
        ELSE TRY_CAST(CASE
          WHEN number RLIKE '^[1-9][0-9]{0,2}(,[0-9]{3}){2,}\\z|^[1-9][0-9]{0,2}([.][0-9]{3}){2,}\\z'
          THEN ARRAY_JOIN(digits, '')
          WHEN ARRAY_SIZE(digits) = 1
          OR factor = 1000
          AND ARRAY_SIZE(digits) = 2
          AND LENGTH(GET(digits, 1)) = 3
          AND LENGTH(GET(digits, 0)) = 1
          AND GET(digits, 0) <> '0'
          THEN ARRAY_JOIN(digits, '')
          ELSE ARRAY_JOIN(SLICE(digits, 1, SIZE(digits) - 1), '') || '.' || TRY_ELEMENT_AT(digits, -1)
        END AS DOUBLE)
      END
    )
  END AS exact
FROM offers__weighed AS weighed;
-- step: offers__sized
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  brand,
  units,
  CASE WHEN exact BETWEEN 1 AND 1e12 THEN unit END AS unit,
  CASE WHEN exact BETWEEN 1 AND 1e12 THEN CAST(ROUND(exact) AS BIGINT) END AS millionths
FROM offers__sized_ AS sized;
-- step: offers__mapped_sites
SELECT DISTINCT
  site_id
FROM offers__priced AS priced;
-- step: offers__rules, kept
SELECT
  site_id,
  meaning,
  text AS name
FROM offer_rules
WHERE
  rule = 'attribute';
-- step: offers__mapped
SELECT
  mapped_sites.site_id,
  rules.meaning,
  name
FROM offers__mapped_sites AS mapped_sites
JOIN offers__rules AS rules
  ON rules.site_id = mapped_sites.site_id OR rules.site_id IS NULL
LEFT JOIN (
  SELECT DISTINCT
    site_id,
    meaning
  FROM offers__rules AS rules
  WHERE
    NOT site_id IS NULL
) AS own
  ON own.site_id = mapped_sites.site_id AND own.meaning = rules.meaning
WHERE
  (
    NOT rules.site_id IS NULL OR own.meaning IS NULL
  ) AND name <> '';
-- step: offers__read_values, kept
SELECT
  item_id,
  site_id,
  currency,
  meaning,
  name,
  COALESCE(
    GET_JSON_OBJECT(attributes, '$[\'' || name || '\']'),
    CASE
      WHEN CONTAINS(name, '.')
      THEN GET_JSON_OBJECT(attributes, '$[\'' || REPLACE(name, '.', '\'][\'') || '\']')
    END
  ) AS value
FROM offers__priced AS priced
JOIN offers__mapped AS mapped
  USING (site_id);
-- step: offers__single_values
SELECT
  item_id,
  site_id,
  currency,
  meaning,
  name,
  EXPLODE(
    CASE
      WHEN STARTSWITH(value, '[') AND NOT GET_JSON_OBJECT(value, '$') IS NULL
      THEN FROM_JSON(value, 'ARRAY<STRING>')
      ELSE ARRAY(value)
    END
  ) AS value
FROM offers__read_values AS read_values
WHERE
  NOT value IS NULL;
-- step: offers__fields, kept
SELECT
  item_id,
  site_id,
  currency,
  meaning,
  name,
  CASE
    WHEN STARTSWITH(value, '{') AND NOT GET_JSON_OBJECT(value, '$') IS NULL
    THEN ARRAY(
      GET_JSON_OBJECT(value, '$.availability'),
      GET_JSON_OBJECT(value, '$.status'),
      GET_JSON_OBJECT(value, '$.state'),
      GET_JSON_OBJECT(value, '$.quantity'),
      GET_JSON_OBJECT(value, '$.inStock'),
      GET_JSON_OBJECT(value, '$.value')
    )
    ELSE ARRAY(value)
  END AS texts,
  TRIM(
    CASE
      WHEN STARTSWITH(value, '{') AND NOT GET_JSON_OBJECT(value, '$') IS NULL
      THEN ARRAY_JOIN(
        ARRAY(
          GET_JSON_OBJECT(value, '$.value'),
          GET_JSON_OBJECT(value, '$.amount'),
          GET_JSON_OBJECT(value, '$.price'),
          GET_JSON_OBJECT(value, '$.cost'),
          GET_JSON_OBJECT(value, '$.currency'),
          GET_JSON_OBJECT(value, '$.priceCurrency')
        ),
        ' '
      )
      ELSE value
    END
  ) AS amount
FROM offers__single_values AS single_values;
-- step: offers__attribute_texts, kept
SELECT
  item_id,
  site_id,
  name,
  EXPLODE(texts) AS text
FROM offers__fields AS fields
WHERE
  meaning = 'availability';
-- step: offers__texts
SELECT
  text
FROM offers__attribute_texts AS attribute_texts
WHERE
  NOT text IS NULL
UNION
SELECT
  text
FROM offer_rules
WHERE
  rule = 'value';
-- step: offers__keyed, kept
SELECT
  text,
  LOWER(TRIM(text)) AS plain,
  COALESCE(
    NULLIF(
      REGEXP_REPLACE(
        TRANSLATE(
          REGEXP_REPLACE(plain, '^https?://(www[.])?schema[.]org/', ''),
          'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżßйёάέήίόύώς',
          'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzsиеαεηιουωσ'
        ),
        '[^\\p{L}\\p{N}]',
        ''
      ),
      ''
    ),
    plain
  ) AS key
FROM offers__texts AS texts;
-- step: offers__usual
SELECT
  text,
  key,
  CASE
    WHEN CONTAINS(
      ' instock instoreonly onlineonly limitedavailability limitedstock lowstock available availablenow onstock stocked ' || 'nazalihi zalihi dostupno dostupan dostupna raspolozivo raspoloziv raspoloziva naskladistu imanazalihi odmahdostupno ' || 'nastanju nalageru ustock nazalogi navoljo dobavljivotakoj ' || 'auflager lieferbar sofortlieferbar verfugbar sofortverfugbar vorratig lagernd anlager ' || 'enstock disponible disponibles disponibile dispo instoc disponibil inmagazzino enexistencias endisponibilidad disponivel emstock emestoque ' || 'opvoorraad leverbaar beschikbaar directleverbaar dostepny dostepna dostepne wmagazynie ' || 'skladem nasklade dostupne raktaron keszleten elerheto raktarrol ' || 'ilager palager paalager tillganglig varastossa saatavilla διαθεσιμο διαθεσιμα σεαποθεμα αμεσαδιαθεσιμο ' || 'вналичност наличен вналичии естьвналичии внаявності ',
      ' ' || key || ' '
    )
    THEN 'in stock'
    WHEN CONTAINS(
      ' outofstock oos soldout discontinued unavailable notavailable notinstock nostock outstock temporarilyoutofstock ' || 'temporarilyunavailable currentlyunavailable currentlyoutofstock ' || 'nijenazalihi nemanazalihi nedostupno nedostupan nedostupna nijedostupno rasprodano rasprodan rasprodana nijeraspolozivo ' || 'trenutnonedostupno trenutnonijedostupno trenutnonijenazalihi nemanastanju nijenastanju nijenalageru ninazalogi nizaloge razprodano ' || 'nichtauflager nichtlieferbar nichtverfugbar ausverkauft vergriffen derzeitnichtlieferbar derzeitnichtverfugbar ' || 'zurzeitnichtlieferbar momentannichtverfugbar nichtvorratig ' || 'rupturedestock enrupture enrupturedestock rupture epuise indisponible nondisponible pasenstock horsstock ' || 'esaurito nondisponibile agotado agotada sinstock sinexistencias nodisponible esgotado indisponivel semstock ' || 'uitverkocht nietopvoorraad nietleverbaar nietbeschikbaar niedostepny niedostepna niedostepne brak wyprzedany wyprzedane brakwmagazynie ' || 'vyprodano neniskladem nedostupne nieskladom vypredane nieniesklade elfogyott nincsraktaron nincskeszleten nemelerheto ' || 'stocepuizat indisponibil nuesteinstoc slutsald slutilager ejilager udsolgt ikkepalager utsolgt loppu loppuunmyyty eivarastossa ' || 'εξαντλημενο εξαντληθηκε μηδιαθεσιμο изчерпан неналичен нетвналичии нетунаявності ',
      ' ' || key || ' '
    )
    THEN 'out of stock'
    WHEN CONTAINS(
      ' backorder backordered onbackorder preorder presale madetoorder onorder onrequest byorder toorder specialorder availableonorder ' || 'availableforpreorder availableforbackorder ' || 'ponarudzbi nanarudzbu dostupnoponarudzbi prednarudzba poporudzbini ponarocilu prednarocilo ' || 'aufbestellung vorbestellung vorbestellbar nachbestellt aufanfrage surcommande precommande enprecommande suordinazione preordine ' || 'bajopedido porencargo preventa sobencomenda prevenda opbestelling nabestelling ' || 'nazamowienie przedsprzedaz naobjednavku naobjednani predobjednavka rendelesre elorendelheto lacomanda precomanda ' || 'bestallningsvara forhandsbokning bestillingsvare tilaustuote κατοπινπαραγγελιασ προπαραγγελια поръчка подзаказ предзаказ ',
      ' ' || key || ' '
    )
    THEN 'on order'
  END AS word,
  CASE
    WHEN CONTAINS(' true yes y da ja oui si sim tak ano igen ναι да ', ' ' || key || ' ')
    THEN 'in stock'
    WHEN CONTAINS(' false no n ne nein non nao nee nie nem nej οχι не нет ', ' ' || key || ' ')
    THEN 'out of stock'
    WHEN plain RLIKE '[-<–][ ]?[0-9]|[0-9][ ]?[/:]'
    THEN NULL
    WHEN key RLIKE '^[0-9]{1,6}(kom|komada?|stk|stuck|pcs?|pieces?|units?|szt|ks|db|st|stuks|pezzi|pz|uds?|unidades|buc|шт|бр|τεμ|left|instock|available|nazalihi|auflager|enstock)?\\z'
    THEN CASE WHEN key RLIKE '[1-9]' THEN 'in stock' ELSE 'out of stock' END
  END AS figure
FROM offers__keyed AS keyed;
-- step: offers__site_rules
SELECT
  site_id,
  key,
  MIN(meaning) AS site_meaning
FROM offer_rules
JOIN offers__keyed AS keyed
  USING (text)
WHERE
  rule = 'value' AND NOT site_id IS NULL
GROUP BY
  site_id,
  key
HAVING
  MIN(meaning) = MAX(meaning);
-- step: offers__common_rules
SELECT
  key,
  MIN(meaning) AS common_meaning
FROM offer_rules
JOIN offers__keyed AS keyed
  USING (text)
WHERE
  rule = 'value' AND site_id IS NULL
GROUP BY
  key
HAVING
  MIN(meaning) = MAX(meaning);
-- step: offers__worded
SELECT
  attribute_texts.item_id,
  attribute_texts.site_id,
  attribute_texts.name,
  attribute_texts.text,
  COALESCE(
    site_meaning,
    common_meaning,
    word,
    CASE
      WHEN NOT LOWER(name) RLIKE 'out|sold|unav|discont|order|back|pre|rasprod|nedost|ausverk|vergriff|epuis|rupture|agotad|esaur|esgot'
      THEN figure
    END
  ) AS availability,
  NOT COALESCE(site_meaning, common_meaning, word) IS NULL AS is_word
FROM offers__attribute_texts AS attribute_texts
LEFT JOIN offers__usual AS usual
  USING (text)
LEFT JOIN offers__site_rules AS site_rules
  USING (site_id, key)
LEFT JOIN offers__common_rules AS common_rules
  USING (key);
-- step: offers__available
SELECT
  item_id,
  CASE WHEN MIN(availability) = MAX(availability) THEN MIN(availability) END AS availability
FROM offers__worded AS worded
GROUP BY
  item_id;
-- step: offers__conditions
SELECT
  item_id,
  COLLECT_LIST(LOWER(ARRAY_JOIN(texts, ' '))) AS conditions
FROM offers__fields AS fields
WHERE
  meaning = 'condition'
GROUP BY
  item_id;
-- step: offers__amount_texts
SELECT
  item_id,
  currency,
  meaning,
  amount
FROM offers__fields AS fields
WHERE
  meaning IN ('shipping cost', 'regular price');
-- step: offers__parsed
SELECT
  item_id,
  currency,
  meaning,
  amount,
  REGEXP_REPLACE(amount, '[\\x{a0}\\x{202f}]', ' ') AS spaced,
  LOWER(spaced) AS plain,
  REGEXP_EXTRACT(spaced, '^([^0-9.,+-]*)', 1) AS before,
  REGEXP_EXTRACT(spaced, '([0-9][0-9., ]*)', 1) AS number,
  REGEXP_EXTRACT(spaced, '([^0-9., ][^0-9.,]*)\\z', 1) AS behind,
  before || number || behind = spaced AS is_amount,
  UPPER(TRIM(before || behind)) AS unit,
  TRIM(number) AS digits
FROM offers__amount_texts AS amount_texts;
-- step: offers__amounts
SELECT
  item_id,
  currency,
  meaning,
  amount,
  CASE
    WHEN meaning = 'shipping cost'
    AND CONTAINS(
      '|free|free shipping|free delivery|besplatno|besplatna dostava|gratis|kostenlos|kostenloser versand|versandkostenfrei|gratuit|gratuite|gratuito|' || 'gratuita|envío gratis|spedizione gratuita|livraison gratuite|gratis verzending|darmowa|darmowa dostawa|za darmo|zdarma|doprava zdarma|' || 'zadarmo|ingyenes|fri frakt|fragtfri|ilmainen|δωρεάν|безплатно|бесплатно|',
      '|' || plain || '|'
    )
    THEN CAST(0 AS DECIMAL(18, 4))
    WHEN NOT is_amount
    OR unit <> ''
    AND unit <> currency
    AND NOT CONTAINS(
      ' €/EUR EURO/EUR £/GBP ZŁ/PLN KČ/CZK FT/HUF KN/HRK LEI/RON KR/SEK KR/NOK KR/DKK DIN/RSD ЛВ/BGN ЛВ./BGN KR./DKK $/USD ',
      ' ' || unit || '/' || currency || ' '
    )
    THEN NULL
    WHEN digits RLIKE '^[0-9]{1,12}[.][0-9]{4}\\z|^0[.,][0-9]{3}\\z'
    THEN TRY_CAST(REPLACE(digits, ',', '.') AS DECIMAL(18, 4))
    WHEN digits RLIKE '^[0-9]{1,12}([.,][0-9]{1,2})?\\z|^[1-9][0-9]{0,2}(([.][0-9]{3}){1,3},[0-9]{1,2}|(,[0-9]{3}){1,3}[.][0-9]{1,2}|([.][0-9]{3}){2,3}|(,[0-9]{3}){2,3}|( [0-9]{3}){1,3}([.,][0-9]{1,2})?)\\z'
    THEN TRY_CAST(TRY_CAST(REGEXP_REPLACE(digits, '[^0-9]', '') AS BIGINT) * CASE LENGTH(REGEXP_EXTRACT(digits, '[.,]([0-9]{1,2})\\z', 1))
      WHEN 2
      THEN 0.01
      WHEN 1
      THEN 0.1
      ELSE 1
    END AS DECIMAL(18, 4))
  END AS known_amount
FROM offers__parsed AS parsed;
-- step: offers__costs
SELECT
  item_id,
  CASE
    WHEN COUNT(known_amount) FILTER(WHERE
      meaning = 'shipping cost') = COUNT(*) FILTER(WHERE
      meaning = 'shipping cost')
    AND MIN(known_amount) FILTER(WHERE
      meaning = 'shipping cost') = MAX(known_amount) FILTER(WHERE
      meaning = 'shipping cost')
    THEN MIN(known_amount) FILTER(WHERE
      meaning = 'shipping cost')
  END AS shipping_cost,
  CASE
    WHEN COUNT(known_amount) FILTER(WHERE
      meaning = 'regular price') = COUNT(*) FILTER(WHERE
      meaning = 'regular price')
    AND MIN(known_amount) FILTER(WHERE
      meaning = 'regular price') = MAX(known_amount) FILTER(WHERE
      meaning = 'regular price')
    THEN MIN(known_amount) FILTER(WHERE
      meaning = 'regular price')
  END AS regular_price
FROM offers__amounts AS amounts
GROUP BY
  item_id;
-- step: offers__told_attributes, kept
SELECT
  item_id,
  availability,
  shipping_cost,
  regular_price,
  ARRAY_JOIN(conditions, ' ') AS told_condition
FROM (
  SELECT DISTINCT
    item_id
  FROM offers__read_values AS read_values
  WHERE
    NOT value IS NULL
)
LEFT JOIN offers__available AS available
  USING (item_id)
LEFT JOIN offers__costs AS costs
  USING (item_id)
LEFT JOIN offers__conditions AS conditions
  USING (item_id);
-- step: offers__alone, kept
SELECT
  item_id,
  sized.product_id,
  sized.currency,
  sized.site_id,
  sized.price,
  sized.previous_price,
  sized.jump,
  sized.seen_day,
  sized.usual_currency,
  sized.units,
  sized.unit,
  sized.millionths,
  told_attributes.availability,
  told_attributes.shipping_cost,
  told_attributes.regular_price,
  told_attributes.told_condition,
  units <= 100 AS is_nothing,
  CONTAINS(
    ' 12340000 123450000 1234560000 12345670000 11110000 111110000 1111110000 11111110000 99990000 999990000 9999990000 99999990000 ' || '999999990000 99999900 999999900 9999999900 99999999900 ',
    ' ' || units || ' '
  ) AS is_filler,
  COALESCE(ABS(jump - ROUND(jump)) <= 0.2 AND ABS(ROUND(jump)) BETWEEN 1 AND 3, FALSE) AS is_jump,
  NOT seen_day IS NULL AS is_stale,
  COALESCE(usual_currency <> currency, FALSE) AS is_foreign,
  COALESCE(availability = 'out of stock', FALSE) AS is_out,
  CASE unit
    WHEN 'kg'
    THEN 4 * millionths
    WHEN 'l'
    THEN 4 * millionths + 1
    WHEN 'm'
    THEN 4 * millionths + 2
    WHEN 'piece'
    THEN CASE WHEN millionths > 1000000 THEN 4 * millionths + 3 END
  END AS pack
FROM offers__sized AS sized
LEFT JOIN offers__told_attributes AS told_attributes
  USING (item_id);
-- step: offers__several, kept
SELECT
  product_id,
  currency
FROM offers__alone AS alone
GROUP BY
  product_id,
  currency
HAVING
  COUNT(*) > 1;
-- step: offers__described, kept
SELECT
  item_id,
  product_id,
  title,
  brand,
  attributes,
  told_condition
FROM offers__priced AS priced
LEFT JOIN offers__told_attributes AS told_attributes
  USING (item_id)
SEMI JOIN offers__several AS several
  USING (product_id);
-- step: offers__brands, kept
SELECT
  product_id,
  LOWER(brand) AS brand,
  COUNT(*) AS listings
FROM offers__described AS described
GROUP BY ALL;
-- step: offers__plain, kept
SELECT
  item_id,
  product_id,
  LOWER(brand) AS brand,
  ' ' || TRANSLATE(
    LOWER(COALESCE(title, '')),
    'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżßйёάέήίόύώ-_()[],;:!|+',
    'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzsиеαεηιουω            '
  ) || ' ' AS words,
  CASE
    WHEN NOT told_condition IS NULL
    THEN told_condition
    WHEN attributes RLIKE '(?iu:condition|stanje|zustand|[eé]tat|stan|[aá]llapot)'
    THEN LOWER(
      ARRAY_JOIN(
        ARRAY(
          GET_JSON_OBJECT(attributes, '$.condition'),
          GET_JSON_OBJECT(attributes, '$.itemCondition'),
          GET_JSON_OBJECT(attributes, '$.item_condition'),
          GET_JSON_OBJECT(attributes, '$.stanje'),
          GET_JSON_OBJECT(attributes, '$.zustand'),
          GET_JSON_OBJECT(attributes, '$.etat'),
          GET_JSON_OBJECT(attributes, '$.état'),
          GET_JSON_OBJECT(attributes, '$.stan'),
          GET_JSON_OBJECT(attributes, '$.állapot')
        ),
        ' '
      )
    )
  END AS told
FROM offers__described AS described;
-- step: offers__stemmed, kept
SELECT
  item_id,
  product_id,
  CASE
    WHEN brand IS NULL
    THEN ARRAY()
    ELSE ARRAY_APPEND(
      COALESCE(
        TRANSFORM(
          REGEXP_EXTRACT_ALL(
            TRANSLATE(
              brand,
              'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżßйёάέήίόύώ-_()[],;:!|+',
              'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzsиеαεηιουω            '
            ),
            '[a-zα-ωа-я0-9]{3,}',
            0
          ),
          word -> LEFT(word, 4)
        ),
        ARRAY()
      ),
      brand
    )
  END AS brand_stems,
  ARRAY_DISTINCT(
    CONCAT(
      brand_stems,
      TRANSFORM(
        FILTER(
          REGEXP_EXTRACT_ALL(words, '[a-zα-ωа-я]{3,}', 0),
          word -> NOT ARRAY_CONTAINS(ARRAY('kom', 'pcs', 'stk', 'szt', 'pack'), word)
        ),
        word -> LEFT(word, 4)
      )
    )
  ) AS stems
FROM offers__plain AS plain
SEMI JOIN (
  SELECT
    product_id
  FROM offers__brands AS brands
  WHERE
    listings = 1 OR brand IS NULL
) AS unsure
  USING (product_id);
-- step: offers__counted
SELECT
  product_id,
  stem
FROM (
  SELECT
    product_id,
    EXPLODE(stems) AS stem
  FROM offers__stemmed AS stemmed
)
GROUP BY
  product_id,
  stem
HAVING
  COUNT(*) > 1;
-- step: offers__shared
SELECT
  item_id,
  COUNT(*) AS stems_shared,
  COUNT(*) FILTER(WHERE
    is_of_brand) AS brands_shared
FROM (
  SELECT
    item_id,
    product_id,
    stem,
    ARRAY_CONTAINS(brand_stems, stem) AS is_of_brand
  FROM (
    SELECT
      item_id,
      product_id,
      brand_stems,
      EXPLODE(stems) AS stem
    FROM offers__stemmed AS stemmed
  )
)
SEMI JOIN offers__counted AS counted
  USING (product_id, stem)
GROUP BY
  item_id;
-- step: offers__branded
SELECT
  product_id,
  SUM(listings) FILTER(WHERE
    NOT brand IS NULL) AS branded_listings
FROM offers__brands AS brands
GROUP BY
  product_id;
-- step: offers__own_words
SELECT
  meaning,
  ' ' || TRIM(
    TRANSLATE(
      LOWER(text),
      'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżßйёάέήίόύώ-_()[],;:!|+',
      'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzsиеαεηιουω            '
    )
  ) || ' ' AS phrase
FROM offer_rules
WHERE
  rule = 'word';
-- step: offers__own_meanings
SELECT
  item_id,
  COLLECT_LIST(meaning) AS meanings
FROM offers__plain AS plain
JOIN offers__own_words AS own_words
  ON CONTAINS(words, phrase)
GROUP BY
  item_id;
-- step: offers__hinted
SELECT
  item_id,
  product_id,
  brand,
  words,
  told,
  words RLIKE ' (refurb|renew|general|obnov|recond|ricond|reacond|repas|felu|odnow|used|pre|second|gebr|b ware|b stock|rablj|polov|korist|usat|d.occ|segunda|usad|tweede|uzyw|pouz|haszn|begag|brugt|folos|open|ex disp|ausst|geoff|otvor|izloz|rozb|powyst|vyst|po |za |per |pro |je |al |au |/|rental|for |najam|iznajm|zu m|mietg|leas|nolegg|alquil|te huur|wynaj|pronaj|berel|deposit|pfand|kauti|kauc|zaloh|statieg|consig|set |lot de|bundle|multip|komplet|zestaw|sada|[0-9]+ ?er )' AS is_hinted
FROM offers__plain AS plain;
-- step: offers__told_words
SELECT
  item_id,
  CASE
    WHEN told RLIKE 'refurb|renewed|generaluberholt|generalüberholt|obnovljen|recondit|ricondiz|reacond|repasov|felújít|odnowion'
    THEN 'refurbished'
    WHEN told RLIKE 'used|second|gebraucht|rablj|polov|kori[sš]ten|usat|occasion|usad|gebruikt|używan|použit|pouzit|használt|begagnad|brugt'
    THEN 'used'
    WHEN told RLIKE 'open|display|otvoren|offen|geöffnet'
    THEN 'opened'
    WHEN told RLIKE 'new|nov|neu|nuov|nuevo|neuf|nieuw|nowy|új'
    THEN 'new'
    WHEN ARRAY_CONTAINS(meanings, 'refurbished')
    THEN 'refurbished'
    WHEN ARRAY_CONTAINS(meanings, 'used')
    THEN 'used'
    WHEN ARRAY_CONTAINS(meanings, 'opened')
    THEN 'opened'
    WHEN NOT is_hinted
    THEN NULL
    WHEN words RLIKE ' (refurbished|renewed|generaluberholt(e[rs]?)?|obnovljen[aoi]?|reconditionnee?s?|ricondizionat[aoi]|reacondicionad[ao]|repasovan[aey]|felujitott|odnowion[aey]) '
    THEN 'refurbished'
    WHEN words RLIKE ' (used|pre ?owned|second ?hand|gebraucht(e[rs]?)?|b ware|b stock|rabljen[aoi]?|polovan|polovn[aoi]|koristen[aoi]?|usat[aoi]|d.occasion|segunda mano|usad[ao]s?|tweedehands|gebruikt|uzywan[aey]|pouzit[aey]|hasznalt|begagnad|brugt|folosit[ae]?) '
    THEN 'used'
    WHEN words RLIKE ' (open(ed)? box|ex display|ausstellungsstuck|geoffnet|otvoren[aoi]? (pakiranj|kutij)[a-z]*|izlozben[aoi]?|rozbalen[aeoy]|powystawow[aey]|vystaven[aey]) '
    THEN 'opened'
  END AS condition,
  CASE
    WHEN ARRAY_CONTAINS(meanings, 'per unit')
    THEN 'per unit'
    WHEN ARRAY_CONTAINS(meanings, 'rental')
    THEN 'rental'
    WHEN ARRAY_CONTAINS(meanings, 'deposit')
    THEN 'deposit'
    WHEN NOT is_hinted
    THEN NULL
    WHEN words RLIKE ' ((cijena|cena|price|preis|prezzo|prix|precio) )?(po|za|per|pro|je|al|au|/|/ ) ?(1 )?(kg|kilogram[a-z]*|kilo|litr[a-z]*|liter|l) '
    THEN 'per unit'
    WHEN words RLIKE ' (rental|for rent|for hire|najam|iznajmljivanje|zu mieten|mietgerat|leasing|noleggio|alquiler|te huur|wynajem|pronajem|berelheto) '
    THEN 'rental'
    WHEN words RLIKE '^ +(deposit|pfand|kaution|kaucija|zaloha|kaucja|statiegeld|consigne) '
    THEN 'deposit'
  END AS terms,
  COALESCE(ARRAY_CONTAINS(meanings, 'set'), FALSE)
  OR is_hinted
  AND words RLIKE ' (set of|set od|set von|lot de|bundle|multipack|komplet od|zestaw|sada|[0-9]+ ?er (set|pack)) ' AS is_set,
  COALESCE(ARRAY_SIZE(stems) > 0, FALSE) AND stems_shared IS NULL AS is_alone,
  NOT brand IS NULL
  AND COALESCE(brands_shared, 0) = 0
  AND branded_listings > 1
  AND NOT stems IS NULL AS is_other_brand
FROM offers__hinted AS hinted
JOIN offers__branded AS branded
  USING (product_id)
LEFT JOIN offers__own_meanings AS own_meanings
  USING (item_id)
LEFT JOIN offers__stemmed AS stemmed
  USING (item_id, product_id)
LEFT JOIN offers__shared AS shared
  USING (item_id);
-- step: offers__worded_, kept
SELECT
  item_id,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  COALESCE(NULLIF(ARRAY_POSITION(ARRAY('used', 'refurbished', 'opened'), condition), 0), 0) AS condition_code,
  COALESCE(NULLIF(ARRAY_POSITION(ARRAY('per unit', 'rental', 'deposit'), terms), 0), 0) AS terms_code
FROM offers__told_words AS told_words;
-- step: offers__usual_words
SELECT
  product_id,
  currency,
  (
    ARRAY_MAX(
      TRANSFORM(
        ARRAY_DISTINCT(FILTER(ARRAY_SORT(COLLECT_LIST(condition_code)), one -> NOT one IS NULL)),
        one -> NAMED_STRUCT(
          'n',
          ARRAY_SIZE(FILTER(ARRAY_SORT(COLLECT_LIST(condition_code)), two -> two = one)),
          'low',
          -one
        )
      )
    ).low * -1
  ) AS usual_condition,
  (
    ARRAY_MAX(
      TRANSFORM(
        ARRAY_DISTINCT(FILTER(ARRAY_SORT(COLLECT_LIST(terms_code)), one -> NOT one IS NULL)),
        one -> NAMED_STRUCT(
          'n',
          ARRAY_SIZE(FILTER(ARRAY_SORT(COLLECT_LIST(terms_code)), two -> two = one)),
          'low',
          -one
        )
      )
    ).low * -1
  ) AS usual_terms
FROM offers__alone AS alone
JOIN offers__worded_ AS worded
  USING (item_id)
GROUP BY
  product_id,
  currency
HAVING
  MAX(condition_code) + MAX(terms_code) > 0;
-- step: offers__packs
SELECT
  product_id,
  currency,
  (
    ARRAY_MAX(
      TRANSFORM(
        ARRAY_DISTINCT(FILTER(ARRAY_SORT(COLLECT_LIST(pack)), one -> NOT one IS NULL)),
        one -> NAMED_STRUCT('n', ARRAY_SIZE(FILTER(ARRAY_SORT(COLLECT_LIST(pack)), two -> two = one)), 'low', -one)
      )
    ).low * -1
  ) AS usual_pack
FROM offers__alone AS alone
SEMI JOIN offers__several AS several
  USING (product_id, currency)
GROUP BY
  product_id,
  currency
HAVING
  MIN(pack) <> MAX(pack);
-- step: offers__packed, kept
SELECT
  alone.item_id,
  alone.product_id,
  alone.currency,
  alone.site_id,
  alone.price,
  alone.previous_price,
  alone.jump,
  alone.seen_day,
  alone.usual_currency,
  alone.units,
  alone.unit,
  alone.millionths,
  alone.availability,
  alone.shipping_cost,
  alone.regular_price,
  alone.told_condition,
  alone.is_nothing,
  alone.is_filler,
  alone.is_jump,
  alone.is_stale,
  alone.is_foreign,
  alone.is_out,
  alone.pack,
  alone.is_sound,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  COALESCE(usual_condition <> condition_code, FALSE) AS is_other_condition,
  COALESCE(usual_terms <> terms_code, FALSE) AS is_other_terms,
  usual_pack,
  COALESCE(
    CASE
      WHEN pack % 4 = usual_pack % 4
      THEN ABS(pack DIV 4 - usual_pack DIV 4) > 0.05 * (
        usual_pack DIV 4
      )
      ELSE pack % 4 <> 3 AND usual_pack % 4 <> 3
    END,
    FALSE
  ) AS is_other_pack,
  COALESCE(
    pack % 4 = usual_pack % 4
    AND pack DIV 4 >= 4 * (
      usual_pack DIV 4
    )
    AND (
      pack DIV 4
    ) % (
      usual_pack DIV 4
    ) = 0,
    FALSE
  )
  AND NOT (
    is_other_condition OR is_other_terms
  )
  AND is_sound AS may_be_case,
  is_sound AND NOT (
    is_other_pack OR is_other_condition OR is_other_terms
  ) AS is_comparable,
  is_comparable AND NOT is_filler AND NOT is_jump AS is_reference
FROM (
  SELECT
    item_id,
    product_id,
    currency,
    site_id,
    price,
    previous_price,
    jump,
    seen_day,
    usual_currency,
    units,
    unit,
    millionths,
    availability,
    shipping_cost,
    regular_price,
    told_condition,
    is_nothing,
    is_filler,
    is_jump,
    is_stale,
    is_foreign,
    is_out,
    pack,
    NOT (
      is_nothing OR is_stale OR is_foreign OR is_out
    ) AS is_sound
  FROM offers__alone AS alone
) AS alone
LEFT JOIN offers__packs AS packs
  USING (product_id, currency)
LEFT JOIN offers__usual_words AS usual_words
  USING (product_id, currency)
LEFT JOIN offers__worded_ AS worded
  USING (item_id);
-- step: offers__shops, kept
SELECT
  product_id,
  currency,
  site_id,
  COUNT(*) AS listings,
  MIN(units) FILTER(WHERE
    is_reference) AS shop_price
FROM offers__packed AS packed
SEMI JOIN offers__several AS several
  USING (product_id, currency)
GROUP BY
  product_id,
  currency,
  site_id;
-- step: offers__price_groups, kept
SELECT
  product_id || ' ' || currency AS key,
  product_id,
  currency,
  ARRAY_SORT(COLLECT_LIST(shop_price)) AS prices
FROM offers__shops AS shops
WHERE
  NOT shop_price IS NULL
GROUP BY
  product_id,
  currency;
-- step: offers__middles
SELECT
  key,
  prices,
  ARRAY_SIZE(prices) AS n,
  CAST(GET(prices, (
    (
      n + 1
    ) DIV 2
  ) - 1) AS DECIMAL(38, 0)) * GET(prices, (
    n DIV 2 + 1
  ) - 1) AS middle_squared
FROM offers__price_groups AS price_groups
WHERE
  ARRAY_SIZE(prices) >= 4;
-- step: offers__distances
SELECT
  key,
  n,
  middle_squared,
  ARRAY_SORT(TRANSFORM(prices, price -> ABS(LN(price) - LN(middle_squared) / 2))) AS gaps
FROM offers__middles AS middles
WHERE
  CAST(GET(prices, n - 1) AS DECIMAL(38, 0)) * GET(prices, n - 1) > 4 * middle_squared
  OR 4 * (
    CAST(GET(prices, 0) AS DECIMAL(38, 0)) * GET(prices, 0)
  ) < middle_squared;
-- step: offers__outlier_limits
SELECT
  key,
  middle_squared,
  3.5 * 1.4826 * (
    GET(gaps, (
      (
        n + 1
      ) DIV 2
    ) - 1) + GET(gaps, (
      n DIV 2 + 1
    ) - 1)
  ) / 2 AS log_limit
FROM offers__distances AS distances;
-- step: offers__joined
SELECT
  packed.item_id,
  packed.product_id,
  packed.currency,
  packed.site_id,
  packed.price,
  packed.previous_price,
  packed.jump,
  packed.seen_day,
  packed.usual_currency,
  packed.units,
  packed.unit,
  packed.millionths,
  packed.availability,
  packed.shipping_cost,
  packed.regular_price,
  packed.told_condition,
  packed.is_nothing,
  packed.is_filler,
  packed.is_jump,
  packed.is_stale,
  packed.is_foreign,
  packed.is_out,
  packed.pack,
  packed.is_sound,
  packed.condition,
  packed.terms,
  packed.is_set,
  packed.is_alone,
  packed.is_other_brand,
  packed.is_other_condition,
  packed.is_other_terms,
  packed.usual_pack,
  packed.is_other_pack,
  packed.may_be_case,
  packed.is_comparable,
  packed.is_reference,
  prices,
  ARRAY_SIZE(prices) AS shops,
  NULLIF(
    ARRAY_POSITION(prices, COALESCE(shop_price, CASE WHEN is_reference THEN units END)),
    0
  ) AS place,
  middle_squared,
  log_limit,
  listings
FROM offers__packed AS packed
LEFT JOIN offers__price_groups AS price_groups
  USING (product_id, currency)
LEFT JOIN (
  SELECT
    product_id,
    currency,
    site_id,
    listings,
    shop_price
  FROM offers__shops AS shops
  WHERE
    listings > 1
) AS shops
  USING (product_id, currency, site_id)
LEFT JOIN offers__outlier_limits AS outlier_limits
  USING (key);
-- step: offers__placed
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  units,
  unit,
  millionths,
  availability,
  shipping_cost,
  regular_price,
  told_condition,
  is_nothing,
  is_filler,
  is_jump,
  is_stale,
  is_foreign,
  is_out,
  pack,
  is_sound,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  is_other_condition,
  is_other_terms,
  usual_pack,
  is_other_pack,
  may_be_case,
  is_comparable,
  is_reference,
  prices,
  middle_squared,
  log_limit,
  listings,
  COALESCE(place, shops + 1) AS own,
  (
    CASE WHEN place IS NULL THEN shops + 1 ELSE shops END
  ) DIV 2 AS low_place,
  (
    CASE WHEN place IS NULL THEN shops ELSE shops - 1 END
  ) DIV 2 + 1 AS high_place
FROM offers__joined AS joined;
-- step: offers__compared
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  units,
  unit,
  millionths,
  availability,
  shipping_cost,
  regular_price,
  told_condition,
  is_nothing,
  is_filler,
  is_jump,
  is_stale,
  is_foreign,
  is_out,
  pack,
  is_sound,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  is_other_condition,
  is_other_terms,
  usual_pack,
  is_other_pack,
  may_be_case,
  is_comparable,
  is_reference,
  middle_squared,
  log_limit,
  listings,
  units / CAST(GET(prices, (
    low_place + CAST((
      low_place >= own
    ) AS INT)
  ) - 1) AS DOUBLE) AS from_low,
  units / CAST(GET(prices, (
    high_place + CAST((
      high_place >= own
    ) AS INT)
  ) - 1) AS DOUBLE) AS from_high,
  COALESCE(
    own <= ARRAY_SIZE(prices)
    AND (
      CAST(GET(prices, (
        own + 1
      ) - 1) AS DOUBLE) / units <= 1.05
      OR own > 1
      AND units / CAST(GET(prices, (
        own - 1
      ) - 1) AS DOUBLE) <= 1.05
    ),
    FALSE
  ) AS has_twin
FROM offers__placed AS placed;
-- step: offers__measured
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  units,
  unit,
  millionths,
  availability,
  shipping_cost,
  regular_price,
  told_condition,
  is_nothing,
  is_filler,
  is_jump,
  is_stale,
  is_foreign,
  is_out,
  pack,
  is_sound,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  is_other_condition,
  is_other_terms,
  usual_pack,
  is_other_pack,
  may_be_case,
  is_comparable,
  is_reference,
  middle_squared,
  log_limit,
  listings,
  from_low,
  from_high,
  has_twin,
  CASE WHEN units > 0 THEN SQRT(from_low * from_high) END AS price_ratio,
  CASE WHEN units > 0 THEN LOG10(from_low) END AS low_log,
  CASE WHEN units > 0 THEN LOG10(from_high) END AS high_log
FROM offers__compared AS compared;
-- step: offers__decided
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  units,
  unit,
  millionths,
  availability,
  shipping_cost,
  regular_price,
  told_condition,
  is_nothing,
  is_filler,
  is_jump,
  is_stale,
  is_foreign,
  is_out,
  pack,
  is_sound,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  is_other_condition,
  is_other_terms,
  usual_pack,
  is_other_pack,
  may_be_case,
  is_comparable,
  is_reference,
  middle_squared,
  log_limit,
  listings,
  from_low,
  from_high,
  has_twin,
  price_ratio,
  low_log,
  high_log,
  COALESCE(may_be_case AND price_ratio BETWEEN 0.67 AND 1.5, FALSE) AS is_case,
  is_nothing OR is_filler AND COALESCE(NOT price_ratio BETWEEN 0.5 AND 2, FALSE) AS is_placeholder,
  is_jump
  AND COALESCE(NOT price_ratio BETWEEN 0.5 AND 2, TRUE)
  OR COALESCE(
    ABS(low_log - ROUND(low_log)) <= 0.2
    AND ABS(ROUND(low_log)) BETWEEN 1 AND 3
    AND ABS(high_log - ROUND(high_log)) <= 0.2
    AND ABS(ROUND(high_log)) BETWEEN 1 AND 3,
    FALSE
  ) AS is_off_scale,
  CASE
    WHEN NOT log_limit IS NULL AND units > 0
    THEN (
      CAST(units AS DECIMAL(38, 0)) * units > 4 * middle_squared
      OR 4 * (
        CAST(units AS DECIMAL(38, 0)) * units
      ) < middle_squared
    )
    AND ABS(LN(units) - LN(middle_squared) / 2) > log_limit
    AND NOT (
      log_limit = 0
      AND has_twin
      AND CAST(units AS DECIMAL(38, 0)) * units < middle_squared
    )
    ELSE FALSE
  END AS is_far_out
FROM offers__measured AS measured;
-- step: offers__ranked, kept
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  units,
  unit,
  millionths,
  availability,
  shipping_cost,
  regular_price,
  told_condition,
  is_nothing,
  is_filler,
  is_jump,
  is_stale,
  is_foreign,
  is_out,
  pack,
  is_sound,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  is_other_condition,
  is_other_terms,
  usual_pack,
  is_other_pack AND NOT is_case AS is_other_pack,
  may_be_case,
  is_comparable,
  is_reference,
  middle_squared,
  log_limit,
  listings,
  from_low,
  from_high,
  has_twin,
  price_ratio,
  low_log,
  high_log,
  is_case,
  is_placeholder,
  is_off_scale,
  is_far_out,
  CAST(units AS DECIMAL(38, 0)) * 18446744073709551616 + item_id AS rank,
  (
    is_comparable OR is_case
  )
  AND NOT (
    is_placeholder OR is_off_scale OR is_far_out
  ) AS is_in_order
FROM offers__decided AS decided;
-- step: offers__firsts
SELECT
  product_id,
  currency,
  site_id,
  MIN(rank) AS first_rank
FROM offers__ranked AS ranked
WHERE
  listings > 1 AND is_in_order
GROUP BY
  product_id,
  currency,
  site_id;
-- step: offers__repeated
SELECT
  ranked.item_id,
  ranked.product_id,
  ranked.currency,
  ranked.site_id,
  ranked.price,
  ranked.previous_price,
  ranked.jump,
  ranked.seen_day,
  ranked.usual_currency,
  ranked.units,
  ranked.unit,
  ranked.millionths,
  ranked.availability,
  ranked.shipping_cost,
  ranked.regular_price,
  ranked.told_condition,
  ranked.is_nothing,
  ranked.is_filler,
  ranked.is_jump,
  ranked.is_stale,
  ranked.is_foreign,
  ranked.is_out,
  ranked.pack,
  ranked.is_sound,
  ranked.condition,
  ranked.terms,
  ranked.is_set,
  ranked.is_alone,
  ranked.is_other_brand,
  ranked.is_other_condition,
  ranked.is_other_terms,
  ranked.usual_pack,
  ranked.is_other_pack,
  ranked.may_be_case,
  ranked.is_comparable,
  ranked.is_reference,
  ranked.middle_squared,
  ranked.log_limit,
  ranked.from_low,
  ranked.from_high,
  ranked.has_twin,
  ranked.price_ratio,
  ranked.low_log,
  ranked.high_log,
  ranked.is_case,
  ranked.is_placeholder,
  ranked.is_off_scale,
  ranked.is_far_out,
  ranked.is_in_order,
  is_in_order AND COALESCE(rank > first_rank, FALSE) AS is_repeated
FROM offers__ranked AS ranked
LEFT JOIN offers__firsts AS firsts
  USING (product_id, currency, site_id);
-- step: offers__judged
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  units,
  unit,
  millionths,
  availability,
  shipping_cost,
  regular_price,
  told_condition,
  is_nothing,
  is_filler,
  is_jump,
  is_stale,
  is_foreign,
  is_out,
  pack,
  is_sound,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  is_other_condition,
  is_other_terms,
  usual_pack,
  is_other_pack,
  may_be_case,
  is_comparable,
  is_reference,
  middle_squared,
  log_limit,
  from_low,
  from_high,
  has_twin,
  price_ratio,
  low_log,
  high_log,
  is_case,
  is_placeholder,
  is_off_scale,
  is_far_out,
  is_in_order,
  is_repeated,
  is_off_scale AND NOT is_placeholder AND NOT is_other_pack AS is_scaled,
  is_far_out AND NOT is_placeholder AND NOT is_other_pack AND NOT is_off_scale AS is_outlier,
  is_repeated OR NOT is_in_order AS is_found,
  COALESCE(
    unit IN ('kg', 'l')
    AND NOT price_ratio BETWEEN 0.67 AND 1.5
    AND price_ratio * millionths BETWEEN 950000 AND 1050000,
    FALSE
  ) AS is_unit_price,
  COALESCE(is_set AND price_ratio > 1.5, FALSE) AS is_larger
FROM offers__repeated AS repeated;
-- step: offers__told_
SELECT
  item_id,
  product_id,
  currency,
  site_id,
  price,
  previous_price,
  jump,
  seen_day,
  usual_currency,
  units,
  unit,
  millionths,
  availability,
  shipping_cost,
  regular_price,
  told_condition,
  is_nothing,
  is_filler,
  is_jump,
  is_stale,
  is_foreign,
  is_out,
  pack,
  is_sound,
  condition,
  terms,
  is_set,
  is_alone,
  is_other_brand,
  is_other_condition,
  is_other_terms,
  usual_pack,
  is_other_pack,
  may_be_case,
  is_comparable,
  is_reference,
  middle_squared,
  log_limit,
  from_low,
  from_high,
  has_twin,
  price_ratio,
  low_log,
  high_log,
  is_case,
  is_placeholder,
  is_off_scale,
  is_far_out,
  is_in_order,
  is_repeated,
  is_scaled,
  is_outlier,
  is_found,
  is_unit_price,
  is_larger,
  CASE
    WHEN is_found
    THEN FILTER(
      ARRAY(
        CASE
          WHEN is_placeholder
          THEN NAMED_STRUCT('finding', 'placeholder', 'why', 'a price that fills a field')
        END,
        CASE
          WHEN is_foreign
          THEN NAMED_STRUCT('finding', 'currency', 'why', 'the shop sells in ' || usual_currency)
        END,
        CASE
          WHEN is_stale
          THEN NAMED_STRUCT('finding', 'stale', 'why', 'its source was last seen on ' || seen_day)
        END,
        CASE
          WHEN is_out
          THEN NAMED_STRUCT('finding', 'out_of_stock', 'why', 'out of stock')
        END,
        CASE
          WHEN is_scaled
          THEN NAMED_STRUCT(
            'finding',
            'scale',
            'why',
            CASE
              WHEN price_ratio > 2
              THEN CONCAT(FORMAT_NUMBER(price_ratio, '0.0'), ' times the price of other shops')
              WHEN price_ratio < 0.5
              THEN CONCAT('other shops ask ', FORMAT_NUMBER(1 / price_ratio, '0.0'), ' times as much')
              WHEN NOT is_jump
              THEN 'between two prices that are 10, 100 or 1,000 times as far apart'
              WHEN jump > 0
              THEN CONCAT(FORMAT_NUMBER(POWER(10, jump), '0.0'), ' times its price before')
              ELSE CONCAT('its price before was ', FORMAT_NUMBER(POWER(10, -jump), '0.0'), ' times as much')
            END
          )
        END,
        CASE
          WHEN is_other_pack
          THEN NAMED_STRUCT(
            'finding',
            'pack',
            'why',
            CONCAT(
              CASE
                WHEN (
                  pack DIV 4
                ) < 10
                THEN CONCAT((
                  pack DIV 4
                ), 'e-06')
                WHEN (
                  pack DIV 4
                ) < 100 AND (
                  pack DIV 4
                ) % 10 = 0
                THEN CONCAT((
                  pack DIV 4
                ) DIV 10, 'e-05')
                WHEN (
                  pack DIV 4
                ) < 100
                THEN CONCAT((
                  pack DIV 4
                ) DIV 10, '.', (
                  pack DIV 4
                ) % 10, 'e-05')
                ELSE FORMAT_NUMBER(pack DIV 4 / 1e6, '0.0#####')
              END,
              ' ',
              unit,
              ', others ',
              CASE
                WHEN (
                  usual_pack DIV 4
                ) < 10
                THEN CONCAT((
                  usual_pack DIV 4
                ), 'e-06')
                WHEN (
                  usual_pack DIV 4
                ) < 100 AND (
                  usual_pack DIV 4
                ) % 10 = 0
                THEN CONCAT((
                  usual_pack DIV 4
                ) DIV 10, 'e-05')
                WHEN (
                  usual_pack DIV 4
                ) < 100
                THEN CONCAT((
                  usual_pack DIV 4
                ) DIV 10, '.', (
                  usual_pack DIV 4
                ) % 10, 'e-05')
                ELSE FORMAT_NUMBER(usual_pack DIV 4 / 1e6, '0.0#####')
              END,
              ' ',
              GET(ARRAY('kg', 'l', 'm', 'piece'), (
                usual_pack % 4 + 1
              ) - 1)
            )
          )
        END,
        CASE
          WHEN is_other_condition
          THEN NAMED_STRUCT('finding', 'condition', 'why', COALESCE(condition, 'not said to be as the others are'))
        END,
        CASE
          WHEN is_other_terms
          THEN NAMED_STRUCT('finding', 'terms', 'why', COALESCE(terms, 'not said to be as the others are'))
        END,
        CASE
          WHEN is_outlier
          THEN NAMED_STRUCT(
            'finding',
            'outlier',
            'why',
            CASE
              WHEN price_ratio > 1
              THEN CONCAT(FORMAT_NUMBER(price_ratio, '0.0'), ' times the price of other shops')
              ELSE CONCAT('other shops ask ', FORMAT_NUMBER(1 / price_ratio, '0.0'), ' times as much')
            END
          )
        END,
        CASE
          WHEN is_repeated
          THEN NAMED_STRUCT(
            'finding',
            'duplicate',
            'why',
            'the shop lists the product more than once; a lower price counts'
          )
        END
      ),
      one -> NOT one IS NULL
    )
  END AS found,
  CASE
    WHEN NOT is_found AND (
      is_alone OR is_other_brand OR is_unit_price OR is_larger
    )
    THEN FILTER(
      ARRAY(
        CASE
          WHEN is_alone
          THEN NAMED_STRUCT('finding', 'title', 'why', 'no word of its title is in the others')
        END,
        CASE
          WHEN is_other_brand AND NOT is_alone
          THEN NAMED_STRUCT('finding', 'brand', 'why', 'another brand than the others')
        END,
        CASE
          WHEN is_unit_price
          THEN NAMED_STRUCT('finding', 'unit_price', 'why', 'what the others ask for a ' || unit)
        END,
        CASE
          WHEN is_larger
          THEN NAMED_STRUCT('finding', 'set', 'why', 'may be several pieces')
        END
      ),
      one -> NOT one IS NULL
    )
  END AS doubted
FROM offers__judged AS judged;
-- step: offers
SELECT
  product_id,
  currency,
  item_id,
  site_id,
  price,
  NOT is_found AS is_counted,
  CASE WHEN is_found THEN TRANSFORM(found, one -> one.finding) ELSE ARRAY() END AS findings,
  CASE
    WHEN is_found
    THEN ARRAY_JOIN(TRANSFORM(found, one -> one.why), '; ')
    WHEN NOT doubted IS NULL
    THEN ARRAY_JOIN(TRANSFORM(doubted, one -> one.why), '; ')
  END AS reason,
  price_ratio,
  millionths / 1e6 AS quantity,
  unit,
  CASE
    WHEN price > 0 AND NOT is_case
    THEN TRY_CAST(TRY_CAST(CAST((
      (
        2000000 * CAST(units AS DECIMAL(38, 0)) + millionths
      ) - (
        2000000 * CAST(units AS DECIMAL(38, 0)) + millionths
      ) % (
        2 * millionths
      )
    ) / (
      2 * millionths
    ) AS DECIMAL(38, 0)) AS BIGINT) * 0.0001 AS DECIMAL(18, 4))
  END AS unit_price,
  CAST(:run_id AS STRING) AS run_id,
  CASE
    WHEN doubted IS NULL
    THEN ARRAY()
    ELSE TRANSFORM(doubted, one -> one.finding)
  END AS doubts,
  condition,
  previous_price,
  availability,
  shipping_cost,
  TRY_CAST(price + shipping_cost AS DECIMAL(18, 4)) AS delivered_price,
  regular_price
FROM offers__told_ AS told;
