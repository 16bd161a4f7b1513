/** Text of one Item (section 2) as JSON; `datasets` is an expression, since it depends on who asks. */
export function itemJson(datasets: string): string {
  return `concat('{"id":', item_id, ',"title":', json_text(title), ',"brand":', json_text(brand), ',"mpn":', json_text(mpn),
  ',"gtin":', json_text(gtin), ',"price":', json_money(price), ',"previousPrice":', json_money(previous_price),
  ',"priceChangedAt":', json_time(price_changed_at), ',"currency":', json_text(currency), ',"url":', json_text(url),
  ',"image":', json_text(image), ',"attributes":', attributes, ',"category":', category_json, ',"datasets":', ${datasets},
  ',"site":', site_json, ',"source":', source_json, ',"firstSeenAt":', json_time(first_seen_at),
  ',"lastSeenAt":', json_time(last_seen_at), ',"lastChangedAt":', json_time(last_changed_at),
  ',"removedAt":', json_time(removed_at), extra, '}')`;
}

/**
 * Changes $from to $to of `ordered` as lines of JSON (section 2, Change), in the order of their ids.
 * The item comes last: a HistoryEntry is the same text without it.
 */
export const SELECT_CHANGE_LINES = `
SELECT concat('{"id":', o.change_id, ',"kind":"', (['NEW','CHANGED','REMOVED','RELISTED'])[1 + o.kind],
  '","observedAt":', json_time(o.observed_at), ',"price":', json_money(o.price), ',"previousPrice":', json_money(o.previous_price),
  ',"changes":', o.changes, ',"item":',
  CASE WHEN i.n IS NULL THEN 'null' ELSE concat('{"id":', i.item_id, ',"title":', json_text(feed_title(i.title)),
    ',"url":', json_text(i.url), ',"currency":', json_text(i.currency), ',"site":', i.site_json, '}') END, '}')
FROM (SELECT * FROM ordered WHERE c >= $from::BIGINT AND c < $to::BIGINT) o LEFT JOIN items i ON i.n = o.n
ORDER BY o.c
`;

/** Gives the pending changes their ids, in the order in which they happened. */
export const ORDER_PENDING = `
CREATE OR REPLACE TABLE ordered AS
SELECT c, $nextId::BIGINT + c * 2 + (draw(c, $salt::BIGINT, 91) % 2)::BIGINT AS change_id, n, kind, observed_at, price, previous_price, changes, mask,
  CASE WHEN price < previous_price THEN -1 WHEN price > previous_price THEN 1 ELSE 0 END::TINYINT AS move
FROM (SELECT *, row_number() OVER (ORDER BY observed_at, n, kind) - 1 AS c FROM pending) ORDER BY c;
`;
