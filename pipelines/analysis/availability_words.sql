-- part of: offer_attributes, availability and attribute_proposals
-- Converts attribute values to availability: in stock, out of stock or on order; null if unknown. Reads attribute_texts
-- (site_id, name, text and other columns); returns these columns, availability, and is_word, which is false if the
-- availability only follows from true, false or a number. Values are compared without case, accents, spaces,
-- punctuation and the address of schema.org. The values in offer_rules (rule value) come first: the website's own
-- values, then the values for all websites. Then come the values of schema.org and of Google's feeds, words of European
-- languages, true and false, and numbers of pieces, where zero means out of stock. For a negative number, a range or
-- "fewer than", the availability is unknown. It is also unknown for true, false and numbers of an attribute whose name
-- says that goods are sold out or expected.
WITH texts AS (
  SELECT text FROM attribute_texts WHERE text IS NOT NULL
  UNION
  SELECT text FROM offer_rules WHERE rule = 'value'
),
keyed AS (
  SELECT
    text,
    lower(trim(text)) AS plain,
    -- A value that is only a symbol, such as a check mark, stays unchanged.
    coalesce(nullif(regexp_replace(translate(
      regexp_replace(plain, '^https?://(www[.])?schema[.]org/', ''),
      'àáâãäåāăąæçćčďđèéêëēėęěğìíîïīįıłľĺñńňòóôõöøőŕřśšşșťțùúûüůűūýÿžźżßйёάέήίόύώς',
      'aaaaaaaaaacccddeeeeeeeegiiiiiiilllnnnooooooorrssssttuuuuuuuyyzzzsиеαεηιουωσ'
    ), '[^\p{L}\p{N}]', '', 'g'), ''), plain) AS key
  FROM texts
),
usual AS (
  SELECT
    text,
    key,
    CASE
      WHEN contains(
        ' instock instoreonly onlineonly limitedavailability limitedstock lowstock available availablenow onstock stocked '
          || 'nazalihi zalihi dostupno dostupan dostupna raspolozivo raspoloziv raspoloziva naskladistu imanazalihi odmahdostupno '
          || 'nastanju nalageru ustock nazalogi navoljo dobavljivotakoj '
          || 'auflager lieferbar sofortlieferbar verfugbar sofortverfugbar vorratig lagernd anlager '
          || 'enstock disponible disponibles disponibile dispo instoc disponibil inmagazzino enexistencias endisponibilidad disponivel emstock emestoque '
          || 'opvoorraad leverbaar beschikbaar directleverbaar dostepny dostepna dostepne wmagazynie '
          || 'skladem nasklade dostupne raktaron keszleten elerheto raktarrol '
          || 'ilager palager paalager tillganglig varastossa saatavilla διαθεσιμο διαθεσιμα σεαποθεμα αμεσαδιαθεσιμο '
          || 'вналичност наличен вналичии естьвналичии внаявності ',
        ' ' || key || ' ') THEN 'in stock'
      WHEN contains(
        ' outofstock oos soldout discontinued unavailable notavailable notinstock nostock outstock temporarilyoutofstock '
          || 'temporarilyunavailable currentlyunavailable currentlyoutofstock '
          || 'nijenazalihi nemanazalihi nedostupno nedostupan nedostupna nijedostupno rasprodano rasprodan rasprodana nijeraspolozivo '
          || 'trenutnonedostupno trenutnonijedostupno trenutnonijenazalihi nemanastanju nijenastanju nijenalageru ninazalogi nizaloge razprodano '
          || 'nichtauflager nichtlieferbar nichtverfugbar ausverkauft vergriffen derzeitnichtlieferbar derzeitnichtverfugbar '
          || 'zurzeitnichtlieferbar momentannichtverfugbar nichtvorratig '
          || 'rupturedestock enrupture enrupturedestock rupture epuise indisponible nondisponible pasenstock horsstock '
          || 'esaurito nondisponibile agotado agotada sinstock sinexistencias nodisponible esgotado indisponivel semstock '
          || 'uitverkocht nietopvoorraad nietleverbaar nietbeschikbaar niedostepny niedostepna niedostepne brak wyprzedany wyprzedane brakwmagazynie '
          || 'vyprodano neniskladem nedostupne nieskladom vypredane nieniesklade elfogyott nincsraktaron nincskeszleten nemelerheto '
          || 'stocepuizat indisponibil nuesteinstoc slutsald slutilager ejilager udsolgt ikkepalager utsolgt loppu loppuunmyyty eivarastossa '
          || 'εξαντλημενο εξαντληθηκε μηδιαθεσιμο изчерпан неналичен нетвналичии нетунаявності ',
        ' ' || key || ' ') THEN 'out of stock'
      WHEN contains(
        ' backorder backordered onbackorder preorder presale madetoorder onorder onrequest byorder toorder specialorder availableonorder '
          || 'availableforpreorder availableforbackorder '
          || 'ponarudzbi nanarudzbu dostupnoponarudzbi prednarudzba poporudzbini ponarocilu prednarocilo '
          || 'aufbestellung vorbestellung vorbestellbar nachbestellt aufanfrage surcommande precommande enprecommande suordinazione preordine '
          || 'bajopedido porencargo preventa sobencomenda prevenda opbestelling nabestelling '
          || 'nazamowienie przedsprzedaz naobjednavku naobjednani predobjednavka rendelesre elorendelheto lacomanda precomanda '
          || 'bestallningsvara forhandsbokning bestillingsvare tilaustuote κατοπινπαραγγελιασ προπαραγγελια поръчка подзаказ предзаказ ',
        ' ' || key || ' ') THEN 'on order'
    END AS word,
    CASE
      WHEN contains(' true yes y da ja oui si sim tak ano igen ναι да ', ' ' || key || ' ') THEN 'in stock'
      WHEN contains(' false no n ne nein non nao nee nie nem nej οχι не нет ', ' ' || key || ' ') THEN 'out of stock'
      WHEN regexp_matches(plain, '[-<–][ ]?[0-9]|[0-9][ ]?[/:]') THEN NULL
      WHEN regexp_matches(
        key, '^[0-9]{1,6}(kom|komada?|stk|stuck|pcs?|pieces?|units?|szt|ks|db|st|stuks|pezzi|pz|uds?|unidades|buc|шт|бр|τεμ|left|instock|available|nazalihi|auflager|enstock)?$')
        THEN CASE WHEN regexp_matches(key, '[1-9]') THEN 'in stock' ELSE 'out of stock' END
    END AS figure
  FROM keyed
),
-- A value that the pipeline file maps to two meanings gets neither.
site_rules AS (
  SELECT site_id, key, min(meaning) AS site_meaning
  FROM offer_rules
  JOIN keyed USING (text)
  WHERE rule = 'value' AND site_id IS NOT NULL
  GROUP BY site_id, key
  HAVING min(meaning) = max(meaning)
),
common_rules AS (
  SELECT key, min(meaning) AS common_meaning
  FROM offer_rules
  JOIN keyed USING (text)
  WHERE rule = 'value' AND site_id IS NULL
  GROUP BY key
  HAVING min(meaning) = max(meaning)
)
SELECT
  attribute_texts.*,
  coalesce(
    site_meaning,
    common_meaning,
    word,
    CASE WHEN NOT regexp_matches(
      lower(name), 'out|sold|unav|discont|order|back|pre|rasprod|nedost|ausverk|vergriff|epuis|rupture|agotad|esaur|esgot') THEN figure END
  ) AS availability,
  coalesce(site_meaning, common_meaning, word) IS NOT NULL AS is_word
FROM attribute_texts
LEFT JOIN usual USING (text)
LEFT JOIN site_rules USING (site_id, key)
LEFT JOIN common_rules USING (key)
