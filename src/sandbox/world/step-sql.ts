/** Creates the macros for prices. `style` from 0 to 9 determines how a shop rounds prices. */
export const CREATE_PRICE_MACROS = `
-- Rounds to the nearest price that a shop would use, such as 0.89, 12.99, 1999 or 1 990 Ft.
CREATE MACRO price_point(amount, currency, style) AS CASE
  WHEN currency = 'HUF' THEN greatest(round(amount / 10) * 10 - CASE WHEN style < 5 THEN 1 ELSE 0 END, 9)
  WHEN currency = 'CZK' AND amount >= 100 AND style < 6 THEN round(amount / 10) * 10 - 1
  WHEN currency = 'CZK' THEN greatest(round(amount), 1)
  WHEN currency IN ('SEK', 'DKK') AND amount >= 20 AND style < 8 THEN round(amount)
  WHEN amount < 10 AND style < 5 THEN floor(amount * 10) / 10 + 0.09
  WHEN amount < 10 THEN greatest(round(amount, 2), 0.05)
  WHEN amount >= 2000 AND style < 4 THEN round(amount / 10) * 10 - 1
  WHEN style < 6 THEN floor(amount) + 0.99
  WHEN style < 7 THEN floor(amount) + 0.95
  WHEN style < 8 THEN floor(amount)
  ELSE round(amount, 2) END;
-- A typing mistake that moves the decimal point by one or two places.
CREATE MACRO wrong_factor(h) AS CASE h % 900 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 0.1 WHEN 4 THEN 0.01 ELSE 1 END;
-- Shops follow each other: in each round, all offers of every fourth product change together.
CREATE MACRO in_wave(product_key, salt) AS product_key IS NOT NULL AND draw(product_key, salt, 73) % 4 = 0;
CREATE MACRO schema_text(name) AS '"https://schema.org/' || name || '"';
-- Adjusts a price that must change although its price point stays the same.
CREATE MACRO nudged(price) AS price + CASE WHEN price < 1 THEN 0.01 WHEN price < 20 THEN -0.1 WHEN price < 1000 THEN -1 ELSE -10 END;
`;

/**
 * Parts of CREATE_STEP: the reason why a price in `moves` changes, and the new price (`priced`). During a discount or
 * after a wrong price, the usual price is stored, and the next change returns to it exactly.
 */
const PRICE_MOVES = `
reasons AS (
  SELECT *, coalesce(usual_price, price) AS usual,
    CASE WHEN NOT price_moves THEN NULL WHEN price IS NULL THEN 'first' WHEN kind = 1 AND h >= 99 THEN 'gone'
      WHEN price > 10000000 THEN 'halved'
      WHEN follows AND wave % 10 < 7 THEN 'cost' WHEN follows THEN 'war'
      WHEN usual_price < price OR usual_price > price * 5 OR (usual_price IS NOT NULL AND hp % 100 < 85) THEN 'return'
      WHEN usual_price IS NOT NULL THEN 'deeper'
      WHEN wrong_factor(hp) <> 1 AND price < 1000000 THEN 'wrong'
      -- The next change returns to the previous price, and announces it as a reduction from the raised price.
      WHEN tells_regular AND hp % 100 BETWEEN 45 AND 58 THEN 'raise'
      WHEN hp % 100 < 45 THEN 'discount' ELSE 'step' END AS reason,
    min(coalesce(usual_price, price)) FILTER (follows) OVER (PARTITION BY product_key, currency) AS lowest
  FROM moves
), amounts AS (
  SELECT *, CASE reason WHEN 'first' THEN 4.99 + hp % 200 WHEN 'halved' THEN price * 0.5
    -- A change in the supplier's price, which affects all shops.
    WHEN 'cost' THEN usual * (0.88 + (wave >> 8) % 29 / 100.0)
    -- A price war: offers move to or just below the lowest price. Other products under this GTIN don't.
    WHEN 'war' THEN greatest(usual * 0.7, least(usual * 1.02, lowest * (0.94 + (wave >> 8) % 6 / 100.0)))
    WHEN 'raise' THEN price * (1.15 + (hp >> 16) % 25 / 100.0) WHEN 'deeper' THEN price * 0.9 WHEN 'wrong' THEN price * wrong_factor(hp)
    WHEN 'discount' THEN price * (1 - ([5, 10, 10, 15, 20, 20, 25, 30, 40, 50, 70])[1 + ((hp >> 16) % 11)::INTEGER] / 100.0)
    ELSE price * (0.9 + (hp >> 16) % 23 / 100.0) END AS amount
  FROM reasons
), points AS (
  SELECT *, CASE reason WHEN 'return' THEN usual_price WHEN 'gone' THEN NULL WHEN 'wrong' THEN amount::DECIMAL(18,4)
    ELSE price_point(amount, currency, (site_id % 10 * 7 + hp % 2) % 10)::DECIMAL(18,4) END AS point
  FROM amounts
), priced AS (
  SELECT *, CASE WHEN reason IS NULL THEN price WHEN point = price THEN nudged(price)::DECIMAL(18,4) ELSE point END AS new_price,
    CASE WHEN reason IS NULL OR reason = 'deeper' THEN usual_price WHEN reason IN ('discount', 'wrong', 'raise') THEN price END AS new_usual,
    -- A shop's regular price doesn't change during a reduction.
    CASE WHEN tells_regular AND reason IN ('first', 'halved', 'cost', 'war', 'raise', 'step') THEN new_price ELSE regular END AS new_regular
  FROM points
)`;

