/**
 * From `pick` (which item, what kind, when) to `step`: the values before and after.
 * $salt makes each step's hashes its own.
 */
export const CREATE_STEP = `
CREATE OR REPLACE TABLE step AS
WITH base AS (
  SELECT p.n, p.kind, p.observed_at, i.price, i.title, i.attributes, i.mask, i.last_changed_at AS before_at,
    hash(p.n, $salt::BIGINT, 61) % 100 AS h, hash(p.n, $salt::BIGINT, 62) AS hp,
    TRY_CAST(regexp_extract(i.attributes, '"stock":([0-9]+)', 1) AS INTEGER) AS stock
  FROM pick p JOIN items i ON i.n = p.n
), moves AS (
  SELECT *,
    CASE kind WHEN 1 THEN h < 82 OR h >= 97 OR (stock IS NULL AND h < 93) WHEN 3 THEN h < 50 ELSE false END AS price_moves,
    coalesce(kind = 1 AND h >= 74 AND h < 93 AND stock IS NOT NULL, false) AS stock_moves,
    kind = 1 AND h >= 93 AND h < 97 AS title_moves,
    price * CASE WHEN price > 10000000 THEN 0.5 WHEN hp % 900 = 0 THEN 10 WHEN hp % 900 = 1 THEN 0.1
      ELSE 0.74 + (hp % 5000)::DOUBLE / 10000 END AS amount
  FROM base
), moved AS (
  SELECT *, CASE WHEN amount < 10 THEN greatest(round(amount, 2), 0.05) WHEN hp % 10 < 8 THEN floor(amount) + 0.99
    ELSE round(amount, 2) END::DECIMAL(18,4) AS candidate
  FROM moves
), after AS (
  SELECT *,
    CASE WHEN NOT price_moves THEN price WHEN price IS NULL THEN (4.99 + hp % 200)::DECIMAL(18,4)
      WHEN kind = 1 AND h >= 99 THEN NULL
      WHEN candidate = price THEN (price + 0.5)::DECIMAL(18,4) ELSE candidate END AS new_price,
    CASE WHEN stock_moves THEN (stock + 1 + (hp >> 8) % 40)::INTEGER % 80 ELSE stock END AS drawn_stock,
    CASE WHEN NOT title_moves THEN title WHEN title LIKE '% – Sale' THEN left(title, -7)
      ELSE coalesce(title, 'Neu') || ' – Sale' END AS new_title
  FROM moved
)
SELECT n, kind, observed_at, mask, price, new_price, price_moves, title, new_title, title_moves, attributes, stock_moves, before_at,
  stock, CASE WHEN drawn_stock = stock AND stock_moves THEN stock + 1 ELSE drawn_stock END AS new_stock
FROM after;
`;

export const INSERT_STEP_PENDING = `
INSERT INTO pending
SELECT n, kind, observed_at, new_price, CASE WHEN price_moves THEN price END,
  '{' || concat_ws(',',
    CASE WHEN price_moves THEN '"price":[' || json_money(price) || ',' || json_money(new_price) || ']' END,
    CASE WHEN stock_moves THEN '"stock":[' || stock || ',' || new_stock || ']' END,
    CASE WHEN title_moves THEN '"title":[' || json_text(title) || ',' || json_text(new_title) || ']' END) || '}',
  mask
FROM step;
`;

