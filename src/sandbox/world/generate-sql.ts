/** Texts as real shops write them, used in INSERT_ITEMS. Unless noted, each variant occurs in one of 400 listings. */

/** An SQL expression that makes a messy title from the clean `shop_title`. */
const UGLY_TITLE = `CASE h7 % 400
  -- Texts that a spreadsheet would interpret as formulas.
  WHEN 1 THEN '=SUM(A1:A9) ' || shop_title WHEN 2 THEN '=1+1' WHEN 3 THEN '+49 30 901820 ' || shop_title
  WHEN 4 THEN '-20 % ' || shop_title WHEN 5 THEN '@' || shop_title
  -- HTML, entities and unfilled template placeholders.
  WHEN 6 THEN '<b>' || shop_title || '</b> &amp; <i>extra</i>' WHEN 7 THEN shop_title || '<script>alert(1)</script>'
  WHEN 8 THEN '<p class="t">' || shop_title || '<br/>' || chr(10) || '<ul><li>&nbsp;A &lt; B</li></ul></p>' WHEN 9 THEN '{{ title }} \${name} %s ' || shop_title
  -- Quotes, backslashes, line breaks, tabs and all kinds of spaces.
  WHEN 10 THEN '"' || shop_title || '" \\ 55″' WHEN 11 THEN shop_title || chr(10) || 'zweite Zeile' || chr(13) || chr(10) || chr(9) || 'dritte'
  WHEN 12 THEN '   ' || shop_title || chr(160) WHEN 13 THEN shop_title || chr(8232) || '1;2,3' WHEN 14 THEN 'C:\\new\\table ' || shop_title
  WHEN 15 THEN chr(65279) || replace(shop_title, ' ', chr(8203) || ' ') || chr(173)
  -- Beyond Latin: multi-code-point emoji, right-to-left and mixed text, combining accents, and wrongly decoded bytes.
  WHEN 16 THEN '🎁🧑‍🚀 ' || shop_title || ' 🇪🇺' WHEN 17 THEN 'סט מתנה – ' || shop_title WHEN 18 THEN 'قهوة عربية ' || shop_title
  WHEN 19 THEN shop_title || ' Cafe' || chr(769) || ' mu' || chr(776) || 'nchen' WHEN 20 THEN 'FÃ¼r GroÃŸe â€“ ' || shop_title
  -- Very long text, empty text, and words that stand for a missing value.
  WHEN 21 THEN repeat(shop_title || ' / ', 90) WHEN 22 THEN '' WHEN 23 THEN NULL WHEN 24 THEN 'null' WHEN 25 THEN 'N/A'
  ELSE shop_title END`;

/** An SQL expression that marks titles of multipacks, and of used or refurbished products. */
const MARKED_TITLE = `CASE WHEN h9 % 160 IN (1, 2) THEN concat(ugly_title, CASE WHEN h9 % 160 = 2 THEN ''
    ELSE ([', gebraucht', ' – d’occasion', ' (používané)', ' [usato]', ' używany', ', second hand'])[1 + (h9 // 160 % 6)::INTEGER] END)
  WHEN h9 % 160 = 3 THEN concat(ugly_title, ([' (refurbished)', ' – generalüberholt', ', reconditionné'])[1 + (h9 // 160 % 3)::INTEGER])
  WHEN pack_of = 1 THEN ugly_title ELSE concat(ugly_title,
  ([' (' || pack_of || 'er-Pack)', ' – lot de ' || pack_of, ' x' || pack_of, ', zestaw ' || pack_of || ' szt.'])[1 + (h7 % 4)::INTEGER]) END`;

/** An SQL expression for stock: a number of pieces or, depending on the shop's `habit`, a schema.org value. */
const STOCK = `CASE WHEN habit IN (1, 4) THEN concat('"availability":"https://schema.org/',
    CASE WHEN h7 % 20 < 17 THEN 'InStock' WHEN h7 % 20 = 17 THEN 'BackOrder' ELSE 'OutOfStock' END, '"')
  ELSE concat('"stock":', CASE h7 % 67 WHEN 1 THEN '"auf Lager"' WHEN 2 THEN 'null' WHEN 3 THEN 'true' WHEN 4 THEN '"> 10"'
    ELSE (CASE WHEN h6 % 19 = 0 THEN 0 ELSE h7 % 60 END)::VARCHAR END) END`;

/**
 * An SQL expression for the shipping cost, which is a number, text, null or absent. It is zero for items above some
 * price.
 */
