/** Catalogue: a product is what several shops sell. Brands, nouns and shops come in as JSON, one row a draw. */
export const CREATE_CATALOGUE = `
CREATE TABLE leaf AS SELECT unnest(from_json($leaves, '[{"category_id":"INTEGER","median":"DOUBLE","sigma":"DOUBLE",
  "is_book":"BOOLEAN","mask":"INTEGER","json_ai":"VARCHAR","json_manual":"VARCHAR","brands":"INTEGER","nouns":"INTEGER"}]'), max_depth := 2);
CREATE TABLE leaf_brand AS SELECT unnest(from_json($leafBrands, '[{"category_id":"INTEGER","k":"INTEGER","brand":"VARCHAR"}]'), max_depth := 2);
CREATE TABLE leaf_noun AS SELECT unnest(from_json($leafNouns, '[{"category_id":"INTEGER","k":"INTEGER","noun":"VARCHAR"}]'), max_depth := 2);
CREATE TABLE leaf_slot AS SELECT unnest(from_json($leafSlots, '[{"slot":"INTEGER","category_id":"INTEGER"}]'), max_depth := 2);
CREATE TABLE shop_slot AS SELECT unnest(from_json($shopSlots, '[{"slot":"INTEGER","site_id":"BIGINT","host":"VARCHAR","currency":"VARCHAR",
  "per_euro":"DOUBLE","word":"VARCHAR","mask":"INTEGER","level":"DOUBLE","site_json":"VARCHAR","model_id":"BIGINT","source_json":"VARCHAR"}]'), max_depth := 2);
CREATE TABLE catalogue AS
WITH drawn AS (
  SELECT p, hash(p, $seed::BIGINT, 1) AS h1, hash(p, $seed::BIGINT, 2) AS h2, hash(p, $seed::BIGINT, 3) AS h3,
    hash(p, $seed::BIGINT, 4) % 1000 AS kind
  FROM range($products::BIGINT) r(p)
), leaved AS (
  SELECT d.*, l.*, (h2 % l.brands)::INTEGER AS brand_at, (h3 % l.nouns)::INTEGER AS noun_at
  FROM drawn d JOIN leaf_slot s ON s.slot = (d.h1 >> 8) % 1024 JOIN leaf l USING (category_id)
), bodies AS (
  SELECT v.*, b.brand, t.noun,
    upper(substr(b.brand, 1, 2)) || '-' || lpad((h3 % 100000)::VARCHAR, 5, '0')
      || CASE h3 % 7 WHEN 0 THEN '/B' WHEN 1 THEN '.EU' WHEN 2 THEN ' X' ELSE '' END AS mpn,
    (CASE WHEN is_book THEN 978000000000 + h1 % 1000000000
      WHEN kind < 120 THEN NULL
      WHEN kind < 150 THEN 2000000 + h1 % 7000000
      WHEN kind < 330 THEN h1 % 9900000000 + 100000000
      ELSE ([40, 42, 30, 50, 59, 73, 80, 84, 87, 76])[1 + (h2 % 10)::INTEGER] * 10000000000 + h1 % 10000000000 END)::BIGINT AS body,
    CASE WHEN is_book THEN 13 WHEN kind < 150 THEN 8 ELSE 13 END AS width
  FROM leaved v JOIN leaf_brand b ON b.category_id = v.category_id AND b.k = v.brand_at
  JOIN leaf_noun t ON t.category_id = v.category_id AND t.k = v.noun_at
)
SELECT p::INTEGER AS p, category_id, brand, mpn, noun,
  lpad((body * 10 + check_digit(body))::VARCHAR, width, '0') AS gtin,
  median * exp(sigma * gauss(hash(p, $seed::BIGINT, 5), hash(p, $seed::BIGINT, 6))) AS base_price
FROM bodies ORDER BY p;
`;

/**
 * Items $from to $to (exclusive) as first seen; prices are still those of the first day.
 * $firstSeen: micros since 1970; items appear from there on over $span micros.
 */
