-- Made by generate.py from pipelines/analysis/stock_moves.sql: change that one. Source 7119e8704acc59c7.
-- step: stock_moves__newest_run
SELECT
  MAX(run_number) AS run_number
FROM runs;
-- step: stock_moves__asked_run
SELECT
  CASE WHEN NOT read_at IS NULL THEN LEAST(read_at, changed_at) END AS run_at
FROM (
  SELECT
    MAX(COALESCE(caught_up_at, finished_at)) AS read_at
  FROM runs
  WHERE
    run_number = CAST(:since_run AS BIGINT)
)
CROSS JOIN (
  SELECT
    MAX(changed_at) AS changed_at
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
  JOIN runs
    USING (run_id)
  WHERE
    run_number <= CAST(:since_run AS BIGINT)
);
-- step: stock_moves__moment, kept
SELECT
  CASE
    WHEN :since_run IS NULL
    THEN CASE
      WHEN :since IS NULL
      THEN TIMESTAMP_MICROS(seen_us) - INTERVAL '24' HOURS
      WHEN CAST(:since AS STRING) RLIKE '[T ].*(Z|[+-][0-9]{2}(:?[0-9]{2})?)\\z'
      THEN CAST(CAST(:since AS STRING) AS TIMESTAMP)
      ELSE TO_UTC_TIMESTAMP(CAST(CAST(:since AS STRING) AS TIMESTAMP_NTZ), time_zone)
    END
    WHEN NOT :since IS NULL
    THEN RAISE_ERROR('give since or since_run, not both')
    WHEN CAST(:since_run AS BIGINT) = 0
    THEN CAST('1970-01-01 00:00:00Z' AS TIMESTAMP)
    WHEN run_at IS NULL
    THEN RAISE_ERROR(
      'since_run ' || :since_run || ' is no run of this lake: the newest is ' || COALESCE(CAST(run_number AS STRING), 'none')
    )
    ELSE run_at
  END AS since
FROM stock_moves__asked_run AS asked_run, stock_moves__newest_run AS newest_run, (
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
  )
) AS clock;
-- step: stock_moves__mapped_sites
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
-- step: stock_moves__rules, kept
SELECT
  site_id,
  meaning,
  text AS name
FROM offer_rules
WHERE
  rule = 'attribute';
-- step: stock_moves__mapped
SELECT
  mapped_sites.site_id,
  rules.meaning,
  name
FROM stock_moves__mapped_sites AS mapped_sites
JOIN stock_moves__rules AS rules
  ON rules.site_id = mapped_sites.site_id OR rules.site_id IS NULL
LEFT JOIN (
  SELECT DISTINCT
    site_id,
    meaning
  FROM stock_moves__rules AS rules
  WHERE
    NOT site_id IS NULL
) AS own
  ON own.site_id = mapped_sites.site_id AND own.meaning = rules.meaning
WHERE
  (
    NOT rules.site_id IS NULL OR own.meaning IS NULL
  ) AND name <> '';
-- step: stock_moves__names, kept
SELECT
  site_id,
  name
FROM stock_moves__mapped AS mapped
WHERE
  meaning = 'availability';
-- step: stock_moves__places, kept
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
  FROM stock_moves__names AS names
);
-- step: stock_moves__clock
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
-- step: stock_moves__span, kept
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
FROM stock_moves__clock AS clock;
-- step: stock_moves__touched
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
JOIN stock_moves__names AS names
  ON names.site_id = since.site_id
JOIN stock_moves__places AS places
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
), stock_moves__span AS span
WHERE
  first_seen_at > CAST(:out_after AS TIMESTAMP)
  OR removed_at > CAST(:out_after AS TIMESTAMP)
  OR gone_at > CAST(:out_after AS TIMESTAMP)
  OR known_us > UNIX_MICROS(CAST(:out_after AS TIMESTAMP));
-- step: stock_moves__asked
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
      FROM stock_moves__names AS names
    )
    AND (
      :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
    )
  UNION ALL
  SELECT
    product_id
  FROM stock_moves__touched AS touched
);
-- step: stock_moves__listings, kept
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
    FROM stock_moves__asked AS asked
  )
  AND (
    :product IS NULL OR product_id = CAST(:product AS STRING)
  );
