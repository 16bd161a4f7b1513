-- part of: judged_offers
-- The words of title, brand and attributes as evidence. From described (item_id, product_id, title, brand, attributes,
-- told_condition): the listings of products that several sell. condition: used, refurbished or opened, by the attributes
-- that the pipeline file maps, else by condition, stanje, zustand, état, stan or állapot, or by words of the title (new
-- if an attribute says so); null if nothing says. terms: rental, deposit or per unit. is_set: words for several pieces
-- sold as one. is_alone: no word of title and brand is in another listing of the product; is_other_brand: others name a
-- brand, and no word of this one's brand is among the words of another listing. Words are compared by their first four
-- letters, without case and accents; words shorter than three letters, and units, tell nothing. Words of offer_rules
-- (rule word) count like those written here.
-- If each listing of a product has the brand of another one, no word has to be looked at.
WITH brands AS (
  SELECT product_id, lower(brand) AS brand, count(*) AS listings FROM described GROUP BY ALL
),
plain AS (
  SELECT
    item_id,
    product_id,
    lower(brand) AS brand,
    ' ' || translate(
      lower(coalesce(title, '')),
      'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżßйёάέήίόύώ-_()[],;:!|+',
      'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzsиеαεηιουω            '
    ) || ' ' AS words,
    CASE WHEN told_condition IS NOT NULL THEN told_condition WHEN regexp_matches(attributes, '(?i:condition|stanje|zustand|[eé]tat|stan|[aá]llapot)') THEN lower(array_to_string(json_extract_string(attributes, [
      '$.condition', '$.itemCondition', '$.item_condition', '$.stanje', '$.zustand', '$.etat', '$.état', '$.stan', '$.állapot'
    ]), ' ')) END AS told
  FROM described
),
stemmed AS (
  SELECT
    item_id,
    product_id,
    CASE WHEN brand IS NULL THEN [] ELSE list_append(
      [left(word, 4) FOR word IN regexp_extract_all(translate(
        brand,
        'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżßйёάέήίόύώ-_()[],;:!|+',
        'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzsиеαεηιουω            '
      ), '[a-zα-ωа-я0-9]{3,}')],
      brand
    ) END AS brand_stems,
    list_distinct(list_concat(
      brand_stems,
      [left(word, 4) FOR word IN regexp_extract_all(words, '[a-zα-ωа-я]{3,}') IF NOT list_contains(['kom', 'pcs', 'stk', 'szt', 'pack'], word)]
    )) AS stems
  FROM plain
  SEMI JOIN (SELECT product_id FROM brands WHERE listings = 1 OR brand IS NULL) AS unsure USING (product_id)
),
counted AS (
  SELECT product_id, stem
  FROM (SELECT product_id, unnest(stems) AS stem FROM stemmed)
  GROUP BY product_id, stem
  HAVING count(*) > 1
),
shared AS (
  SELECT item_id, count(*) AS stems_shared, count(*) FILTER (is_of_brand) AS brands_shared
  FROM (
    SELECT item_id, product_id, stem, list_contains(brand_stems, stem) AS is_of_brand
    FROM (SELECT item_id, product_id, brand_stems, unnest(stems) AS stem FROM stemmed)
  )
  SEMI JOIN counted USING (product_id, stem)
  GROUP BY item_id
),
branded AS (
  SELECT product_id, sum(listings) FILTER (brand IS NOT NULL) AS branded_listings FROM brands GROUP BY product_id
),
-- The pipeline file's own words, as parts of titles.
own_words AS (
  SELECT
    meaning,
    ' ' || trim(translate(
      lower(text),
      'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżßйёάέήίόύώ-_()[],;:!|+',
      'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzsиеαεηιουω            '
    )) || ' ' AS phrase
  FROM offer_rules
  WHERE rule = 'word'
),
own_meanings AS (
  SELECT item_id, list(meaning) AS meanings FROM plain JOIN own_words ON contains(words, phrase) GROUP BY item_id
),
hinted AS (
  SELECT
    *,
    -- Most titles have none of these words, so one look is enough.
    regexp_matches(words, ' (refurb|renew|general|obnov|recond|ricond|reacond|repas|felu|odnow|used|pre|second|gebr|b ware|b stock|rablj|polov|korist|usat|d.occ|segunda|usad|tweede|uzyw|pouz|haszn|begag|brugt|folos|open|ex disp|ausst|geoff|otvor|izloz|rozb|powyst|vyst|po |za |per |pro |je |al |au |/|rental|for |najam|iznajm|zu m|mietg|leas|nolegg|alquil|te huur|wynaj|pronaj|berel|deposit|pfand|kauti|kauc|zaloh|statieg|consig|set |lot de|bundle|multip|komplet|zestaw|sada|[0-9]+ ?er )') AS is_hinted
  FROM plain
)
SELECT
  item_id,
  CASE
    WHEN regexp_matches(told, 'refurb|renewed|generaluberholt|generalüberholt|obnovljen|recondit|ricondiz|reacond|repasov|felújít|odnowion') THEN 'refurbished'
    WHEN regexp_matches(told, 'used|second|gebraucht|rablj|polov|kori[sš]ten|usat|occasion|usad|gebruikt|używan|použit|pouzit|használt|begagnad|brugt') THEN 'used'
    WHEN regexp_matches(told, 'open|display|otvoren|offen|geöffnet') THEN 'opened'
    WHEN regexp_matches(told, 'new|nov|neu|nuov|nuevo|neuf|nieuw|nowy|új') THEN 'new'
    WHEN list_contains(meanings, 'refurbished') THEN 'refurbished'
    WHEN list_contains(meanings, 'used') THEN 'used'
    WHEN list_contains(meanings, 'opened') THEN 'opened'
    WHEN NOT is_hinted THEN NULL
    WHEN regexp_matches(words, ' (refurbished|renewed|generaluberholt(e[rs]?)?|obnovljen[aoi]?|reconditionnee?s?|ricondizionat[aoi]|reacondicionad[ao]|repasovan[aey]|felujitott|odnowion[aey]) ') THEN 'refurbished'
    WHEN regexp_matches(words, ' (used|pre ?owned|second ?hand|gebraucht(e[rs]?)?|b ware|b stock|rabljen[aoi]?|polovan|polovn[aoi]|koristen[aoi]?|usat[aoi]|d.occasion|segunda mano|usad[ao]s?|tweedehands|gebruikt|uzywan[aey]|pouzit[aey]|hasznalt|begagnad|brugt|folosit[ae]?) ') THEN 'used'
    WHEN regexp_matches(words, ' (open(ed)? box|ex display|ausstellungsstuck|geoffnet|otvoren[aoi]? (pakiranj|kutij)[a-z]*|izlozben[aoi]?|rozbalen[aeoy]|powystawow[aey]|vystaven[aey]) ') THEN 'opened'
  END AS condition,
  CASE
    WHEN list_contains(meanings, 'per unit') THEN 'per unit'
    WHEN list_contains(meanings, 'rental') THEN 'rental'
    WHEN list_contains(meanings, 'deposit') THEN 'deposit'
    WHEN NOT is_hinted THEN NULL
    WHEN regexp_matches(words, ' ((cijena|cena|price|preis|prezzo|prix|precio) )?(po|za|per|pro|je|al|au|/|/ ) ?(1 )?(kg|kilogram[a-z]*|kilo|litr[a-z]*|liter|l) ') THEN 'per unit'
    WHEN regexp_matches(words, ' (rental|for rent|for hire|najam|iznajmljivanje|zu mieten|mietgerat|leasing|noleggio|alquiler|te huur|wynajem|pronajem|berelheto) ') THEN 'rental'
    WHEN regexp_matches(words, '^ +(deposit|pfand|kaution|kaucija|zaloha|kaucja|statiegeld|consigne) ') THEN 'deposit'
  END AS terms,
  coalesce(list_contains(meanings, 'set'), false)
    OR is_hinted AND regexp_matches(words, ' (set of|set od|set von|lot de|bundle|multipack|komplet od|zestaw|sada|[0-9]+ ?er (set|pack)) ') AS is_set,
  coalesce(len(stems) > 0, false) AND stems_shared IS NULL AS is_alone,
  brand IS NOT NULL AND coalesce(brands_shared, 0) = 0 AND branded_listings > 1 AND stems IS NOT NULL AS is_other_brand
FROM hinted
JOIN branded USING (product_id)
LEFT JOIN own_meanings USING (item_id)
LEFT JOIN stemmed USING (item_id, product_id)
LEFT JOIN shared USING (item_id)