const SHIPPING = `CASE WHEN habit = 2 THEN ',"shipping":null' WHEN habit = 3 THEN ''
  ELSE concat(',"shipping":', CASE WHEN habit = 1 AND worth > 40 * per_euro THEN '"free"' WHEN habit <> 4 AND worth > 80 * per_euro THEN '0'
    WHEN habit = 4 THEN concat('"', replace(delivery::VARCHAR, '.', ','), ' ', currency, '"') ELSE delivery::VARCHAR END) END`;

/**
 * An SQL expression for attributes as JSON, with values of all types. Some attributes have the name of a field of Item.
 */
const UGLY_ATTRIBUTES = `CASE WHEN h6 % 40 = 5 THEN '{}' ELSE concat('{', ${STOCK}, ${SHIPPING},
  CASE WHEN habit IN (0, 3) THEN concat(',"regularPrice":', json_money(usual)) ELSE '' END,
  CASE h9 % 160 WHEN 2 THEN ',"condition":"used"' WHEN 4 THEN ',"condition":"refurbished"' ELSE '' END,
  CASE WHEN h6 % 2 = 0 THEN concat(',"rating":', 1 + h6 % 40 / 10.0, ',"reviews":', h6 % 900) ELSE '' END,
  CASE WHEN pack_of > 1 THEN ',"packSize":' || pack_of ELSE '' END,
  CASE h6 % 9 WHEN 0 THEN ',"colours":["rot","čierna","žółty"]' WHEN 1 THEN concat(',"dimensions":{"w":', h6 % 80, ',"h":12.5,"unit":"cm"}')
    WHEN 2 THEN ',"inStore":true' WHEN 3 THEN concat(',"articleNumber":', 9007199254740993 + (h6 % 1000)::BIGINT * 2)
    WHEN 4 THEN ',"delivery":"2–3 Tage, \\"express\\" möglich"' ELSE '' END,
  CASE h7 % 401 WHEN 1 THEN ',"price":"ab 9,99 €","id":7,"title":null,"site":{"id":"x"}' WHEN 2 THEN ',"":"","größe / \\"Maß\\"":"XL","a.b":{"c d":[]}'
    WHEN 3 THEN ',"specs":{"power":{"value":1.2e3,"unit":"W","ranges":[[1,2.50],[3,null]]},"tags":[{"k":"=1+1"},{}]}'
    WHEN 4 THEN ',"weight":1e-7,"serial":123456789012345678901234567890,"delta":-0.0,"ratio":0.1000'
    WHEN 5 THEN ',"description":"<p>Größe: 5\\" &amp; mehr<br/>\\n<ul><li>=1+1</li></ul>🎁</p>"' WHEN 6 THEN ',"note":"\\u0007 \\ud83c\\udf81 \\/ \\r\\n\\t"'
    WHEN 7 THEN ',"available":false,"deposit":null,"sizes":[],"extra":{}' WHEN 8 THEN concat(',"description":"', repeat('Lange Beschreibung, très longue. ', 300), '"')
    ELSE '' END, '}') END`;

/** Removes all optional fields from one of 400 listings. */
export const MISS_EVERYTHING = `
UPDATE items SET title = NULL, brand = NULL, mpn = NULL, gtin = NULL, product_key = NULL, price = NULL, usual_price = NULL, currency = NULL,
  url = NULL, image = NULL, attributes = '{}', category_id = NULL, category_json = 'null'
WHERE n >= $from::BIGINT AND n < $to::BIGINT AND draw(n, $seed::BIGINT, 19) % 400 = 0;
`;