export const INSERT_ITEMS = `
INSERT INTO items
WITH drawn AS (
  SELECT n, hash(n, $seed::BIGINT, 11) AS h1, hash(n, $seed::BIGINT, 12) AS h2, hash(n, $seed::BIGINT, 13) AS h3,
    hash(n, $seed::BIGINT, 14) AS h4, hash(n, $seed::BIGINT, 15) AS h5, hash(n, $seed::BIGINT, 16) AS h6,
    hash(n, $seed::BIGINT, 17) AS h7, hash(n, $seed::BIGINT, 18) AS h8
  FROM range($from::BIGINT, $to::BIGINT) r(n)
), offers AS (
  -- The exponent makes some products widely sold and most of them rare.
  SELECT d.*, c.*, s.* EXCLUDE (mask), l.mask AS leaf_mask, s.mask AS shop_mask, l.json_ai, l.json_manual,
    -- A shop writes its GTINs in one form, nearly always.
    hash(s.site_id, CASE WHEN h3 % 12 = 0 THEN n ELSE 0 END) % 10 AS form,
    shop_price(c.base_price * s.per_euro * s.level * exp(0.11 * gauss(h4, h5)), (s.site_id * 7 + h6 % 2) % 10)
      * CASE h6 % 900 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 0.1 ELSE 1 END AS amount
  FROM drawn d
  JOIN catalogue c ON c.p = floor($products::BIGINT * pow(unit(h1), 1.5))::INTEGER
  JOIN shop_slot s ON s.slot = h2 % 4096
  JOIN leaf l USING (category_id)
), codes AS (
  SELECT *,
    CASE WHEN h3 % 100 < 11 THEN NULL
      WHEN h7 % 331 = 0 THEN left(gtin, -1) || ((right(gtin, 1)::INTEGER + 1) % 10)
      ELSE gtin END AS code,
    CASE WHEN h3 % 1000 > 960 THEN NULL WHEN h3 % 10 = 3 THEN upper(brand) WHEN h3 % 50 = 4 THEN brand || '®' ELSE brand END AS shop_brand,
    CASE WHEN h4 % 10 < 3 THEN NULL WHEN h4 % 10 = 4 THEN replace(mpn, '-', ' ') ELSE mpn END AS shop_mpn,
    concat(brand, ' ', noun, ' ', mpn, CASE WHEN h5 % 5 = 0 THEN ', ' || word ELSE '' END) AS shop_title
  FROM offers
), written AS (
  SELECT *,
    CASE WHEN form < 5 THEN code
      WHEN form < 7 AND length(code) < 13 THEN lpad(code, 13, '0')
      WHEN form = 8 THEN lpad(code, 14, '0')
      WHEN form = 9 AND length(ltrim(code, '0')) = 8 THEN ltrim(code, '0')
      ELSE code END AS shop_code
  FROM codes
)
SELECT n::INTEGER, 9107000000000001 + n * 3 + (h8 % 2)::BIGINT,
  CASE h7 % 400 WHEN 1 THEN '=SUM(A1:A9) ' || shop_title WHEN 2 THEN '🎁🧑‍🚀 ' || shop_title || ' 🇪🇺'
    WHEN 3 THEN 'סט מתנה – ' || shop_title WHEN 4 THEN '<b>' || shop_title || '</b> &amp; <i>extra</i>'
    WHEN 5 THEN '"' || shop_title || '" \\ 55″' WHEN 6 THEN shop_title || chr(10) || 'zweite Zeile' || chr(13) || chr(10) || chr(9) || 'dritte'
    WHEN 7 THEN NULL WHEN 8 THEN 'قهوة عربية ' || shop_title WHEN 9 THEN '   ' || shop_title || chr(160)
    WHEN 10 THEN repeat(shop_title || ' / ', 12) WHEN 11 THEN shop_title || chr(8232) || '1;2,3' ELSE shop_title END,
  shop_brand, shop_mpn, shop_code,
  CASE WHEN shop_code IS NOT NULL THEN ltrim(shop_code, '0') ELSE product_key_of(NULL, shop_brand, shop_mpn) END,
  CASE WHEN h8 % 250 = 0 THEN NULL ELSE amount END, NULL, NULL,
  CASE WHEN h8 % 1500 = 1 THEN NULL ELSE currency END,
  CASE WHEN h8 % 700 = 2 THEN NULL ELSE 'https://' || host || '/p/' || lower(replace(mpn, ' ', '%20')) || '?id=' || n END,
  CASE WHEN h6 % 20 < 3 THEN NULL ELSE 'https://img.' || host || '/' || p || '.jpg' END,
  CASE WHEN h6 % 40 = 5 THEN '{}' ELSE concat('{"stock":', h7 % 60,
    CASE h7 % 4 WHEN 0 THEN ',"shipping":4.95' WHEN 1 THEN ',"shipping":"free"' WHEN 2 THEN ',"shipping":null' ELSE '' END,
    CASE WHEN h6 % 2 = 0 THEN concat(',"rating":', 1 + h6 % 40 / 10.0, ',"reviews":', h6 % 900) ELSE '' END,
    CASE h6 % 9 WHEN 0 THEN ',"colours":["rot","čierna","žółty"]' WHEN 1 THEN concat(',"dimensions":{"w":', h6 % 80, ',"h":12.5,"unit":"cm"}')
      WHEN 2 THEN ',"inStore":true' WHEN 3 THEN concat(',"articleNumber":', 9007199254740993 + (h6 % 1000)::BIGINT * 2)
      WHEN 4 THEN ',"delivery":"2–3 Tage, \\"express\\" möglich"' ELSE '' END, '}') END,
  CASE WHEN h5 % 25 = 1 THEN NULL ELSE category_id END,
  CASE WHEN h5 % 25 = 1 THEN 'null' WHEN h5 % 8 = 3 THEN json_manual ELSE json_ai END,
  (CASE WHEN h5 % 25 <> 1 THEN leaf_mask | shop_mask WHEN shop_mask <> 0 THEN shop_mask ELSE $fallbackMask::INTEGER END)
    | CASE WHEN h8 % $sampleOneIn::BIGINT = 5 THEN $sampleMask::INTEGER ELSE 0 END,
  site_id, site_json, model_id, source_json,
  seen.instant, seen.instant, seen.instant, NULL, $step::INTEGER, NULL
FROM written, LATERAL (SELECT make_timestamp($firstSeen::BIGINT + CASE
  WHEN h4 % 10 < 6 THEN (h5 % ($span::BIGINT // 80 + 1))::BIGINT
  WHEN h4 % 3 = 0 THEN (h5 % $span::BIGINT // 1000000 * 1000000)::BIGINT
  ELSE (h5 % $span::BIGINT)::BIGINT END) AS instant) seen
ORDER BY n;
`;

