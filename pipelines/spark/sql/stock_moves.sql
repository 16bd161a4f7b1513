-- Made by generate.py from pipelines/analysis/stock_moves.sql: change that one. Source 71ed1ba2f4e91198.
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
-- step: stock_moves__stock_since, kept
SELECT
  UNIX_MICROS(since) AS after_us
FROM stock_moves__moment AS moment;
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
  name,
  GET(SPLIT(name, '[.]'), 0) AS root,
  CASE
    WHEN CONTAINS(name, '.')
    THEN '[\'' || ARRAY_JOIN(SLICE(SPLIT(name, '[.]'), 2, SIZE(SPLIT(name, '[.]'))), '\'][\'') || '\']'
    ELSE ''
  END AS rest
FROM stock_moves__mapped AS mapped
WHERE
  meaning = 'availability';
-- step: stock_moves__places
SELECT
  site_id,
  name,
  place
FROM (
  SELECT
    site_id,
    name,
    EXPLODE(
      ARRAY(
        NAMED_STRUCT('pair', '$[\'' || name || '\']', 'inner', '', 'nth', 1, 'hint', root),
        NAMED_STRUCT('pair', '$[\'attributes.' || name || '\']', 'inner', '', 'nth', 2, 'hint', root),
        NAMED_STRUCT('pair', '$.attributes', 'inner', '[\'' || name || '\']', 'nth', 3, 'hint', '"attributes"'),
        NAMED_STRUCT(
          'pair',
          CASE WHEN rest <> '' THEN '$.attributes' END,
          'inner',
          '[\'' || root || '\']' || rest,
          'nth',
          4,
          'hint',
          '"attributes"'
        ),
        NAMED_STRUCT(
          'pair',
          CASE WHEN rest <> '' THEN '$[\'' || root || '\']' END,
          'inner',
          rest,
          'nth',
          5,
          'hint',
          root
        ),
        NAMED_STRUCT(
          'pair',
          CASE WHEN rest <> '' THEN '$[\'attributes.' || root || '\']' END,
          'inner',
          rest,
          'nth',
          6,
          'hint',
          root
        )
      )
    ) AS place
  FROM stock_moves__names AS names
)
WHERE
  NOT place.pair IS NULL;
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
-- step: stock_moves__roots
SELECT
  COLLECT_LIST(DISTINCT root) AS roots
FROM stock_moves__names AS names;
-- step: stock_moves__telling, kept
SELECT
  item_id,
  UNIX_MICROS(observed_at) AS at_us,
  change_id,
  kind,
  changes
FROM history, stock_moves__roots AS roots
WHERE
  (
    kind IN ('REMOVED', 'RELISTED') OR NOT changes IS NULL
  )
  AND (
    kind IN ('REMOVED', 'RELISTED')
    OR CONTAINS(changes, '\\')
    OR CONTAINS(changes, '"attributes"')
    OR ARRAY_SIZE(FILTER(roots, root -> CONTAINS(changes, root))) > 0
  );
-- step: stock_moves__touched
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
SEMI JOIN (
  SELECT
    item_id
  FROM stock_moves__telling AS telling, stock_moves__stock_since AS stock_since
  WHERE
    NOT after_us IS NULL AND at_us > after_us
) AS later
  USING (item_id)
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
), stock_moves__stock_since AS stock_since, stock_moves__span AS span
WHERE
  NOT after_us IS NULL
  AND (
    UNIX_MICROS(first_seen_at) > after_us
    OR UNIX_MICROS(removed_at) > after_us
    OR UNIX_MICROS(gone_at) > after_us
    OR known_us > after_us
  );
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
  ), stock_moves__stock_since AS stock_since
  WHERE
    after_us IS NULL
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
  telling.item_id,
  site_id,
  at_us,
  change_id,
  kind,
  changes
FROM stock_moves__telling AS telling
JOIN stock_moves__listings AS listings
  USING (item_id);
