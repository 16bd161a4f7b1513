-- Made by generate.py from pipelines/analysis/availability.sql: change that one. Source ecf040f6542c961c.
-- step: availability__stock_since, kept
SELECT
  UNIX_MICROS(CAST(:out_after AS TIMESTAMP)) AS after_us;
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
  name,
  GET(SPLIT(name, '[.]'), 0) AS root,
  CASE
    WHEN CONTAINS(name, '.')
    THEN '[\'' || ARRAY_JOIN(SLICE(SPLIT(name, '[.]'), 2, SIZE(SPLIT(name, '[.]'))), '\'][\'') || '\']'
    ELSE ''
  END AS rest
FROM availability__mapped AS mapped
WHERE
  meaning = 'availability';
-- step: availability__places
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
  FROM availability__names AS names
)
WHERE
  NOT place.pair IS NULL;
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
-- step: availability__roots
SELECT
  COLLECT_LIST(DISTINCT root) AS roots
FROM availability__names AS names;
-- step: availability__telling, kept
SELECT
  item_id,
  UNIX_MICROS(observed_at) AS at_us,
  change_id,
  kind,
  changes
FROM history, availability__roots AS roots
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
-- step: availability__touched
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
  FROM availability__telling AS telling, availability__stock_since AS stock_since
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
), availability__stock_since AS stock_since, availability__span AS span
WHERE
  NOT after_us IS NULL
  AND (
    UNIX_MICROS(first_seen_at) > after_us
    OR UNIX_MICROS(removed_at) > after_us
    OR UNIX_MICROS(gone_at) > after_us
    OR known_us > after_us
  );
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
  ), availability__stock_since AS stock_since
  WHERE
    after_us IS NULL
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
  telling.item_id,
  site_id,
  at_us,
  change_id,
  kind,
  changes
FROM availability__telling AS telling
JOIN availability__listings AS listings
  USING (item_id);
-- step: availability__changed, kept
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
FROM availability__told AS told
JOIN availability__places AS places
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
-- step: availability__present, kept
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
  SEMI JOIN availability__listings AS listings
    USING (item_id)
  JOIN availability__names AS names
    ON names.site_id = items.site_id
)
ANTI JOIN availability__changed AS changed
  USING (item_id, name)
WHERE
  NOT value IS NULL;
-- step: availability__valued, kept
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
  FROM availability__changed AS changed
  UNION
  SELECT
    site_id,
    name,
    new_value
  FROM availability__changed AS changed
  UNION
  SELECT
    site_id,
    name,
    value
  FROM availability__present AS present
)
WHERE
  NOT value IS NULL;
-- step: availability__read_values
SELECT
  site_id,
  name,
  value,
  value_id
FROM availability__valued AS valued;
-- step: availability__single_values
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
FROM availability__read_values AS read_values
WHERE
  NOT value IS NULL;
-- step: availability__fields
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
FROM availability__single_values AS single_values;
-- step: availability__attribute_texts, kept
SELECT
  value_id,
  site_id,
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
FROM availability__attribute_texts AS attribute_texts
LEFT JOIN availability__usual AS usual
  USING (text)
LEFT JOIN availability__site_rules AS site_rules
  USING (site_id, key)
LEFT JOIN availability__common_rules AS common_rules
  USING (key);
-- step: availability__meant, kept
SELECT
  site_id,
  name,
  value,
  bits
FROM availability__valued AS valued
JOIN (
  SELECT
    value_id,
    BIT_OR(CASE availability WHEN 'in stock' THEN 1 WHEN 'on order' THEN 2 ELSE 4 END) AS bits
  FROM availability__worded AS worded
  WHERE
    NOT availability IS NULL
  GROUP BY
    value_id
)
  USING (value_id);
-- step: availability__steady, kept
SELECT
  item_id,
  BIT_OR(bits) AS bits
FROM availability__present AS present
JOIN availability__meant AS meant
  USING (site_id, name, value)
GROUP BY
  item_id;
-- step: availability__moments
SELECT
  item_id,
  at_us,
  change_id,
  kind,
  NULL AS name,
  NULL AS old_bits,
  NULL AS new_bits
FROM availability__told AS told
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
FROM availability__changed AS changed
LEFT JOIN availability__meant AS old
  ON old.site_id = changed.site_id
  AND old.name = changed.name
  AND old.value = old_value