/** Creates `step` with the values before and after each change in `pick`. $salt gives each step different hashes. */
export const CREATE_STEP = `
CREATE OR REPLACE TABLE step AS
WITH base AS (
  SELECT p.n, p.kind, p.observed_at, i.price, i.usual_price, i.currency, i.product_key, i.site_id, i.title, i.mask,
    i.last_event_at AS before_at, i.category_json, c.category_id AS new_category_id, c.category_json AS new_category_json, draw(p.n, $salt::BIGINT, 61) % 100 AS h, draw(p.n, $salt::BIGINT, 62) AS hp,
    p.kind = 1 AND i.price IS NOT NULL AND in_wave(i.product_key, $salt::BIGINT) AS follows,
    draw(i.product_key, $salt::BIGINT, 63) AS wave,
    TRY_CAST(regexp_extract(i.attributes, '"stock":([0-9]+)', 1) AS INTEGER) AS stock,
    nullif(regexp_extract(i.attributes, '"availability":"https://schema.org/(\\w+)"', 1), '') AS available,
    coalesce(regexp_matches(i.attributes, '"regularPrice":(null|[0-9]+(\\.[0-9]+)?)[,}]'), false) AS tells_regular,
    TRY_CAST(regexp_extract(i.attributes, '"regularPrice":([0-9.]+)', 1) AS DECIMAL(18,4)) AS regular
  FROM pick p JOIN items i ON i.n = p.n
  LEFT JOIN category_choice c ON p.kind = 1 AND draw(p.n, $salt::BIGINT, 64) % 8 = 0 AND c.category_id IS DISTINCT FROM i.category_id
    AND c.k = (draw(p.n, $salt::BIGINT, 65) % c.choices)::BIGINT
), moves AS (
  SELECT *,
    CASE kind WHEN 1 THEN follows OR h < 82 OR h >= 97 OR (stock IS NULL AND available IS NULL AND h < 93) WHEN 3 THEN h < 50 ELSE false END AS price_moves,
    coalesce(kind = 1 AND h >= 74 AND h < 93 AND stock IS NOT NULL, false) AS stock_moves,
    coalesce(kind = 1 AND h >= 74 AND h < 93 AND available IS NOT NULL, false) AS availability_moves,
    kind = 1 AND h >= 93 AND h < 97 AS title_moves
  FROM base
), ${PRICE_MOVES}, after AS (
  SELECT *,
    -- One in six stock changes sells the last piece.
    CASE WHEN NOT stock_moves THEN stock WHEN (hp >> 24) % 6 = 0 AND stock > 0 THEN 0
      ELSE (stock + 1 + (hp >> 8) % 40)::INTEGER % 80 END AS drawn_stock,
    CASE WHEN NOT availability_moves THEN available WHEN available <> 'InStock' THEN 'InStock'
      ELSE (['OutOfStock', 'OutOfStock', 'BackOrder', 'LimitedAvailability'])[1 + ((hp >> 8) % 4)::INTEGER] END AS new_available,
    tells_regular AND new_regular IS DISTINCT FROM regular AS regular_moves,
    CASE WHEN NOT title_moves THEN title WHEN title LIKE '% – Sale' THEN left(title, -7)
      ELSE coalesce(title, 'Neu') || ' – Sale' END AS new_title
  FROM priced
)
SELECT n, kind, observed_at, mask, price, new_price, new_usual, price_moves, title, new_title, title_moves, stock_moves, before_at,
  category_json, new_category_id, new_category_json, new_category_id IS NOT NULL AS category_moves,
  available, new_available, availability_moves, regular, new_regular, regular_moves,
  stock, CASE WHEN drawn_stock = stock AND stock_moves THEN stock + 1 ELSE drawn_stock END AS new_stock
FROM after;
`;

