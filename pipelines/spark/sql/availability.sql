-- Made by generate.py from pipelines/analysis/availability.sql: change that one. Source 06fc7a2c000351e7.
-- step: availability__mapped_sites
SELECT DISTINCT
  site_id
FROM (
  SELECT
    item_id,
    product_id,
    site_id,
    currency,
    price,
    previous_price,
    price_changed_at,
    first_seen_at,
    last_seen_at,
    removed_at,
    gone_at,
    is_listed,
    category_slug,
    title,
    url
  FROM items
  WHERE
    NOT product_id IS NULL
)
WHERE
  :product IS NULL OR product_id = CAST(:product AS STRING);
-- step: availability__rules, kept
SELECT
  site_id,
  meaning,
  text AS name
FROM offer_rules
WHERE
  rule = 'attribute';
-- step: availability__mapped
SELECT
  mapped_sites.site_id,
  rules.meaning,
  name
FROM availability__mapped_sites AS mapped_sites
JOIN availability__rules AS rules
  ON rules.site_id = mapped_sites.site_id OR rules.site_id IS NULL
LEFT JOIN (
  SELECT DISTINCT
    site_id,
    meaning
  FROM availability__rules AS rules
  WHERE
    NOT site_id IS NULL
) AS own
  ON own.site_id = mapped_sites.site_id AND own.meaning = rules.meaning
WHERE
  (
    NOT rules.site_id IS NULL OR own.meaning IS NULL
  ) AND name <> '';
-- step: availability__names, kept
SELECT
  site_id,
  name
FROM availability__mapped AS mapped
WHERE
  meaning = 'availability';
-- step: availability__places, kept
SELECT DISTINCT
  name,
  EXPLODE(
    ARRAY(
      NAMED_STRUCT('pair', '$[\'' || name || '\']', 'inner', '', 'nth', 1),
      NAMED_STRUCT('pair', '$[\'attributes.' || name || '\']', 'inner', '', 'nth', 2),
      NAMED_STRUCT('pair', '$.attributes', 'inner', '[\'' || name || '\']', 'nth', 3),
      NAMED_STRUCT('pair', '$.attributes', 'inner', '[\'' || REPLACE(name, '.', '\'][\'') || '\']', 'nth', 4),
      NAMED_STRUCT('pair', '$[\'' || root || '\']', 'inner', rest, 'nth', 5),
      NAMED_STRUCT('pair', '$[\'attributes.' || root || '\']', 'inner', rest, 'nth', 6)
    )
  ) AS place
FROM (
  SELECT
    name,
    CASE WHEN CONTAINS(name, '.') THEN GET(SPLIT(name, '[.]'), 0) END AS root,
    '[\'' || ARRAY_JOIN(SLICE(SPLIT(name, '[.]'), 2, SIZE(SPLIT(name, '[.]'))), '\'][\'') || '\']' AS rest
  FROM availability__names AS names
);
-- step: availability__clock
SELECT
  seen_us,
  CASE
    WHEN time_zone = 'UTC'
    THEN CAST('1970-01-01' AS DATE) + CAST((
      seen_us DIV 86400000000
    ) AS INT)
    ELSE CAST((
      FROM_UTC_TIMESTAMP(TIMESTAMP_MICROS(seen_us), time_zone)
    ) AS DATE)
  END AS seen_day,
  time_zone