-- step: stock_moves__told, kept
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
SEMI JOIN stock_moves__listings AS listings
  USING (item_id)
LEFT JOIN (
  SELECT
    site_id,
    COLLECT_LIST(DISTINCT GET(SPLIT(name, '[.]'), 0)) AS roots
  FROM stock_moves__names AS names
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
-- step: stock_moves__changed, kept
SELECT
  item_id,
  nth,
  name,
  MIN_BY(GET_JSON_OBJECT(changes, place.pair || '[0]' || place.`inner`), place.nth) FILTER(WHERE
    NOT GET_JSON_OBJECT(changes, place.pair || '[0]' || place.`inner`) IS NULL) AS old_value,
  MIN_BY(GET_JSON_OBJECT(changes, place.pair || '[1]' || place.`inner`), place.nth) FILTER(WHERE
    NOT GET_JSON_OBJECT(changes, place.pair || '[1]' || place.`inner`) IS NULL) AS new_value
FROM stock_moves__told AS told
JOIN stock_moves__names AS names
  ON names.site_id = told.site_id
JOIN stock_moves__places AS places
  USING (name)
WHERE
  NOT place.pair IS NULL AND STARTSWITH(GET_JSON_OBJECT(changes, place.pair), '[')
GROUP BY
  item_id,
  nth,
  name;
-- step: stock_moves__moments, kept
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
  FROM stock_moves__listings AS listings
  UNION ALL
  SELECT
    item_id,
    nth,
    at_us,
    kind
  FROM stock_moves__told AS told
  WHERE
    kind IN ('REMOVED', 'RELISTED')
    OR (item_id, nth) IN (
      SELECT
        item_id,
        nth
      FROM stock_moves__changed AS changed
    )
)
LEFT JOIN (
  SELECT DISTINCT
    item_id,
    TRUE AS is_changed
  FROM stock_moves__changed AS changed
) AS changed_items
  USING (item_id);
-- step: stock_moves__filled
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
FROM stock_moves__moments AS moments
JOIN (
  SELECT DISTINCT
    item_id,
    name
  FROM stock_moves__changed AS changed
) AS named
  ON named.item_id = moments.item_id
JOIN stock_moves__listings AS listings
  ON listings.item_id = moments.item_id
LEFT JOIN stock_moves__changed AS changed
  ON changed.item_id = moments.item_id
  AND changed.nth = moments.nth
  AND changed.name = named.name;
-- step: stock_moves__present
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
FROM stock_moves__listings AS listings
JOIN stock_moves__names AS names
  USING (site_id);
-- step: stock_moves__read_values
SELECT
  item_id,
  site_id,
  nth,
  name,
  CASE WHEN NOT latest IS NULL THEN latest.value ELSE earliest.value END AS value
FROM stock_moves__filled AS filled
UNION ALL
SELECT
  present.item_id,
  site_id,
  value_nth AS nth,
  name,
  value
FROM stock_moves__present AS present
ANTI JOIN stock_moves__changed AS changed
  USING (item_id, name)
JOIN (
  SELECT DISTINCT
    item_id,
    value_nth
  FROM stock_moves__moments AS moments
) AS at_moments
  USING (item_id);
-- step: stock_moves__single_values
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
FROM stock_moves__read_values AS read_values
WHERE
  NOT value IS NULL;
-- step: stock_moves__fields
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
FROM stock_moves__single_values AS single_values;
-- step: stock_moves__attribute_texts, kept
SELECT
  item_id,
  site_id,
  nth,
  name,
  EXPLODE(texts) AS text
FROM stock_moves__fields AS fields;
-- step: stock_moves__texts
SELECT
  text
FROM stock_moves__attribute_texts AS attribute_texts
WHERE
  NOT text IS NULL
UNION
SELECT
  text
FROM offer_rules
WHERE
  rule = 'value';
-- step: stock_moves__keyed, kept
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
FROM stock_moves__texts AS texts;
-- step: stock_moves__usual
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
FROM stock_moves__keyed AS keyed;
-- step: stock_moves__site_rules
SELECT
  site_id,
  key,
  MIN(meaning) AS site_meaning
FROM offer_rules
JOIN stock_moves__keyed AS keyed
  USING (text)