/** Creates the catalog of products, each sold by several shops. Categories and shops are passed as JSON. */
export const CREATE_CATALOG = `
CREATE TABLE leaf AS SELECT unnest(from_json($leaves, '[{"first":"INTEGER","next":"INTEGER","category_id":"INTEGER","median":"DOUBLE","sigma":"DOUBLE",
  "is_book":"BOOLEAN","mask":"INTEGER","json_ai":"VARCHAR","json_manual":"VARCHAR","brands":["VARCHAR"],"nouns":["VARCHAR"]}]'), max_depth := 2);
CREATE TABLE leaf_slot AS SELECT unnest(range(first, next)) AS slot, category_id FROM leaf;
CREATE TABLE shop AS SELECT unnest(from_json($shops, '[{"first":"INTEGER","next":"INTEGER","site_id":"BIGINT","host":"VARCHAR","currency":"VARCHAR",
  "per_euro":"DOUBLE","words":["VARCHAR"],"mask":"INTEGER","level":"DOUBLE","site_json":"VARCHAR",
  "sources":[{"model_id":"BIGINT","source_json":"VARCHAR"}]}]'), max_depth := 2);
CREATE TABLE shop_slot AS
SELECT slot, site_id, host, currency, per_euro, words[1 + slot % len(words)] AS word, mask, level, site_json,
  unnest(sources[1 + slot % len(sources)])
FROM (SELECT *, unnest(range(first, next)) AS slot FROM shop);
CREATE TABLE catalog AS
WITH drawn AS (
  SELECT p, draw(p, $seed::BIGINT, 1) AS h1, draw(p, $seed::BIGINT, 2) AS h2, draw(p, $seed::BIGINT, 3) AS h3,
    draw(p, $seed::BIGINT, 4) % 1000 AS kind, draw(p, $seed::BIGINT, 7) AS h4
  FROM range($products::BIGINT) r(p)
), leaved AS (
  SELECT d.*, l.*, l.brands[1 + (h2 % len(l.brands))::INTEGER] AS brand, l.nouns[1 + (h3 % len(l.nouns))::INTEGER] AS thing,
    -- Cheap products are also sold by the case, which is a separate product.
    CASE WHEN l.median < 20 AND NOT l.is_book AND h4 % 8 = 0 THEN ([2, 3, 4, 6, 6, 12, 24])[1 + (h4 // 8 % 7)::INTEGER] ELSE 1 END AS pack
  FROM drawn d JOIN leaf_slot s ON s.slot = (d.h1 >> 8) % 1024 JOIN leaf l USING (category_id)
), bodies AS (
  SELECT v.*, CASE WHEN pack > 1 THEN pack || ' x ' || thing ELSE thing END AS noun,
    upper(substr(brand, 1, 2)) || '-' || lpad((h3 % 100000)::VARCHAR, 5, '0')
      || CASE h3 % 7 WHEN 0 THEN '/B' WHEN 1 THEN '.EU' WHEN 2 THEN ' X' ELSE '' END AS mpn,
    (CASE WHEN is_book THEN 978000000000 + h1 % 1000000000
      WHEN kind < 120 THEN NULL
      -- The GTIN-14 of a case starts with an indicator digit from 1 to 8.
      WHEN pack > 1 AND kind % 2 = 0 THEN (1 + h3 % 8) * 1000000000000 + 400000000000 + h1 % 99999999999
      WHEN kind < 150 THEN 2000000 + h1 % 7000000
      WHEN kind < 330 THEN h1 % 9900000000 + 100000000
      ELSE ([40, 42, 30, 50, 59, 73, 80, 84, 87, 76])[1 + (h2 % 10)::INTEGER] * 10000000000 + h1 % 10000000000 END)::BIGINT AS body,
    CASE WHEN is_book THEN 13 WHEN pack > 1 AND kind % 2 = 0 THEN 14 WHEN kind < 150 THEN 8 ELSE 13 END AS width
  FROM leaved v
)
SELECT p::INTEGER AS p, category_id, brand, mpn, noun,
  lpad((body * 10 + check_digit(body))::VARCHAR, width, '0') AS gtin,
  median * exp(sigma * gauss(draw(p, $seed::BIGINT, 5), draw(p, $seed::BIGINT, 6))) * CASE WHEN pack > 1 THEN pack * 0.92 ELSE 1 END AS base_price
FROM bodies ORDER BY p;
`;

/**
 * Adds the items from $from to below $to with the prices of their first day. They are first seen within $span
 * microseconds after $firstSeen (microseconds since 1970).
 */