FROM (
  SELECT
    UNIX_MICROS(
      COALESCE(
        MAX(last_seen_at) FILTER(WHERE
          UNIX_MICROS(last_seen_at) <= UNIX_MICROS(COALESCE(read_at, last_seen_at)) + 86400000000
          OR CAST('1970-01-01' AS DATE) + CAST((
            UNIX_MICROS(last_seen_at) DIV 86400000000
          ) AS INT) <= written_day + 1),
        MAX(last_seen_at)
      )
    ) AS seen_us
  FROM (
    SELECT
      last_seen_at,
      read_at,
      TRY_CAST(SUBSTRING(run_id, 8, 4) || '-' || SUBSTRING(run_id, 12, 2) || '-' || SUBSTRING(run_id, 14, 2) AS DATE) AS written_day
    FROM items
  )
)
CROSS JOIN (
  SELECT
    time_zone
  FROM (
    SELECT
      CAST(NULL AS BIGINT) AS site_id,
      COALESCE(CAST(:time_zone AS STRING), MIN(text), 'UTC') AS time_zone
    FROM offer_rules
    WHERE
      rule = 'time zone' AND site_id IS NULL
    UNION ALL
    SELECT
      site_id,
      text
    FROM offer_rules
    WHERE
      rule = 'time zone' AND NOT site_id IS NULL AND :time_zone IS NULL
  )
  WHERE
    site_id IS NULL
);
-- step: availability__span, kept
SELECT
  COALESCE(
    UNIX_MICROS(
      (
        SELECT
          MIN(first_at)
        FROM (
          SELECT
            run_id,
            COUNT(*) AS changes,
            MIN(observed_at) AS first_at,
            MAX(observed_at) AS changed_at
          FROM history
          GROUP BY
            run_id
        )
      )
    ),
    seen_us
  ) AS known_us,
  GREATEST(
    seen_us,
    UNIX_MICROS(
      (
        SELECT
          MAX(changed_at)
        FROM (
          SELECT
            run_id,
            COUNT(*) AS changes,
            MIN(observed_at) AS first_at,
            MAX(observed_at) AS changed_at
          FROM history
          GROUP BY
            run_id
        )
      )
    )
  ) AS now_us
FROM availability__clock AS clock;
-- step: availability__touched
SELECT
  product_id
FROM (
  SELECT
    own.product_id,
    own.site_id,
    history.item_id,
    change_id,
    observed_at,
    kind,
    previous_price,
    price,
    history.currency,
    own.listing_currency,
    changes,
    origin,
    history.run_id
  FROM history
  JOIN (
    SELECT
      item_id,
      product_id,
      site_id,
      currency AS listing_currency
    FROM items
    WHERE
      NOT product_id IS NULL
  ) AS own
    USING (item_id)
)
WHERE
  observed_at > CAST(:out_after AS TIMESTAMP) AND kind IN ('REMOVED', 'RELISTED')
UNION
SELECT
  product_id
FROM (
  SELECT
    own.product_id,
    own.site_id,
    history.item_id,
    change_id,
    observed_at,
    kind,
    previous_price,
    price,
    history.currency,
    own.listing_currency,
    changes,
    origin,
    history.run_id
  FROM history
  JOIN (
    SELECT
      item_id,
      product_id,
      site_id,
      currency AS listing_currency
    FROM items
    WHERE
      NOT product_id IS NULL
  ) AS own
    USING (item_id)
) AS since
JOIN availability__names AS names
  ON names.site_id = since.site_id
JOIN availability__places AS places
  USING (name)
WHERE
  observed_at > CAST(:out_after AS TIMESTAMP)
  AND NOT place.pair IS NULL
  AND STARTSWITH(GET_JSON_OBJECT(changes, place.pair), '[')
UNION
SELECT
  product_id
FROM (
  SELECT
    item_id,
    product_id,
    site_id,
    currency,
    price,
    previous_price,
    price_changed_at,
    first_seen_at,
    last_seen_at,
    removed_at,
    gone_at,
    is_listed,
    category_slug,
    title,
    url
  FROM items
  WHERE
    NOT product_id IS NULL
), availability__span AS span
WHERE
  first_seen_at > CAST(:out_after AS TIMESTAMP)
  OR removed_at > CAST(:out_after AS TIMESTAMP)
  OR gone_at > CAST(:out_after AS TIMESTAMP)
  OR known_us > UNIX_MICROS(CAST(:out_after AS TIMESTAMP));
-- step: availability__asked
SELECT DISTINCT
  product_id AS product_id
FROM (
  SELECT
    product_id
  FROM (
    SELECT
      item_id,
      product_id,
      site_id,
      currency,
      price,
      previous_price,
      price_changed_at,
      first_seen_at,
      last_seen_at,
      removed_at,
      gone_at,
      is_listed,
      category_slug,
      title,
      url
    FROM items
    WHERE
      NOT product_id IS NULL
  )
  WHERE
    :out_after IS NULL
    AND (
      :product IS NULL OR product_id = CAST(:product AS STRING)
    )
    AND site_id IN (
      SELECT
        site_id
      FROM availability__names AS names
    )
    AND (
      :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
    )
  UNION ALL
  SELECT
    product_id
  FROM availability__touched AS touched
);
-- step: availability__listings, kept
SELECT
  item_id,
  product_id,
  site_id,
  attributes,
  UNIX_MICROS(first_seen_at) AS seen_us,
  CASE WHEN NOT is_listed THEN UNIX_MICROS(COALESCE(removed_at, gone_at)) END AS ended_us