WHERE
  rule = 'value' AND NOT site_id IS NULL
GROUP BY
  site_id,
  key
HAVING
  MIN(meaning) = MAX(meaning);
-- step: stock_moves__common_rules
SELECT
  key,
  MIN(meaning) AS common_meaning
FROM offer_rules
JOIN stock_moves__keyed AS keyed
  USING (text)
WHERE
  rule = 'value' AND site_id IS NULL
GROUP BY
  key
HAVING
  MIN(meaning) = MAX(meaning);
-- step: stock_moves__worded
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
FROM stock_moves__attribute_texts AS attribute_texts
LEFT JOIN stock_moves__usual AS usual
  USING (text)
LEFT JOIN stock_moves__site_rules AS site_rules
  USING (site_id, key)
LEFT JOIN stock_moves__common_rules AS common_rules
  USING (key);
-- step: stock_moves__states
SELECT
  item_id,
  nth,
  CASE WHEN MIN(availability) = MAX(availability) THEN MIN(availability) END AS availability
FROM stock_moves__worded AS worded
GROUP BY
  item_id,
  nth;
-- step: stock_moves__sequenced
SELECT
  moments.item_id,
  product_id,
  site_id,
  at_us AS from_us,
  LEAD(at_us) OVER (PARTITION BY moments.item_id ORDER BY moments.nth NULLS LAST) AS next_us,
  ended_us,
  LAST_VALUE(CASE WHEN kind IN ('NEW', 'REMOVED', 'RELISTED') THEN kind END) IGNORE NULLS OVER (PARTITION BY moments.item_id ORDER BY moments.nth NULLS LAST) AS listing,
  COALESCE(availability, 'unknown') AS state
FROM stock_moves__moments AS moments
JOIN stock_moves__listings AS listings
  ON listings.item_id = moments.item_id
LEFT JOIN stock_moves__states AS states
  ON states.item_id = moments.item_id AND states.nth = value_nth;
-- step: stock_moves__stock
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
  FROM stock_moves__sequenced AS sequenced, stock_moves__span AS span
  WHERE
    listing <> 'REMOVED'
)
WHERE
  from_us < to_us
WINDOW of_product AS (PARTITION BY product_id);
-- step: stock_moves__stretches, kept
SELECT
  item_id,
  product_id,
  site_id,
  state,
  from_us,
  to_us,
  now_us,
  UNIX_MICROS(since) AS since_us
FROM stock_moves__stock AS stock, stock_moves__moment AS moment
WHERE
  to_us > UNIX_MICROS(since)
  AND NOT (
    from_us <= UNIX_MICROS(since) AND to_us = now_us
  )
  AND (
    :product IS NULL OR product_id = CAST(:product AS STRING)
  )
  AND (
    :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
  )
  AND (
    :out_after IS NULL OR out_us > UNIX_MICROS(CAST(:out_after AS TIMESTAMP))
  );
-- step: stock_moves__ends, kept
SELECT
  item_id,
  ANY_VALUE(product_id) IGNORE NULLS AS product_id,
  ANY_VALUE(site_id) IGNORE NULLS AS site_id,
  ANY_VALUE(CASE WHEN from_us <= since_us THEN state END) IGNORE NULLS AS state_before,
  ANY_VALUE(CASE WHEN to_us = now_us THEN state END) IGNORE NULLS AS state,
  MAX(to_us) FILTER(WHERE
    state <> 'out of stock') AS other_than_out_us,
  MAX(to_us) FILTER(WHERE
    state <> 'in stock') AS other_than_in_us
FROM stock_moves__stretches AS stretches
GROUP BY
  item_id;
-- step: stock_moves__moved, kept
SELECT
  item_id,
  product_id,
  site_id,
  'out' AS kind,
  other_than_out_us AS ended_us
FROM stock_moves__ends AS ends
WHERE
  state = 'out of stock' AND state_before IN ('in stock', 'on order')
UNION ALL
SELECT
  item_id,
  product_id,
  site_id,
  'back',
  other_than_in_us
FROM stock_moves__ends AS ends
WHERE
  state = 'in stock' AND state_before = 'out of stock';
-- step: stock_moves__begun
SELECT
  item_id,
  MIN(from_us) AS moved_us