/** Every item's first change. */
export const INSERT_NEW_PENDING = `
INSERT INTO pending
SELECT n, 0, first_seen_at, price, NULL, '{}', mask FROM items WHERE n >= $from::BIGINT AND n < $to::BIGINT;
`;

/** Listings that are gone from the caller's data: their changes stay, with a null item. */
export const INSERT_GONE_PENDING = `
INSERT INTO pending
SELECT NULL, kind, make_timestamp($firstSeen::BIGINT + 3600000000 * (10 + kind * 30) + (hash(g, $seed::BIGINT, 41 + kind) % 86400000000)::BIGINT),
  (9.99 + g % 90)::DECIMAL(18,4), NULL, '{}', $mask::INTEGER
FROM range($gone::BIGINT) r(g), (VALUES (0), (2)) k(kind);
`;

/** One round of a generated history: some items change once more, at any time after their last change. */
export const PICK_PAST_CHANGES = `
INSERT INTO pick
SELECT n,
  CASE WHEN removed_at IS NOT NULL THEN 3 WHEN h % 100 < 26 THEN 2 ELSE 1 END,
  last_changed_at + to_microseconds(1 + ((0.02 + 0.96 * unit(h)) * (epoch_us(make_timestamp($end::BIGINT)) - epoch_us(last_changed_at)))::BIGINT)
FROM (SELECT n, removed_at, last_changed_at, hash(n, $salt::BIGINT, 51) AS h, hash(n, $salt::BIGINT, 52) AS chance FROM items)
WHERE chance % 1000 < CASE WHEN removed_at IS NOT NULL THEN 350 ELSE $perMille::BIGINT END;
`;

/** Once the past is written: a listed item was found by the last scrape of its source. */
export const SET_LAST_SEEN = `
UPDATE items SET last_seen_at = greatest(s.last_scrape_at, items.last_changed_at)
FROM sources s WHERE s.model_id = items.model_id AND items.removed_at IS NULL;
`;