FROM items
WHERE
  product_id IN (
    SELECT
      *
    FROM availability__asked AS asked
  )
  AND (
    :product IS NULL OR product_id = CAST(:product AS STRING)
  );
-- step: availability__told, kept
SELECT
  item_id,
  site_id,
  UNIX_MICROS(observed_at) AS at_us,
  kind,
  changes,
  CAST(ROW_NUMBER() OVER (
    PARTITION BY item_id
    ORDER BY observed_at NULLS LAST, change_id NULLS LAST, kind NULLS LAST
  ) AS BIGINT) AS nth
FROM (
  SELECT
    own.product_id,
    own.site_id,
    history.item_id,
    change_id,
    observed_at,
    kind,
    previous_price,
    price,
    history.currency,
    own.listing_currency,
    changes,
    origin,
    history.run_id
  FROM history
  JOIN (
    SELECT
      item_id,
      product_id,
      site_id,
      currency AS listing_currency
    FROM items
    WHERE
      NOT product_id IS NULL
  ) AS own
    USING (item_id)
)
SEMI JOIN availability__listings AS listings
  USING (item_id)
LEFT JOIN (
  SELECT
    site_id,
    COLLECT_LIST(DISTINCT GET(SPLIT(name, '[.]'), 0)) AS roots
  FROM availability__names AS names
  GROUP BY
    site_id
) AS own
  USING (site_id)
WHERE
  (
    kind IN ('REMOVED', 'RELISTED')
    OR CONTAINS(changes, '\\')
    OR CONTAINS(changes, '"attributes"')
    OR ARRAY_SIZE(FILTER(roots, root -> CONTAINS(changes, root))) > 0
  )
  AND (
    :product IS NULL OR product_id = CAST(:product AS STRING)
  );
-- step: availability__changed, kept
SELECT
  item_id,
  nth,
  name,
  MIN_BY(GET_JSON_OBJECT(changes, place.pair || '[0]' || place.`inner`), place.nth) FILTER(WHERE
    NOT GET_JSON_OBJECT(changes, place.pair || '[0]' || place.`inner`) IS NULL) AS old_value,
  MIN_BY(GET_JSON_OBJECT(changes, place.pair || '[1]' || place.`inner`), place.nth) FILTER(WHERE
    NOT GET_JSON_OBJECT(changes, place.pair || '[1]' || place.`inner`) IS NULL) AS new_value
FROM availability__told AS told
JOIN availability__names AS names
  ON names.site_id = told.site_id
JOIN availability__places AS places
  USING (name)
WHERE
  NOT place.pair IS NULL AND STARTSWITH(GET_JSON_OBJECT(changes, place.pair), '[')
GROUP BY
  item_id,
  nth,
  name;
-- step: availability__moments, kept
SELECT
  item_id,
  nth,
  at_us,
  kind,
  CASE WHEN is_changed THEN nth ELSE 0 END AS value_nth
FROM (
  SELECT
    item_id,
    0 AS nth,
    seen_us AS at_us,
    'NEW' AS kind
  FROM availability__listings AS listings
  UNION ALL
  SELECT
    item_id,
    nth,
    at_us,
    kind
  FROM availability__told AS told
  WHERE
    kind IN ('REMOVED', 'RELISTED')
    OR (item_id, nth) IN (
      SELECT
        item_id,
        nth
      FROM availability__changed AS changed
    )
)
LEFT JOIN (
  SELECT DISTINCT
    item_id,
    TRUE AS is_changed
  FROM availability__changed AS changed
) AS changed_items
  USING (item_id);
-- step: availability__filled
SELECT
  moments.item_id,
  site_id,
  moments.nth,
  named.name,
  LAST_VALUE(CASE WHEN NOT changed.nth IS NULL THEN NAMED_STRUCT('value', new_value) END) IGNORE NULLS OVER (PARTITION BY moments.item_id, named.name ORDER BY moments.nth NULLS LAST) AS latest,
  FIRST_VALUE(CASE WHEN NOT changed.nth IS NULL THEN NAMED_STRUCT('value', old_value) END) IGNORE NULLS OVER (
    PARTITION BY moments.item_id, named.name
    ORDER BY moments.nth NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  ) AS earliest
FROM availability__moments AS moments
JOIN (
  SELECT DISTINCT
    item_id,
    name
  FROM availability__changed AS changed
) AS named
  ON named.item_id = moments.item_id