FROM stock_moves__stretches AS stretches
JOIN stock_moves__moved AS moved
  USING (item_id)
WHERE
  from_us >= ended_us
GROUP BY
  item_id;
-- step: stock_moves__moved_products, kept
SELECT DISTINCT
  product_id AS product_id
FROM stock_moves__moved AS moved;
-- step: stock_moves__listings_
SELECT
  item_id,
  title,
  price,
  currency,
  category_slug,
  url
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
SEMI JOIN stock_moves__moved_products AS moved_products
  USING (product_id);
-- step: stock_moves__known, kept
SELECT
  slug,
  name,
  path
FROM (
  SELECT DISTINCT
    category_slug AS slug,
    category_name AS name,
    category_path AS path
  FROM items
  WHERE
    NOT category_slug IS NULL
)
WHERE
  NOT :category IS NULL;
-- step: stock_moves__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM stock_moves__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: stock_moves__named, kept
SELECT
  slug,
  path
FROM (
  SELECT
    slug,
    path,
    place,
    MIN(place) OVER () AS _w
  FROM (
    SELECT
      slug,
      path,
      CASE
        WHEN slug = :category
        THEN 1
        WHEN LOWER(path) = LOWER(CAST(:category AS STRING))
        THEN 2
        WHEN LOWER(name) = LOWER(CAST(:category AS STRING))
        THEN 3
      END AS place
    FROM stock_moves__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: stock_moves__chosen_
SELECT
  path
FROM stock_moves__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: stock_moves__part
SELECT
  slug
FROM stock_moves__named AS named
UNION
SELECT
  slug
FROM stock_moves__known AS known, stock_moves__chosen_ AS chosen, stock_moves__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: stock_moves__chosen
SELECT
  item_id,
  product_id,
  site_id,
  kind,
  moved_us,
  title,
  price,
  currency,
  category_slug,
  url,
  of_kind
FROM (
  SELECT
    moved.item_id,
    moved.product_id,
    moved.site_id,
    moved.kind,
    moved_us,
    title,
    price,
    currency,
    category_slug,
    url,
    COUNT(*) OVER (PARTITION BY kind) AS of_kind,
    ROW_NUMBER() OVER (PARTITION BY kind ORDER BY moved_us DESC, item_id NULLS LAST) AS _w
  FROM stock_moves__moved AS moved
  JOIN stock_moves__begun AS begun
    USING (item_id)
  JOIN stock_moves__listings_ AS listings
    USING (item_id)
  WHERE
    (
      :currency IS NULL OR currency = :currency
    )
    AND (
      :kind IS NULL OR kind = :kind
    )
    AND (
      :category IS NULL
      OR category_slug IN (
        SELECT
          slug
        FROM stock_moves__part
      )
    )
) AS _t
WHERE
  CAST(_w AS BIGINT) <= COALESCE(CAST(:top AS BIGINT), 100);
-- step: stock_moves__having_it
SELECT
  product_id,
  COLLECT_LIST(DISTINCT site_id) AS sites
FROM offers
SEMI JOIN stock_moves__moved_products AS moved_products
  USING (product_id)
WHERE
  availability = 'in stock'
GROUP BY
  product_id;
-- step: stock_moves
SELECT
  kind,
  item_id,
  product_id,
  chosen.title,
  category_slug,
  chosen.site_id,
  COALESCE(sites.name, CAST(chosen.site_id AS STRING)) AS shop,
  price,
  currency,
  COALESCE(ARRAY_SIZE(FILTER(having_it.sites, site -> site <> chosen.site_id)), 0) AS in_stock_shops,
  TIMESTAMP_MICROS(moved_us) AS moved_at,
  since,
  of_kind,
  chosen.url,
  sites.attribution
FROM stock_moves__chosen AS chosen
CROSS JOIN stock_moves__moment AS moment
LEFT JOIN stock_moves__having_it AS having_it
  USING (product_id)
LEFT JOIN sites
  ON sites.site_id = chosen.site_id AND sites.is_current
ORDER BY
  NULLIF(ARRAY_POSITION(ARRAY('out', 'back'), kind), 0) NULLS LAST,
  moved_us DESC,
  item_id NULLS LAST;