-- step: stock_moves__changed, kept
SELECT
  item_id,
  ANY_VALUE(told.site_id) IGNORE NULLS AS site_id,
  at_us,
  change_id,
  kind,
  name,
  MIN_BY(GET_JSON_OBJECT(changes, place.pair || '[0]' || place.`inner`), place.nth) FILTER(WHERE
    NOT GET_JSON_OBJECT(changes, place.pair || '[0]' || place.`inner`) IS NULL) AS old_value,
  MIN_BY(GET_JSON_OBJECT(changes, place.pair || '[1]' || place.`inner`), place.nth) FILTER(WHERE
    NOT GET_JSON_OBJECT(changes, place.pair || '[1]' || place.`inner`) IS NULL) AS new_value
FROM stock_moves__told AS told
JOIN stock_moves__places AS places
  ON places.site_id = told.site_id
WHERE
  CASE
    WHEN CONTAINS(changes, place.hint) OR CONTAINS(changes, '\\')
    THEN STARTSWITH(GET_JSON_OBJECT(changes, place.pair), '[')
  END
GROUP BY
  item_id,
  at_us,
  change_id,
  kind,
  name;
-- step: stock_moves__present, kept
SELECT
  item_id,
  site_id,
  name,
  value
FROM (
  SELECT
    item_id,
    items.site_id,
    name,
    CASE
      WHEN CONTAINS(attributes, root) OR CONTAINS(attributes, '\\')
      THEN COALESCE(
        GET_JSON_OBJECT(attributes, '$[\'' || name || '\']'),
        CASE
          WHEN rest <> ''
          THEN GET_JSON_OBJECT(attributes, '$[\'' || root || '\']' || rest)
        END
      )
    END AS value
  FROM items
  SEMI JOIN stock_moves__listings AS listings
    USING (item_id)
  JOIN stock_moves__names AS names
    ON names.site_id = items.site_id
)
ANTI JOIN stock_moves__changed AS changed
  USING (item_id, name)
WHERE
  NOT value IS NULL;
-- step: stock_moves__valued, kept
SELECT
  site_id,
  name,
  value,
  NAMED_STRUCT('site_id', site_id, 'name', name, 'value', value) AS value_id
FROM (
  SELECT
    site_id,
    name,
    old_value AS value
  FROM stock_moves__changed AS changed
  UNION
  SELECT
    site_id,
    name,
    new_value
  FROM stock_moves__changed AS changed
  UNION
  SELECT
    site_id,
    name,
    value
  FROM stock_moves__present AS present
)
WHERE
  NOT value IS NULL;
-- step: stock_moves__read_values
SELECT
  site_id,
  name,
  value,
  value_id
FROM stock_moves__valued AS valued;
-- step: stock_moves__single_values
SELECT
  site_id,
  name,
  value_id,
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
  site_id,
  name,
  value_id,
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
  value_id,
  site_id,
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
  attribute_texts.value_id,
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
FROM stock_moves__attribute_texts AS attribute_texts
LEFT JOIN stock_moves__usual AS usual
  USING (text)
LEFT JOIN stock_moves__site_rules AS site_rules
  USING (site_id, key)
LEFT JOIN stock_moves__common_rules AS common_rules
  USING (key);
-- step: stock_moves__meant, kept
SELECT
  site_id,
  name,
  value,
  bits
FROM stock_moves__valued AS valued
JOIN (
  SELECT
    value_id,
    BIT_OR(CASE availability WHEN 'in stock' THEN 1 WHEN 'on order' THEN 2 ELSE 4 END) AS bits
  FROM stock_moves__worded AS worded
  WHERE
    NOT availability IS NULL
  GROUP BY
    value_id
)
  USING (value_id);
-- step: stock_moves__steady, kept
SELECT
  item_id,
  BIT_OR(bits) AS bits
FROM stock_moves__present AS present
JOIN stock_moves__meant AS meant
  USING (site_id, name, value)
GROUP BY
  item_id;
-- step: stock_moves__moments
SELECT
  item_id,
  at_us,
  change_id,
  kind,
  NULL AS name,
  NULL AS old_bits,
  NULL AS new_bits
FROM stock_moves__told AS told
WHERE
  kind IN ('REMOVED', 'RELISTED')
UNION ALL
SELECT
  item_id,
  at_us,
  change_id,
  kind,
  changed.name,
  COALESCE(old.bits, 0),
  COALESCE(new.bits, 0)