JOIN availability__listings AS listings
  ON listings.item_id = moments.item_id
LEFT JOIN availability__changed AS changed
  ON changed.item_id = moments.item_id
  AND changed.nth = moments.nth
  AND changed.name = named.name;
-- step: availability__present
SELECT
  item_id,
  site_id,
  name,
  COALESCE(
    GET_JSON_OBJECT(attributes, '$[\'' || name || '\']'),
    CASE
      WHEN CONTAINS(name, '.')
      THEN GET_JSON_OBJECT(attributes, '$[\'' || REPLACE(name, '.', '\'][\'') || '\']')
    END
  ) AS value
FROM availability__listings AS listings
JOIN availability__names AS names
  USING (site_id);
-- step: availability__read_values
SELECT
  item_id,
  site_id,
  nth,
  name,
  CASE WHEN NOT latest IS NULL THEN latest.value ELSE earliest.value END AS value
FROM availability__filled AS filled
UNION ALL
SELECT
  present.item_id,
  site_id,
  value_nth AS nth,
  name,
  value
FROM availability__present AS present
ANTI JOIN availability__changed AS changed
  USING (item_id, name)
JOIN (
  SELECT DISTINCT
    item_id,
    value_nth
  FROM availability__moments AS moments
) AS at_moments
  USING (item_id);
-- step: availability__single_values
SELECT
  item_id,
  site_id,
  nth,
  name,
  EXPLODE(
    CASE
      WHEN STARTSWITH(value, '[') AND NOT GET_JSON_OBJECT(value, '$') IS NULL
      THEN FROM_JSON(value, 'ARRAY<STRING>')
      ELSE ARRAY(value)
    END
  ) AS value
FROM availability__read_values AS read_values
WHERE
  NOT value IS NULL;
-- step: availability__fields
SELECT
  item_id,
  site_id,
  nth,
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
FROM availability__single_values AS single_values;
-- step: availability__attribute_texts, kept
SELECT
  item_id,
  site_id,
  nth,
  name,
  EXPLODE(texts) AS text
FROM availability__fields AS fields;
-- step: availability__texts
SELECT
  text
FROM availability__attribute_texts AS attribute_texts
WHERE
  NOT text IS NULL
UNION
SELECT
  text
FROM offer_rules
WHERE
  rule = 'value';
-- step: availability__keyed, kept
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
FROM availability__texts AS texts;
-- step: availability__usual
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
FROM availability__keyed AS keyed;
-- step: availability__site_rules
SELECT
  site_id,
  key,
  MIN(meaning) AS site_meaning
FROM offer_rules
JOIN availability__keyed AS keyed
  USING (text)
WHERE
  rule = 'value' AND NOT site_id IS NULL
GROUP BY
  site_id,
  key
HAVING
  MIN(meaning) = MAX(meaning);
-- step: availability__common_rules
SELECT
  key,
  MIN(meaning) AS common_meaning
FROM offer_rules
JOIN availability__keyed AS keyed
  USING (text)
WHERE
  rule = 'value' AND site_id IS NULL
GROUP BY
  key
HAVING
  MIN(meaning) = MAX(meaning);
-- step: availability__worded
SELECT
  attribute_texts.item_id,
  attribute_texts.site_id,
  attribute_texts.nth,
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
FROM availability__attribute_texts AS attribute_texts
LEFT JOIN availability__usual AS usual
  USING (text)
LEFT JOIN availability__site_rules AS site_rules
  USING (site_id, key)
LEFT JOIN availability__common_rules AS common_rules
  USING (key);
-- step: availability__states
SELECT
  item_id,
  nth,
  CASE WHEN MIN(availability) = MAX(availability) THEN MIN(availability) END AS availability
FROM availability__worded AS worded
GROUP BY
  item_id,
  nth;
-- step: availability__sequenced
SELECT
  moments.item_id,
  product_id,
  site_id,
  at_us AS from_us,
  LEAD(at_us) OVER (PARTITION BY moments.item_id ORDER BY moments.nth NULLS LAST) AS next_us,
  ended_us,
  LAST_VALUE(CASE WHEN kind IN ('NEW', 'REMOVED', 'RELISTED') THEN kind END) IGNORE NULLS OVER (PARTITION BY moments.item_id ORDER BY moments.nth NULLS LAST) AS listing,
  COALESCE(availability, 'unknown') AS state