export const INSERT_STEP_PENDING = `
INSERT INTO pending
SELECT n, kind, observed_at, new_price, CASE WHEN price_moves THEN price END,
  '{' || concat_ws(',',
    CASE WHEN price_moves THEN price_member(price, new_price) END,
    CASE WHEN stock_moves THEN attribute_member('stock', stock, new_stock) END,
    CASE WHEN availability_moves THEN attribute_member('availability', schema_text(available), schema_text(new_available)) END,
    CASE WHEN regular_moves THEN attribute_member('regularPrice', json_money(regular), json_money(new_regular)) END,
    CASE WHEN category_moves THEN category_member(category_json, new_category_json) END,
    CASE WHEN title_moves THEN '"title":[' || json_text(title) || ',' || json_text(new_title) || ']' END) || '}',
  mask
FROM step;
`;

/** Applies the changes in `step` to the items (API §3). */
export const APPLY_STEP = `
UPDATE items SET price = s.new_price, usual_price = s.new_usual,
  previous_price = CASE WHEN s.price_moves THEN s.price ELSE items.previous_price END,
  price_changed_at = CASE WHEN s.price_moves THEN s.observed_at ELSE items.price_changed_at END,
  last_changed_at = CASE WHEN moves_last_changed(s.kind, s.price_moves) THEN s.observed_at ELSE items.last_changed_at END,
  last_event_at = s.observed_at,
  last_seen_at = CASE WHEN s.kind = 2
    THEN greatest(s.before_at, least(items.last_seen_at, s.observed_at - INTERVAL 1 HOUR))
    ELSE greatest(items.last_seen_at, s.observed_at) END,
  removed_at = CASE s.kind WHEN 2 THEN s.observed_at WHEN 3 THEN NULL ELSE items.removed_at END,
  touched = $step::INTEGER
FROM step s WHERE items.n = s.n;
UPDATE items SET title = s.new_title FROM step s WHERE items.n = s.n AND s.title_moves;
UPDATE items SET attributes = regexp_replace(items.attributes, '"stock":[0-9]+', '"stock":' || s.new_stock)
FROM step s WHERE items.n = s.n AND s.stock_moves;
UPDATE items SET attributes = replace(items.attributes, '"availability":' || schema_text(s.available), '"availability":' || schema_text(s.new_available))
FROM step s WHERE items.n = s.n AND s.availability_moves;
UPDATE items SET attributes = regexp_replace(items.attributes, '"regularPrice":(null|[0-9.]+)', '"regularPrice":' || json_money(s.new_regular))
FROM step s WHERE items.n = s.n AND s.regular_moves;
UPDATE items SET category_id = s.new_category_id, category_json = s.new_category_json
FROM step s WHERE items.n = s.n AND s.category_moves;
`;

