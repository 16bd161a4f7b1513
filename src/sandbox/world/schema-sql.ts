/** Creates the tables. `n` numbers the items in the order of their ids, which is also their order on disk. */
export const CREATE_TABLES = `
CREATE TABLE items (
  n INTEGER, item_id BIGINT, title VARCHAR, brand VARCHAR, mpn VARCHAR, gtin VARCHAR, product_key VARCHAR,
  price DECIMAL(18,4), previous_price DECIMAL(18,4), price_changed_at TIMESTAMP, currency VARCHAR,
  url VARCHAR, image VARCHAR, attributes VARCHAR, category_id INTEGER, category_json VARCHAR,
  mask INTEGER, site_id BIGINT, site_json VARCHAR, model_id BIGINT, source_json VARCHAR,
  first_seen_at TIMESTAMP, last_seen_at TIMESTAMP, last_changed_at TIMESTAMP, removed_at TIMESTAMP,
  -- The last step that changed the row, which determines whether it must be rendered again.
  touched INTEGER,
  -- Fields in the user's items that the API document doesn't define, as JSON text such as ,"color":"red".
  extra VARCHAR,
  -- The price to return to after a discount or a wrong price; null at other times.
  usual_price DECIMAL(18,4),
  -- The latest change of any kind. last_changed_at may not include removals.
  last_event_at TIMESTAMP
);
-- Row versions from the last few minutes, for responses that lag. The table is empty if no responses lag.
CREATE TABLE past AS SELECT *, NULL::TIMESTAMP AS until FROM items;
CREATE TABLE sources (model_id BIGINT, healthy BOOLEAN, last_scrape_at TIMESTAMP);
-- Changes in the current step, before they get ids. n is null if the item is no longer in the data.
CREATE TABLE pending (n INTEGER, kind TINYINT, observed_at TIMESTAMP, price DECIMAL(18,4),
  previous_price DECIMAL(18,4), changes VARCHAR, mask INTEGER);
CREATE TABLE pick (n INTEGER, kind TINYINT, observed_at TIMESTAMP);
CREATE TABLE scrapes (model_id BIGINT, scraped_at TIMESTAMP);
`;

/** Creates the macros. All random choices are hashes, so that a seed always gives the same bytes. */
export const CREATE_MACROS = `
-- Hashes twice, because DuckDB combines several hashes only with XOR, so that random choices would be correlated.
CREATE MACRO draw(a, b) AS hash(hash(a, b)), (a, b, c) AS hash(hash(a, b, c));
CREATE MACRO unit(h) AS (h >> 11)::DOUBLE / 9007199254740992.0;
CREATE MACRO gauss(h1, h2) AS sqrt(-2 * ln(greatest(unit(h1), 1e-12))) * cos(6.283185307179586 * unit(h2));
-- The GS1 check digit for a body without it. Weights are 3, 1, 3… from the right.
CREATE MACRO check_digit(body) AS (10 - (
  3 * (body % 10 + body // 100 % 10 + body // 10000 % 10 + body // 1000000 % 10 + body // 100000000 % 10
    + body // 10000000000 % 10 + body // 1000000000000 % 10)
  + body // 10 % 10 + body // 1000 % 10 + body // 100000 % 10 + body // 10000000 % 10
    + body // 1000000000 % 10 + body // 100000000000 % 10) % 10) % 10;
CREATE MACRO fold(text) AS lower(regexp_replace(translate(text, ' -/.®&', ''), '[^\\p{L}\\p{N}]+', '', 'g'));
-- Matches products by GTIN, or otherwise by brand and part number (API §1).
CREATE MACRO product_key_of(gtin, brand, mpn) AS CASE
  WHEN gtin IS NOT NULL AND ltrim(gtin, '0') <> '' THEN ltrim(gtin, '0')
  WHEN fold(brand) <> '' AND fold(mpn) <> '' THEN fold(brand) || '-' || fold(mpn) END;
-- The text that \`q\` searches (API §4, /items): an item's values at any depth, without field names. Both sides are
-- folded: to upper case first, so that İ, ı and i are equal, and normalized, so that combining accents match.
CREATE MACRO fold_case(text) AS lower(nfc_normalize(upper(text)));
CREATE MACRO json_values(json) AS list_transform(
  list_filter(json_extract(json, '$..*'), lambda v: left(v, 1) NOT IN ('{', '[')), lambda v: v->>'$');
CREATE MACRO searched_text(title, brand, mpn, gtin, attributes) AS fold_case(
  concat_ws(' ', title, brand, mpn, gtin, array_to_string(json_values(attributes), ' ')));
-- Formats JSON: a number with two decimals, or a string. SQL NULL becomes null.
CREATE MACRO json_money(amount) AS coalesce(CASE WHEN amount = amount::DECIMAL(18,2)
  THEN amount::DECIMAL(18,2)::VARCHAR ELSE amount::VARCHAR END, 'null');
CREATE MACRO json_text(text) AS coalesce(to_json(text)::VARCHAR, 'null');
`;