/** The items after the step (section 3, listing state). `last_changed_at` moves with every kind of change. */
export const APPLY_STEP = `
UPDATE items SET price = s.new_price,
  previous_price = CASE WHEN s.price_moves THEN s.price ELSE items.previous_price END,
  price_changed_at = CASE WHEN s.price_moves THEN s.observed_at ELSE items.price_changed_at END,
  last_changed_at = s.observed_at,
  last_seen_at = CASE WHEN s.kind = 2
    THEN greatest(s.before_at, least(items.last_seen_at, s.observed_at - INTERVAL 1 HOUR))
    ELSE greatest(items.last_seen_at, s.observed_at) END,
  removed_at = CASE s.kind WHEN 2 THEN s.observed_at WHEN 3 THEN NULL ELSE items.removed_at END,
  touched = $step::INTEGER
FROM step s WHERE items.n = s.n;
UPDATE items SET title = s.new_title FROM step s WHERE items.n = s.n AND s.title_moves;
UPDATE items SET attributes = regexp_replace(items.attributes, '"stock":[0-9]+', '"stock":' || s.new_stock)
FROM step s WHERE items.n = s.n AND s.stock_moves;
`;

/** Of the items whose sources were scraped: $removed go, $changed change; $relisted of the unlisted come back. */
export const PICK_STEP_CHANGES = `
INSERT INTO pick
WITH open AS (
  SELECT i.n, i.removed_at IS NULL AS listed, hash(i.n, $salt::BIGINT, 71) AS h,
    CASE WHEN epoch_us(s.scraped_at) > $from::BIGINT THEN least($to::BIGINT, epoch_us(s.scraped_at)) ELSE $to::BIGINT END AS hi
  FROM items i JOIN scrapes s USING (model_id) WHERE i.n < $items::BIGINT
), chosen AS (
  (SELECT *, 3 AS kind FROM open WHERE NOT listed ORDER BY h, n LIMIT $relisted::BIGINT)
  UNION ALL
  (SELECT *, CASE WHEN row_number() OVER (ORDER BY h, n) <= $removed::BIGINT THEN 2 ELSE 1 END
   FROM (SELECT * FROM open WHERE listed ORDER BY h, n LIMIT $removed::BIGINT + $changed::BIGINT))
), windows AS (
  SELECT *, greatest($from::BIGINT, hi - 1200000000) AS lo FROM chosen
)
SELECT n, kind, make_timestamp(CASE WHEN h % 3 = 0 AND instant // 1000000 * 1000000 > lo THEN instant // 1000000 * 1000000 ELSE instant END)
FROM (SELECT *, lo + 1 + (hash(n, $salt::BIGINT, 72) % greatest(hi - lo, 1))::BIGINT AS instant FROM windows);
`;

/** A scrape finds every listed item of its source. */
export const APPLY_SCRAPES = `
UPDATE items SET last_seen_at = greatest(s.scraped_at, items.last_changed_at), touched = $step::INTEGER
FROM scrapes s WHERE s.model_id = items.model_id AND items.removed_at IS NULL AND items.last_seen_at < s.scraped_at;
UPDATE sources SET last_scrape_at = s.scraped_at FROM scrapes s WHERE s.model_id = sources.model_id;
`;

/** New listings of a world that came from a file: variants of what its shops sell already. */
export const CLONE_ITEMS = `
INSERT INTO items
SELECT n, $maxId::BIGINT + 1 + (n - $known::BIGINT) * 2, coalesce(title, '') || ' (' || n || ')', brand, mpn, gtin, product_key,
  price, NULL, NULL, currency, url || CASE WHEN url LIKE '%?%' THEN '&' ELSE '?' END || 'variant=' || n, image, attributes,
  category_id, category_json, mask, site_id, site_json, model_id, source_json,
  seen.instant, seen.instant, seen.instant, NULL, $step::INTEGER, extra
FROM (SELECT m::INTEGER AS n, (hash(m, $salt::BIGINT, 81) % $from::BIGINT)::INTEGER AS origin FROM range($from::BIGINT, $to::BIGINT) r(m)) fresh
JOIN (SELECT * EXCLUDE (n, first_seen_at, last_seen_at, last_changed_at, removed_at), n AS origin FROM items) o USING (origin),
LATERAL (SELECT make_timestamp($firstSeen::BIGINT + 1 + (hash(n, $salt::BIGINT, 82) % $span::BIGINT)::BIGINT) AS instant) seen
ORDER BY n;
`;