/**
 * Chooses the changes of a round among the items of scraped sources: $removed are removed, $changed change, and
 * $relisted are listed again. Offers of a product that change together (a wave) are chosen together. Items with a
 * discount or a wrong price are preferred.
 */
export const PICK_STEP_CHANGES = `
INSERT INTO pick
WITH open AS (
  SELECT i.n, i.removed_at IS NULL AS listed, draw(i.n, $salt::BIGINT, 71) AS h,
    CASE WHEN i.removed_at IS NULL AND in_wave(i.product_key, $salt::BIGINT) THEN draw(i.product_key, $salt::BIGINT, 73)
      WHEN i.usual_price IS NOT NULL THEN draw(i.n, $salt::BIGINT, 71) // 4 ELSE draw(i.n, $salt::BIGINT, 71) END AS place,
    CASE WHEN epoch_us(s.scraped_at) > $from::BIGINT THEN least($to::BIGINT, epoch_us(s.scraped_at)) ELSE $to::BIGINT END AS hi
  FROM items i JOIN scrapes s USING (model_id) WHERE i.n < $items::BIGINT
), chosen AS (
  (SELECT *, 3 AS kind FROM open WHERE NOT listed ORDER BY place, n LIMIT $relisted::BIGINT)
  UNION ALL
  (SELECT *, CASE WHEN row_number() OVER (ORDER BY draw(n, $salt::BIGINT, 74), n) <= $removed::BIGINT THEN 2 ELSE 1 END
   FROM (SELECT * FROM open WHERE listed ORDER BY place, n LIMIT $removed::BIGINT + $changed::BIGINT))
), windows AS (
  SELECT *, greatest($from::BIGINT, hi - 1200000000) AS lo FROM chosen
)
SELECT n, kind, make_timestamp(CASE WHEN h % 3 = 0 AND instant // 1000000 * 1000000 > lo THEN instant // 1000000 * 1000000 ELSE instant END)
FROM (SELECT *, lo + 1 + (draw(n, $salt::BIGINT, 72) % greatest(hi - lo, 1))::BIGINT AS instant FROM windows);
`;

/** Applies the scrapes. A scrape sees all listed items of its source. */
export const APPLY_SCRAPES = `
UPDATE items SET last_seen_at = greatest(s.scraped_at, items.last_event_at), touched = $step::INTEGER
FROM scrapes s WHERE s.model_id = items.model_id AND items.removed_at IS NULL AND items.last_seen_at < s.scraped_at;
UPDATE sources SET last_scrape_at = s.scraped_at FROM scrapes s WHERE s.model_id = sources.model_id;
`;

/** Adds listings to loaded data. Each is a variant of an existing listing. */
export const CLONE_ITEMS = `
INSERT INTO items
SELECT n, max_id + 1 + (n - $known::BIGINT) * 2, coalesce(title, '') || ' (' || n || ')', brand, mpn, gtin, product_key,
  price, NULL, NULL, currency, url || CASE WHEN url LIKE '%?%' THEN '&' ELSE '?' END || 'variant=' || n, image, attributes,
  category_id, category_json, mask, site_id, site_json, model_id, source_json,
  seen.instant, seen.instant, seen.instant, NULL, $step::INTEGER, extra, NULL, seen.instant
FROM (SELECT m::INTEGER AS n, max_id, (draw(m, $salt::BIGINT, 81) % $from::BIGINT)::INTEGER AS origin
  FROM range($from::BIGINT, $to::BIGINT) r(m), (SELECT max(item_id) AS max_id FROM items WHERE n < $known::BIGINT)
  -- Ids end at the int64 maximum. When a shop has used all ids, it adds no more listings.
  WHERE m - $known::BIGINT < (9223372036854775807 - max_id) // 2) fresh
JOIN (SELECT * EXCLUDE (n, first_seen_at, last_seen_at, last_changed_at, removed_at), n AS origin FROM items) o USING (origin),
LATERAL (SELECT make_timestamp($firstSeen::BIGINT + 1 + (draw(n, $salt::BIGINT, 82) % $span::BIGINT)::BIGINT) AS instant) seen
ORDER BY n;
`;
