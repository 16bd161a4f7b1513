/** What shops really write: parts of INSERT_ITEMS. Each kind is one listing in 400, unless it says otherwise. */

/** The title as the shop has it, from a clean `shop_title`. */
export const UGLY_TITLE = `CASE h7 % 400
  -- What a spreadsheet takes for a formula.
  WHEN 1 THEN '=SUM(A1:A9) ' || shop_title WHEN 2 THEN '=1+1' WHEN 3 THEN '+49 30 901820 ' || shop_title
  WHEN 4 THEN '-20 % ' || shop_title WHEN 5 THEN '@' || shop_title
  -- HTML, entities and what a template left behind.
  WHEN 6 THEN '<b>' || shop_title || '</b> &amp; <i>extra</i>' WHEN 7 THEN shop_title || '<script>alert(1)</script>'
  WHEN 8 THEN '<p class="t">' || shop_title || '<br/>' || chr(10) || '<ul><li>&nbsp;A &lt; B</li></ul></p>' WHEN 9 THEN '{{ title }} \${name} %s ' || shop_title
  -- Quotes, backslashes, newlines, tabs and spaces of all kinds.
  WHEN 10 THEN '"' || shop_title || '" \\ 55″' WHEN 11 THEN shop_title || chr(10) || 'zweite Zeile' || chr(13) || chr(10) || chr(9) || 'dritte'
  WHEN 12 THEN '   ' || shop_title || chr(160) WHEN 13 THEN shop_title || chr(8232) || '1;2,3' WHEN 14 THEN 'C:\\new\\table ' || shop_title
  WHEN 15 THEN chr(65279) || replace(shop_title, ' ', chr(8203) || ' ') || chr(173)
  -- Beyond Latin: emoji of several code points, right to left, both mixed, accents on their own, bytes read wrongly.
  WHEN 16 THEN '🎁🧑‍🚀 ' || shop_title || ' 🇪🇺' WHEN 17 THEN 'סט מתנה – ' || shop_title WHEN 18 THEN 'قهوة عربية ' || shop_title
  WHEN 19 THEN shop_title || ' Cafe' || chr(769) || ' mu' || chr(776) || 'nchen' WHEN 20 THEN 'FÃ¼r GroÃŸe â€“ ' || shop_title
  -- Very long, empty, and words for nothing.
  WHEN 21 THEN repeat(shop_title || ' / ', 90) WHEN 22 THEN '' WHEN 23 THEN NULL WHEN 24 THEN 'null' WHEN 25 THEN 'N/A'
  ELSE shop_title END`;

/** The title of a listing that sells several at once by the code of one. */
export const PACK_TITLE = `CASE WHEN pack_of = 1 THEN ugly_title ELSE concat(ugly_title,
  ([' (' || pack_of || 'er-Pack)', ' – lot de ' || pack_of, ' x' || pack_of, ', zestaw ' || pack_of || ' szt.'])[1 + (h7 % 4)::INTEGER]) END`;

/** JSON text of the attributes: values of any type; some of the names are those of an Item's own fields. */
export const UGLY_ATTRIBUTES = `CASE WHEN h6 % 40 = 5 THEN '{}' ELSE concat('{"stock":',
  CASE h7 % 67 WHEN 1 THEN '"auf Lager"' WHEN 2 THEN 'null' WHEN 3 THEN 'true' WHEN 4 THEN '"> 10"' ELSE (h7 % 60)::VARCHAR END,
  CASE h7 % 4 WHEN 0 THEN ',"shipping":4.95' WHEN 1 THEN ',"shipping":"free"' WHEN 2 THEN ',"shipping":null' ELSE '' END,
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

/** One listing in 400 has nothing but a place to be found at. */
export const MISS_EVERYTHING = `
UPDATE items SET title = NULL, brand = NULL, mpn = NULL, gtin = NULL, product_key = NULL, price = NULL, usual_price = NULL, currency = NULL,
  url = NULL, image = NULL, attributes = '{}', category_id = NULL, category_json = 'null'
WHERE n >= $from::BIGINT AND n < $to::BIGINT AND draw(n, $seed::BIGINT, 19) % 400 = 0;
`;