export const INSERT_ITEMS = `
INSERT INTO items
WITH drawn AS (
  SELECT n, draw(n, $seed::BIGINT, 11) AS h1, draw(n, $seed::BIGINT, 12) AS h2, draw(n, $seed::BIGINT, 13) AS h3,
    draw(n, $seed::BIGINT, 14) AS h4, draw(n, $seed::BIGINT, 15) AS h5, draw(n, $seed::BIGINT, 16) AS h6,
    draw(n, $seed::BIGINT, 17) AS h7, draw(n, $seed::BIGINT, 18) AS h8, draw(n, $seed::BIGINT, 20) AS h9
  FROM range($from::BIGINT, $to::BIGINT) r(n)
), offers AS (
  -- The exponent makes a few products widely sold, and most products rare.
  SELECT d.*, c.* REPLACE (coalesce(other_brand, c.brand) AS brand, coalesce(other_noun, c.noun) AS noun, coalesce(other_mpn, c.mpn) AS mpn,
      CASE WHEN h9 // 160 % 2 = 0 THEN coalesce(other_price, c.base_price) ELSE c.base_price END AS base_price),
    s.* EXCLUDE (mask), l.mask AS leaf_mask, s.mask AS shop_mask, l.json_ai, l.json_manual,
    -- A shop writes nearly all of its GTINs in the same form.
    draw(s.site_id, CASE WHEN h3 % 12 = 0 THEN n ELSE 0 END) % 10 AS form,
    -- A multipack under the GTIN of a single piece. The price is correct, but it is an outlier.
    CASE WHEN h4 % 125 = 7 AND c.base_price < 60 THEN ([2, 3, 4, 6, 6, 12])[1 + (h4 // 125 % 6)::INTEGER] ELSE 1 END AS pack_of,
    base_price * s.per_euro * s.level * exp(0.11 * gauss(h4, h5)) * CASE WHEN pack_of > 1 THEN pack_of * 0.93 ELSE 1 END
      * CASE WHEN h9 % 160 IN (1, 2, 3, 4) THEN 0.4 + h9 // 1000 % 30 / 100.0 ELSE 1 END AS worth,
    (s.site_id * 7 + h6 % 2) % 10 AS style,
    s.site_id // 2 % 6 AS habit,
    price_point((2.9 + s.site_id // 2 % 4) * s.per_euro, s.currency, 0)::DECIMAL(18,2) AS delivery
  FROM drawn d
  JOIN catalog c ON c.p = floor($products::BIGINT * pow(unit(h1), 1.5))::INTEGER
  -- A shop's mistake: another product under this GTIN. Half of these offers have the other product's price.
  LEFT JOIN (SELECT p AS other, brand AS other_brand, noun AS other_noun, mpn AS other_mpn, base_price AS other_price FROM catalog)
    -- A single equality lets DuckDB use a hash join. More conditions would compare each listing with all products.
    ON other = CASE WHEN h9 % 160 = 7 AND h3 % 100 >= 11 AND c.gtin IS NOT NULL THEN (c.p + 1 + h9 // 160 % 997) % $products::BIGINT END
  JOIN shop_slot s ON s.slot = h2 % 4096
  JOIN leaf l USING (category_id)
), codes AS (
  SELECT *, price_point(worth, currency, style)::DECIMAL(18,4) AS usual,
    CASE WHEN h3 % 100 < 11 THEN NULL
      WHEN h7 % 331 = 0 THEN left(gtin, -1) || ((right(gtin, 1)::INTEGER + 1) % 10)
      ELSE gtin END AS code,
    CASE WHEN h3 % 1000 > 960 THEN NULL WHEN h3 % 10 = 3 THEN upper(brand) WHEN h3 % 50 = 4 THEN brand || '®' ELSE brand END AS shop_brand,
    CASE WHEN h4 % 10 < 3 THEN NULL WHEN h4 % 10 = 4 THEN replace(mpn, '-', ' ') ELSE mpn END AS shop_mpn,
    concat(brand, ' ', noun, ' ', mpn, CASE WHEN h5 % 5 = 0 THEN ', ' || word ELSE '' END) AS shop_title,
    ${UGLY_TITLE} AS ugly_title
  FROM offers
), written AS (
  SELECT *, CASE WHEN h8 % 250 = 0 THEN NULL ELSE (usual * wrong_factor(h6))::DECIMAL(18,4) END AS amount,
    CASE WHEN form < 5 THEN code
      WHEN form < 7 AND length(code) < 13 THEN lpad(code, 13, '0')
      WHEN form = 8 THEN lpad(code, 14, '0')
      WHEN form = 9 AND length(ltrim(code, '0')) = 8 THEN ltrim(code, '0')
      ELSE code END AS shop_code
  FROM codes
)
SELECT n::INTEGER, 9107000000000001 + n * 3 + (h8 % 2)::BIGINT,
  ${MARKED_TITLE},
  shop_brand, shop_mpn, shop_code,
  CASE WHEN shop_code IS NOT NULL THEN ltrim(shop_code, '0') ELSE product_key_of(NULL, shop_brand, shop_mpn) END,
  amount, NULL, NULL,
  CASE WHEN h8 % 1500 = 1 THEN NULL ELSE currency END,
  CASE WHEN h8 % 700 = 2 THEN NULL ELSE 'https://' || host || '/p/' || lower(replace(mpn, ' ', '%20')) || '?id=' || n END,
  CASE WHEN h6 % 20 < 3 THEN NULL ELSE 'https://img.' || host || '/' || p || '.jpg' END,
  ${UGLY_ATTRIBUTES},
  CASE WHEN h5 % 25 = 1 THEN NULL ELSE category_id END,
  CASE WHEN h5 % 25 = 1 THEN 'null' WHEN h5 % 8 = 3 THEN json_manual ELSE json_ai END,
  (CASE WHEN h5 % 25 <> 1 THEN leaf_mask | shop_mask WHEN shop_mask <> 0 THEN shop_mask ELSE $fallbackMask::INTEGER END)
    | CASE WHEN h8 % $sampleOneIn::BIGINT = 5 THEN $sampleMask::INTEGER ELSE 0 END,
  site_id, site_json, model_id, source_json,
  seen.instant, seen.instant, seen.instant, NULL, $step::INTEGER, NULL,
  CASE WHEN amount <> usual THEN usual END, seen.instant
FROM written, LATERAL (SELECT make_timestamp($firstSeen::BIGINT + CASE
  WHEN h4 % 10 < 6 THEN (h5 % ($span::BIGINT // 80 + 1))::BIGINT
  WHEN h4 % 3 = 0 THEN (h5 % $span::BIGINT // 1000000 * 1000000)::BIGINT
  ELSE (h5 % $span::BIGINT)::BIGINT END) AS instant) seen
ORDER BY n;
`;