FROM stock_moves__changed AS changed
LEFT JOIN stock_moves__meant AS old
  ON old.site_id = changed.site_id
  AND old.name = changed.name
  AND old.value = old_value
LEFT JOIN stock_moves__meant AS new
  ON new.site_id = changed.site_id
  AND new.name = changed.name
  AND new.value = new_value;
-- step: stock_moves__filled
SELECT
  moments.item_id,
  at_us,
  change_id,
  kind,
  moments.name,
  CAST(ROW_NUMBER() OVER in_order AS BIGINT) AS nth,
  LEAD(at_us) OVER in_order AS next_us,
  LAST_VALUE(CASE WHEN kind IN ('REMOVED', 'RELISTED') THEN kind END) IGNORE NULLS OVER in_order AS listing,
  FIRST_VALUE(CASE WHEN moments.name = own.name THEN old_bits END) IGNORE NULLS OVER (
    PARTITION BY moments.item_id, own.name
    ORDER BY at_us NULLS LAST, change_id NULLS LAST, kind NULLS LAST, moments.name NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
  ) AS first_bits,
  LAST_VALUE(CASE WHEN moments.name = own.name THEN new_bits END) IGNORE NULLS OVER in_order AS last_bits
FROM stock_moves__moments AS moments
LEFT JOIN (
  SELECT DISTINCT
    item_id,
    name
  FROM stock_moves__changed AS changed
) AS own
  ON own.item_id = moments.item_id
WINDOW in_order AS (
  PARTITION BY moments.item_id, own.name
  ORDER BY at_us NULLS LAST, change_id NULLS LAST, kind NULLS LAST, moments.name NULLS LAST
);
-- step: stock_moves__joined, kept
SELECT
  item_id,
  nth,
  ANY_VALUE(at_us) IGNORE NULLS AS at_us,
  ANY_VALUE(next_us) IGNORE NULLS AS next_us,
  ANY_VALUE(listing) IGNORE NULLS AS listing,
  BIT_OR(first_bits) AS first_bits,
  BIT_OR(COALESCE(last_bits, first_bits)) AS bits
FROM stock_moves__filled AS filled
GROUP BY
  item_id,
  nth;
-- step: stock_moves__sequenced
SELECT
  listings.item_id,
  product_id,
  site_id,
  seen_us AS from_us,
  at_us AS next_us,
  ended_us,
  COALESCE(first_bits, 0) | COALESCE(steady.bits, 0) AS bits
FROM stock_moves__listings AS listings
LEFT JOIN (
  SELECT
    item_id,
    nth,
    at_us,
    next_us,
    listing,
    first_bits,
    bits
  FROM stock_moves__joined AS joined
  WHERE
    nth = 1
) AS firsts
  USING (item_id)
LEFT JOIN stock_moves__steady AS steady
  USING (item_id)
UNION ALL
SELECT
  joined.item_id,
  product_id,
  site_id,
  at_us,
  next_us,
  ended_us,
  COALESCE(joined.bits, 0) | COALESCE(steady.bits, 0)
FROM stock_moves__joined AS joined
JOIN stock_moves__listings AS listings
  USING (item_id)
LEFT JOIN stock_moves__steady AS steady
  USING (item_id)
WHERE
  listing IS DISTINCT FROM 'REMOVED';
-- step: stock_moves__stretches_
SELECT
  product_id,
  item_id,
  site_id,
  CASE bits
    WHEN 1
    THEN 'in stock'
    WHEN 2
    THEN 'on order'
    WHEN 4
    THEN 'out of stock'
    ELSE 'unknown'
  END AS state,
  GREATEST(from_us, known_us) AS from_us,
  LEAST(COALESCE(next_us, now_us), COALESCE(ended_us, now_us), now_us) AS to_us,
  known_us,
  now_us
FROM stock_moves__sequenced AS sequenced, stock_moves__span AS span;
-- step: stock_moves__stock
SELECT
  product_id,
  item_id,
  site_id,
  state,
  from_us,
  to_us,
  known_us,
  now_us
FROM stock_moves__stretches_ AS stretches
WHERE
  from_us < to_us;
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
