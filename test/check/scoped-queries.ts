import { parseCheck } from '../../src/check/parse.js';

/** Queries that follow from a scope, each in another way. */
const FOLLOWING: [scope: string, sql: string][] = [
  ['row', "SELECT item_id FROM items WHERE price > $most AND title LIKE 'a%' ORDER BY item_id"],
  ['row', "FROM items i WHERE nullif(i.brand, '') IS NULL AND len(datasets) > 1 AND list_sum([1, 2]) = 3"],
  ['row', 'SELECT * FROM Items LEFT JOIN sites USING (site_id) WHERE host IS NULL'],
  ['row', 'SELECT i.item_id FROM sites RIGHT JOIN items AS i ON i.site_id = sites.site_id AND sites.is_current'],
  ['row', 'SELECT item_id FROM items, (SELECT max(site_id) AS most FROM sites) WHERE site_id > most'],
  ['row', 'SELECT item_id FROM items WHERE EXISTS (SELECT * FROM sites WHERE sites.site_id = items.site_id)'],
  ['row', 'WITH dear AS (SELECT *, price * 2 AS twice FROM items) SELECT item_id FROM dear WHERE twice > 10'],
  ['row', 'SELECT item_id, unnest(datasets) AS dataset FROM (FROM items WHERE price > 1)'],
  ['row', 'SELECT 1 FROM items WHERE price < 0 UNION ALL SELECT 2 FROM items WHERE previous_price < 0'],
  [
    'row',
    "SELECT CASE WHEN price IS NULL THEN try_cast(extra AS BIGINT) ELSE date_part('year', removed_at) END FROM items",
  ],
  ['gtin', 'SELECT gtin, count(*) FROM items WHERE gtin IS NOT NULL GROUP BY gtin HAVING count(*) > 1'],
  [
    'site_id, url',
    'SELECT items.url, site_id FROM items WHERE (price > 1 AND url IS NOT NULL) AND true GROUP BY items.url, site_id, currency HAVING count(*) > 1',
  ],
  [
    'url',
    'SELECT item_id FROM items i WHERE i.url IS NOT NULL QUALIFY row_number() OVER (PARTITION BY url, site_id ORDER BY item_id) > 1',
  ],
  ['row', 'SELECT item_id FROM sites JOIN items ON items.site_id = sites.site_id AND NOT is_current'],
  ['row', 'SELECT item_id FROM items SEMI JOIN sites USING (site_id)'],
  ['row', 'SELECT item_id FROM items ANTI JOIN sites USING (site_id)'],
  ['row', 'FROM (SELECT url FROM items WHERE price > 1 UNION ALL SELECT brand FROM items WHERE price < 10)'],
  ['url', 'SELECT url FROM (SELECT url FROM items WHERE url IS NOT NULL) GROUP BY url HAVING count(*) > 1'],
];

function writeScoped(scope: string, sql: string, name: string): string {
  const header = `-- name: ${name}\n-- severity: warn\n-- description: d\n-- next: n\n-- scope: ${scope}\n`;
  const parameter = sql.includes('$most') ? '-- parameter: most DOUBLE default 5: highest price\n' : '';
  return `${header}${parameter}${sql}\n`;
}

function parseScoped(scope: string, sql: string, name: string) {
  return parseCheck(writeScoped(scope, sql, name), 'own.sql');
}

/** The queries as checks of their own. */
export const FOLLOWING_CHECKS = FOLLOWING.map(([scope, sql], i) => parseScoped(scope, sql, `own_${i}`));