export const INSERT_NEW_PENDING = `
INSERT INTO pending
SELECT n, 0, first_seen_at, price, NULL, '{}', mask FROM items WHERE n >= $from::BIGINT AND n < $to::BIGINT;
`;

/** Adds changes of listings that no longer exist. The feed shows them with a null item. */
export const INSERT_GONE_PENDING = `
INSERT INTO pending
SELECT NULL, kind, make_timestamp($firstSeen::BIGINT + 3600000000 * (10 + kind * 30) + (draw(g, $seed::BIGINT, 41 + kind) % 86400000000)::BIGINT),
  (9.99 + g % 90)::DECIMAL(18,4), NULL, '{}', $mask::INTEGER
FROM range($gone::BIGINT) r(g), (VALUES (0), (2)) k(kind);
`;

/**
 * Chooses the items that change in one round of the past, and when they change. Offers of a product that change
 * together (a wave) do so within two days. Most discounts and wrong prices end within two weeks.
 */
export const PICK_PAST_CHANGES = `
INSERT INTO pick
WITH drawn AS (
  SELECT n, CASE WHEN removed_at IS NOT NULL THEN 'back' WHEN usual_price IS NOT NULL THEN 'return'
      WHEN in_wave(product_key, $salt::BIGINT) THEN 'wave' ELSE 'alone' END AS cause,
    draw(n, $salt::BIGINT, 51) AS h, epoch_us(last_event_at) AS since,
    CASE cause WHEN 'wave' THEN draw(product_key, $salt::BIGINT, 53) ELSE draw(n, $salt::BIGINT, 52) END % 1000 AS chance,
    CASE cause WHEN 'wave' THEN $firstSeen::BIGINT
        + (pow(unit(draw(product_key, $salt::BIGINT, 54)), 0.6) * ($end::BIGINT - $firstSeen::BIGINT))::BIGINT + (h % 172800000000)::BIGINT
      WHEN 'return' THEN since + 3600000000 * (2 + h % 330)::BIGINT + (h % 3600000000)::BIGINT
      ELSE since + 1 + ((0.02 + 0.96 * unit(h)) * ($end::BIGINT - since))::BIGINT END AS instant
  FROM items
)
SELECT n, CASE WHEN cause = 'back' THEN 3 WHEN cause = 'alone' AND h % 100 < 30 THEN 2 ELSE 1 END, make_timestamp(instant)
FROM drawn WHERE instant > since AND instant < $end::BIGINT
  AND chance < CASE cause WHEN 'back' THEN 350 WHEN 'return' THEN 800 ELSE $perMille::BIGINT END;
`;

/** Sets when each listed item was last seen to the last scrape of its source. */
export const SET_LAST_SEEN = `
UPDATE items SET last_seen_at = greatest(s.last_scrape_at, items.last_event_at)
FROM sources s WHERE s.model_id = items.model_id AND items.removed_at IS NULL;
`;