FROM availability__moments AS moments
JOIN availability__listings AS listings
  ON listings.item_id = moments.item_id
LEFT JOIN availability__states AS states
  ON states.item_id = moments.item_id AND states.nth = value_nth;
-- step: availability__part
SELECT
  product_id,
  item_id,
  site_id,
  state,
  from_us,
  to_us,
  known_us,
  now_us,
  CASE
    WHEN BOOL_OR(state = 'out of stock' AND to_us = now_us) OVER of_product
    THEN MAX(CASE WHEN to_us < now_us THEN to_us ELSE from_us END) OVER of_product
  END AS out_us
FROM (
  SELECT
    product_id,
    item_id,
    site_id,
    state,
    GREATEST(from_us, known_us) AS from_us,
    LEAST(COALESCE(next_us, now_us), COALESCE(ended_us, now_us), now_us) AS to_us,
    known_us,
    now_us
  FROM availability__sequenced AS sequenced, availability__span AS span
  WHERE
    listing <> 'REMOVED'
)
WHERE
  from_us < to_us
WINDOW of_product AS (PARTITION BY product_id);
-- step: availability__runs, kept
SELECT
  product_id,
  item_id,
  site_id,
  state,
  from_us,
  to_us,
  known_us,
  now_us,
  out_us
FROM availability__part AS availability__part
WHERE
  (
    :product IS NULL OR product_id = CAST(:product AS STRING)
  )
  AND (
    :site_id IS NULL
    OR product_id IN (
      SELECT
        product_id
      FROM (
        SELECT
          item_id,
          product_id,
          site_id,
          currency,
          price,
          previous_price,
          price_changed_at,
          first_seen_at,
          last_seen_at,
          removed_at,
          gone_at,
          is_listed,
          category_slug,
          title,
          url
        FROM items
        WHERE
          NOT product_id IS NULL
      )
      WHERE
        site_id = CAST(:site_id AS BIGINT)
    )
  )
  AND (
    :out_after IS NULL OR out_us > UNIX_MICROS(CAST(:out_after AS TIMESTAMP))
  );
-- step: availability__span_
SELECT DISTINCT
  known_us,
  now_us
FROM availability__runs AS runs;
-- step: availability__numbers, kept
SELECT
  product_id,
  product_id AS product
FROM (
  SELECT DISTINCT
    product_id
  FROM availability__runs AS runs
);
-- step: availability__listing_states, kept
SELECT
  product,
  site_id,
  from_us,
  to_us,
  NULLIF(ARRAY_POSITION(ARRAY('in stock', 'unknown', 'on order', 'out of stock'), state), 0) AS state
FROM availability__runs AS runs
JOIN availability__numbers AS numbers
  USING (product_id);
-- step: availability__points
SELECT
  product,
  site_id,
  from_us AS at_us
FROM availability__listing_states AS listing_states
UNION
SELECT
  product,
  site_id,
  to_us
FROM availability__listing_states AS listing_states;
-- step: availability__spans
SELECT
  product,
  site_id,
  at_us AS from_us,
  LEAD(at_us) OVER (PARTITION BY product, site_id ORDER BY at_us NULLS LAST) AS to_us
FROM availability__points AS points;
-- step: availability__shop_states
SELECT
  product,
  site_id,
  spans.from_us,
  spans.to_us,
  MIN(state) AS state
FROM availability__spans AS spans
JOIN availability__listing_states AS listings
  USING (product, site_id)
WHERE
  listings.from_us <= spans.from_us AND listings.to_us >= spans.to_us
GROUP BY
  product,
  site_id,
  spans.from_us,
  spans.to_us;
-- step: availability__parted
SELECT
  product,
  site_id,
  from_us,
  to_us,
  state,
  LAG(to_us) OVER in_order IS DISTINCT FROM from_us
  OR LAG(state) OVER in_order <> state AS is_other
FROM availability__shop_states AS shop_states
WINDOW in_order AS (PARTITION BY product, site_id ORDER BY from_us NULLS LAST);
-- step: availability__stretches, kept
SELECT
  product,
  site_id,
  state,
  MIN(from_us) AS from_us,
  MAX(to_us) AS to_us
FROM (
  SELECT
    product,
    site_id,
    from_us,
    to_us,
    state,
    is_other,
    COUNT(CASE WHEN is_other THEN 1 END) OVER (PARTITION BY product, site_id ORDER BY from_us NULLS LAST) AS run
  FROM availability__parted AS parted
)
GROUP BY
  product,
  site_id,
  state,
  run;
