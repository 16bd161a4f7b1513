import { PRICE_MOVES } from './price-sql.js';

/**
 * From `pick` (which item, what kind, when) to `step`: the values before and after.
 * $salt makes each step's hashes its own.
 */
export const CREATE_STEP = `
CREATE OR REPLACE TABLE step AS
WITH base AS (
  SELECT p.n, p.kind, p.observed_at, i.price, i.usual_price, i.currency, i.product_key, i.site_id, i.title, i.mask,
    i.last_event_at AS before_at, i.category_json, c.category_id AS new_category_id, c.category_json AS new_category_json, draw(p.n, $salt::BIGINT, 61) % 100 AS h, draw(p.n, $salt::BIGINT, 62) AS hp,
    p.kind = 1 AND i.price IS NOT NULL AND in_wave(i.product_key, $salt::BIGINT) AS follows,
    draw(i.product_key, $salt::BIGINT, 63) AS wave,
    TRY_CAST(regexp_extract(i.attributes, '"stock":([0-9]+)', 1) AS INTEGER) AS stock
  FROM pick p JOIN items i ON i.n = p.n
  LEFT JOIN category_choice c ON p.kind = 1 AND draw(p.n, $salt::BIGINT, 64) % 8 = 0 AND c.category_id IS DISTINCT FROM i.category_id
    AND c.k = (draw(p.n, $salt::BIGINT, 65) % c.choices)::BIGINT
), moves AS (
  SELECT *,
    CASE kind WHEN 1 THEN follows OR h < 82 OR h >= 97 OR (stock IS NULL AND h < 93) WHEN 3 THEN h < 50 ELSE false END AS price_moves,
    coalesce(kind = 1 AND h >= 74 AND h < 93 AND stock IS NOT NULL, false) AS stock_moves,
    kind = 1 AND h >= 93 AND h < 97 AS title_moves
  FROM base
), ${PRICE_MOVES}, after AS (
  SELECT *,
    CASE WHEN stock_moves THEN (stock + 1 + (hp >> 8) % 40)::INTEGER % 80 ELSE stock END AS drawn_stock,
    CASE WHEN NOT title_moves THEN title WHEN title LIKE '% – Sale' THEN left(title, -7)
      ELSE coalesce(title, 'Neu') || ' – Sale' END AS new_title
  FROM priced
)
SELECT n, kind, observed_at, mask, price, new_price, new_usual, price_moves, title, new_title, title_moves, stock_moves, before_at,
  category_json, new_category_id, new_category_json, new_category_id IS NOT NULL AS category_moves,
  stock, CASE WHEN drawn_stock = stock AND stock_moves THEN stock + 1 ELSE drawn_stock END AS new_stock
FROM after;
`;

export const INSERT_STEP_PENDING = `
INSERT INTO pending
SELECT n, kind, observed_at, new_price, CASE WHEN price_moves THEN price END,
  '{' || concat_ws(',',
    CASE WHEN price_moves THEN price_member(price, new_price) END,
    CASE WHEN stock_moves THEN attribute_member('stock', stock, new_stock) END,
    CASE WHEN category_moves THEN category_member(category_json, new_category_json) END,
    CASE WHEN title_moves THEN '"title":[' || json_text(title) || ',' || json_text(new_title) || ']' END) || '}',
  mask
FROM step;
`;

/** The items after the step (section 3, listing state). */
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
UPDATE items SET category_id = s.new_category_id, category_json = s.new_category_json
FROM step s WHERE items.n = s.n AND s.category_moves;
`;

/**
 * Of the items whose sources were scraped: $removed go, $changed change; $relisted of the unlisted come back.
 * The order draws them: offers of a product in a wave together, and discounts and wrong prices sooner than others.
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

/** A scrape finds every listed item of its source. */
export const APPLY_SCRAPES = `
UPDATE items SET last_seen_at = greatest(s.scraped_at, items.last_event_at), touched = $step::INTEGER
FROM scrapes s WHERE s.model_id = items.model_id AND items.removed_at IS NULL AND items.last_seen_at < s.scraped_at;
UPDATE sources SET last_scrape_at = s.scraped_at FROM scrapes s WHERE s.model_id = sources.model_id;
`;

/** New listings of a world that came from a file: variants of what its shops sell already. */
export const CLONE_ITEMS = `
INSERT INTO items
SELECT n, $maxId::BIGINT + 1 + (n - $known::BIGINT) * 2, coalesce(title, '') || ' (' || n || ')', brand, mpn, gtin, product_key,
  price, NULL, NULL, currency, url || CASE WHEN url LIKE '%?%' THEN '&' ELSE '?' END || 'variant=' || n, image, attributes,
  category_id, category_json, mask, site_id, site_json, model_id, source_json,
  seen.instant, seen.instant, seen.instant, NULL, $step::INTEGER, extra, NULL, seen.instant
FROM (SELECT m::INTEGER AS n, (draw(m, $salt::BIGINT, 81) % $from::BIGINT)::INTEGER AS origin FROM range($from::BIGINT, $to::BIGINT) r(m)
  -- Ids end with int64: a shop that has used them up lists nothing new.
  WHERE m - $known::BIGINT < (9223372036854775807 - $maxId::BIGINT) // 2) fresh
JOIN (SELECT * EXCLUDE (n, first_seen_at, last_seen_at, last_changed_at, removed_at), n AS origin FROM items) o USING (origin),
LATERAL (SELECT make_timestamp($firstSeen::BIGINT + 1 + (draw(n, $salt::BIGINT, 82) % $span::BIGINT)::BIGINT) AS instant) seen
ORDER BY n;
`;