LEFT JOIN availability__meant AS new
  ON new.site_id = changed.site_id
  AND new.name = changed.name
  AND new.value = new_value;
-- step: availability__filled
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
FROM availability__moments AS moments
LEFT JOIN (
  SELECT DISTINCT
    item_id,
    name
  FROM availability__changed AS changed
) AS own
  ON own.item_id = moments.item_id
WINDOW in_order AS (
  PARTITION BY moments.item_id, own.name
  ORDER BY at_us NULLS LAST, change_id NULLS LAST, kind NULLS LAST, moments.name NULLS LAST
);
-- step: availability__joined, kept
SELECT
  item_id,
  nth,
  ANY_VALUE(at_us) IGNORE NULLS AS at_us,
  ANY_VALUE(next_us) IGNORE NULLS AS next_us,
  ANY_VALUE(listing) IGNORE NULLS AS listing,
  BIT_OR(first_bits) AS first_bits,
  BIT_OR(COALESCE(last_bits, first_bits)) AS bits
FROM availability__filled AS filled
GROUP BY
  item_id,
  nth;
-- step: availability__sequenced
SELECT
  listings.item_id,
  product_id,
  site_id,
  seen_us AS from_us,
  at_us AS next_us,
  ended_us,
  COALESCE(first_bits, 0) | COALESCE(steady.bits, 0) AS bits
FROM availability__listings AS listings
LEFT JOIN (
  SELECT
    item_id,
    nth,
    at_us,
    next_us,
    listing,
    first_bits,
    bits
  FROM availability__joined AS joined
  WHERE
    nth = 1
) AS firsts
  USING (item_id)
LEFT JOIN availability__steady AS steady
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
FROM availability__joined AS joined
JOIN availability__listings AS listings
  USING (item_id)
LEFT JOIN availability__steady AS steady
  USING (item_id)
WHERE
  listing IS DISTINCT FROM 'REMOVED';
-- step: availability__stretches
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
FROM availability__sequenced AS sequenced, availability__span AS span;
-- step: availability__part
SELECT
  product_id,
  item_id,
  site_id,
  state,
  from_us,
  to_us,
  known_us,
  now_us
FROM availability__stretches AS stretches
WHERE
  from_us < to_us;
-- step: availability__runs, kept
SELECT
  product_id,
  item_id,
  site_id,
  state,
  from_us,
  to_us,
  known_us,
  now_us
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
  );
-- step: availability__span_
SELECT DISTINCT
  known_us,
  now_us
FROM availability__runs AS runs;
-- step: availability__bounds, kept
SELECT
  product_id,
  MIN(item_id) = MAX(item_id) AND BOOL_OR(state <> 'unknown') AS is_exact,
  COALESCE(SUM(to_us - from_us) FILTER(WHERE
    state = 'out of stock'), 0) AS out_us,
  BOOL_OR(state = 'out of stock' AND to_us = now_us) AS is_out,
  MAX(CASE WHEN to_us < now_us THEN to_us ELSE from_us END) AS moved_us
FROM availability__runs AS runs
WHERE
  :site_id IS NULL OR site_id = CAST(:site_id AS BIGINT)
GROUP BY
  product_id,
  site_id;
-- step: availability__numbers, kept
SELECT
  product_id,
  product_id AS product
FROM (
  SELECT DISTINCT
    product_id
  FROM availability__bounds AS bounds
  CROSS JOIN (
    SELECT
      CASE WHEN COUNT(*) = COALESCE(CAST(:top AS BIGINT), 100) THEN MIN(out_us) ELSE 0 END AS least_us
    FROM (
      SELECT
        out_us
      FROM availability__bounds AS bounds
      WHERE
        is_exact
      ORDER BY
        out_us DESC
      LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 100), 2147483647) AS INT)
    )
  )
  WHERE
    CASE
      WHEN :out_after IS NULL
      THEN out_us >= least_us
      ELSE is_out AND moved_us > UNIX_MICROS(CAST(:out_after AS TIMESTAMP))
    END
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
-- step: availability__stretches_, kept
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
  FROM availability__stretches_ AS stretches
  UNION ALL
  SELECT
    product,
    to_us,
    -1,
    -CAST((
      state <= 2
    ) AS INT)
  FROM availability__stretches_ AS stretches
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
JOIN availability__stretches_ AS stretches
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
FROM availability__stretches_ AS stretches, availability__span_ AS span
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
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 100), 2147483647) AS INT);
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
