/** Text of one Item (section 2) as JSON; `datasets` is an expression, since it depends on who asks. */
export function itemJson(datasets: string): string {
  return `concat('{"id":', item_id, ',"title":', json_text(title), ',"brand":', json_text(brand), ',"mpn":', json_text(mpn),
  ',"gtin":', json_text(gtin), ',"price":', json_money(price), ',"previousPrice":', json_money(previous_price),
  ',"priceChangedAt":', json_time(price_changed_at), ',"currency":', json_text(currency), ',"url":', json_text(url),
  ',"image":', json_text(image), ',"attributes":', attributes, ',"category":', category_json, ',"datasets":', ${datasets},
  ',"site":', site_json, ',"source":', source_json, ',"firstSeenAt":', json_time(first_seen_at),
  ',"lastSeenAt":', json_time(last_seen_at), ',"lastChangedAt":', json_time(last_changed_at),
  ',"removedAt":', json_time(removed_at), '}')`;
}

/** Columns of the CSV export: the document does not show their names; these are flattened field names. */
const CSV_COLUMNS: [name: string, expression: string][] = [
  ['id', 'item_id::VARCHAR'],
  ['title', 'csv_text(title)'],
  ['brand', 'csv_text(brand)'],
  ['mpn', 'csv_text(mpn)'],
  ['gtin', 'csv_text(gtin)'],
  ['price', 'csv_money(price)'],
  ['previousPrice', 'csv_money(previous_price)'],
  ['priceChangedAt', 'csv_time(price_changed_at)'],
  ['currency', 'csv_text(currency)'],
  ['url', 'csv_text(url)'],
  ['image', 'csv_text(image)'],
  ['attributes', 'csv_text(attributes)'],
  ['categoryName', "csv_text(category_json->>'name')"],
  ['categoryPath', "csv_text(category_json->>'path')"],
  ['categorySlug', "csv_text(category_json->>'slug')"],
  ['categorySource', "csv_text(category_json->>'source')"],
  ['datasets', 'csv_text($datasets)'],
  ['siteId', 'site_id::VARCHAR'],
  ['siteName', "csv_text(site_json->>'name')"],
  ['siteHost', "csv_text(site_json->>'host')"],
  ['siteAttribution', "csv_text(site_json->>'attribution')"],
  ['sourceModelId', 'model_id::VARCHAR'],
  ['sourceName', "csv_text(source_json->>'name')"],
  ['firstSeenAt', 'csv_time(first_seen_at)'],
  ['lastSeenAt', 'csv_time(last_seen_at)'],
  ['lastChangedAt', 'csv_time(last_changed_at)'],
  ['removedAt', 'csv_time(removed_at)'],
];

export const CSV_HEADER = `${CSV_COLUMNS.map(([name]) => name).join(',')}\n`;

export const CREATE_CSV_MACROS = `
CREATE MACRO csv_text(text) AS coalesce(CASE
  WHEN text = '' OR contains(text, ',') OR contains(text, '"') OR contains(text, chr(10)) OR contains(text, chr(13))
  THEN '"' || replace(text, '"', '""') || '"' ELSE text END, '');
CREATE MACRO csv_money(amount) AS replace(json_money(amount), 'null', '');
CREATE MACRO csv_time(instant) AS coalesce(replace(instant::VARCHAR, ' ', 'T') || 'Z', '');
`;

/** Text of one export row as CSV; a null is an empty field, an empty text is `""`. */
export function itemCsv(datasets: string): string {
  return `concat_ws(',', ${CSV_COLUMNS.map(([, sql]) => sql.replace('$datasets', datasets)).join(', ')})`;
}

/**
 * Changes $from to $to of `ordered` as lines of JSON (section 2, Change), in the order of their ids.
 * The item comes last: a HistoryEntry is the same text without it.
 */
export const SELECT_CHANGE_LINES = `
SELECT concat('{"id":', o.change_id, ',"kind":"', (['NEW','CHANGED','REMOVED','RELISTED'])[1 + o.kind],
  '","observedAt":', json_time(o.observed_at), ',"price":', json_money(o.price), ',"previousPrice":', json_money(o.previous_price),
  ',"changes":', o.changes, ',"item":',
  CASE WHEN i.n IS NULL THEN 'null' ELSE concat('{"id":', i.item_id, ',"title":', json_text(coalesce(i.title, '')),
    ',"url":', json_text(i.url), ',"currency":', json_text(i.currency), ',"site":', i.site_json, '}') END, '}')
FROM (SELECT * FROM ordered WHERE c >= $from::BIGINT AND c < $to::BIGINT) o LEFT JOIN items i ON i.n = o.n
ORDER BY o.c
`;

/** Gives the pending changes their ids, in the order in which they happened. */
export const ORDER_PENDING = `
CREATE OR REPLACE TABLE ordered AS
SELECT c, $nextId::BIGINT + c * 2 + (hash(c, $salt::BIGINT, 91) % 2)::BIGINT AS change_id, n, kind, observed_at, price, previous_price, changes, mask,
  CASE WHEN price < previous_price THEN -1 WHEN price > previous_price THEN 1 ELSE 0 END::TINYINT AS move
FROM (SELECT *, row_number() OVER (ORDER BY observed_at, n, kind) - 1 AS c FROM pending) ORDER BY c;
`;