-- step: availability__events
SELECT
  product,
  at_us,
  SUM(listed) AS listed,
  SUM(maybe) AS maybe
FROM (
  SELECT
    product,
    from_us AS at_us,
    1 AS listed,
    CAST((
      state <= 2
    ) AS INT) AS maybe
  FROM availability__stretches AS stretches
  UNION ALL
  SELECT
    product,
    to_us,
    -1,
    -CAST((
      state <= 2
    ) AS INT)
  FROM availability__stretches AS stretches
)
GROUP BY
  product,
  at_us;
-- step: availability__counted
SELECT
  product,
  at_us AS from_us,
  LEAD(at_us) OVER in_order AS to_us,
  SUM(listed) OVER in_order AS listed,
  SUM(maybe) OVER in_order AS maybe
FROM availability__events AS events
WINDOW in_order AS (PARTITION BY product ORDER BY at_us NULLS LAST);
-- step: availability__alone
SELECT
  product,
  site_id,
  counted.from_us,
  counted.to_us
FROM availability__counted AS counted
JOIN availability__stretches AS stretches
  USING (product)
WHERE
  maybe = 1
  AND listed > 1
  AND state = 1
  AND stretches.from_us <= counted.from_us
  AND stretches.to_us >= counted.to_us;
-- step: availability__alone_figures
SELECT
  product,
  site_id,
  COUNT(*) FILTER(WHERE
    before_us IS DISTINCT FROM from_us) AS alone_times,
  SUM(to_us - from_us) AS alone_us
FROM (
  SELECT
    product,
    site_id,
    from_us,
    to_us,
    LAG(to_us) OVER (PARTITION BY product, site_id ORDER BY from_us NULLS LAST) AS before_us
  FROM availability__alone AS alone
)
GROUP BY
  product,
  site_id;
-- step: availability__shop_figures
SELECT
  product,
  site_id,
  SUM(to_us - from_us) FILTER(WHERE
    state <> 2) AS known_us,
  COUNT(*) FILTER(WHERE
    state = 4) AS stock_outs,
  SUM(to_us - from_us) FILTER(WHERE
    state = 4) AS out_us,
  MAX(to_us - from_us) FILTER(WHERE
    state = 4) AS longest_us,
  MAX(from_us) FILTER(WHERE
    state = 4 AND to_us = now_us) AS since_us,
  BOOL_OR(from_us > span.known_us) FILTER(WHERE
    state = 4 AND to_us = now_us) AS is_since_known
FROM availability__stretches AS stretches, availability__span_ AS span
WHERE
  :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
GROUP BY
  product,
  site_id;
-- step: availability__chosen
SELECT
  product_id,
  site_id,
  known_us / 86400e6 AS known_days,
  stock_outs,
  COALESCE(out_us, 0) / 86400e6 AS out_days,
  longest_us / 86400e6 AS longest_out_days,
  TIMESTAMP_MICROS(since_us) AS out_since,
  is_since_known AS out_since_known,
  COALESCE(alone_times, 0) AS alone_times,
  COALESCE(alone_us, 0) / 86400e6 AS alone_days
FROM availability__shop_figures AS shop_figures
JOIN availability__numbers AS numbers
  USING (product)
LEFT JOIN availability__alone_figures AS alone_figures
  USING (product, site_id)
WHERE
  known_us > 0
  AND (
    :out_after IS NULL OR since_us > UNIX_MICROS(CAST(:out_after AS TIMESTAMP))
  )
ORDER BY
  out_days DESC,
  product_id NULLS LAST,
  site_id NULLS LAST
LIMIT CAST(COALESCE(CAST(:top AS BIGINT), 100) AS INT);
-- step: availability
SELECT
  product_id,
  products.title,
  site_id,
  COALESCE(shops.name, CAST(site_id AS STRING)) AS shop,
  known_days,
  stock_outs,
  out_days,
  longest_out_days,
  out_since,
  out_since_known,
  alone_times,
  alone_days
FROM availability__chosen AS chosen
LEFT JOIN (
  SELECT
    product_id,
    title
  FROM products
) AS products
  USING (product_id)
LEFT JOIN (
  SELECT
    site_id,
    name
  FROM sites
  WHERE
    is_current
) AS shops
  USING (site_id)
ORDER BY
  out_days DESC,
  product_id NULLS LAST,
  site_id NULLS LAST;
