import { afterAll, describe, expect, it } from 'vitest';
import { bindChecks, loadChecks } from '../../src/check/load.js';
import { parseCheck } from '../../src/check/parse.js';
import { requireScopes } from '../../src/check/require-scope.js';
import { Database } from '../../src/sql/connection.js';
import { FOLLOWING_CHECKS, parseScoped } from './scoped-queries.js';

const db = await Database.open();
afterAll(() => db.close());

it('every shipped check reads columns that there are, and its scope fits', async () => {
  await expect(bindChecks(await loadChecks())).resolves.toBeUndefined();
});

it('queries that follow from it in any way are bound', async () => {
  await expect(bindChecks(FOLLOWING_CHECKS)).resolves.toBeUndefined();
});

describe('a check is refused before a run begins, since it does not follow from', () => {
  it.each([
    ['row', 'SELECT count(*) FROM items HAVING count(*) > 3', 'count() looks at more than one row'],
    ['row', 'SELECT site_id FROM items GROUP BY site_id', 'the query looks at more than one row'],
    ['row', 'SELECT site_id, max(price) FROM items GROUP BY ALL', 'max() looks at more than one row'],
    [
      'row',
      'SELECT item_id FROM items QUALIFY row_number() OVER (ORDER BY price) > 3',
      'row_number() OVER looks at more than one row',
    ],
    [
      'row',
      'SELECT item_id FROM (SELECT *, avg(price) OVER () AS a FROM items) WHERE price > a',
      'avg() OVER looks at more than one row',
    ],
    ['row', 'SELECT (SELECT sum(items.price)) FROM items', 'sum() looks at more than one row'],
    ['row', 'SELECT DISTINCT brand FROM items', 'DISTINCT compares all rows'],
    ['row', 'SELECT item_id FROM items LIMIT 3', 'LIMIT picks only some rows'],
    ['row', 'SELECT item_id FROM items LIMIT 10%', 'LIMIT picks only some rows'],
    ['row', 'SELECT item_id FROM items ORDER BY max(price) OVER ()', 'max() OVER looks at more than one row'],
    ['row', 'SELECT 1 FROM items ORDER BY max(price)', 'max() looks at more than one row'],
    ['row', 'SELECT 1 FROM items HAVING true', 'the query looks at more than one row'],
    [
      'row',
      'SELECT item_id FROM items WHERE site_id IN (SELECT site_id FROM sites LIMIT 3)',
      'LIMIT picks only some rows',
    ],
    ['row', 'SELECT item_id FROM items USING SAMPLE 10', 'a sample picks only some rows'],
    ['row', 'SELECT item_id FROM items TABLESAMPLE 10%', 'a sample picks only some rows'],
    ['row', 'SELECT item_id FROM items WHERE price > (SELECT avg(price) FROM items)', 'a subquery reads items'],
    ['row', 'SELECT item_id FROM items a WHERE EXISTS (FROM items b WHERE b.url = a.url)', 'a subquery reads items'],
    ['row', 'SELECT a.item_id FROM items a JOIN items b ON a.url = b.url', 'it joins items with itself'],
    ['row', 'WITH b AS (FROM items) SELECT a.item_id FROM items a JOIN b USING (url)', 'it joins items with itself'],
    [
      'row',
      'SELECT sites.site_id FROM sites LEFT JOIN items USING (site_id)',
      "its join has rows that don't come from a row of items",
    ],
    [
      'row',
      'SELECT * FROM sites ANTI JOIN items USING (site_id)',
      "its join has rows that don't come from a row of items",
    ],
    ['row', 'SELECT * FROM sites POSITIONAL JOIN items', "its join has rows that don't come from a row of items"],
    ['row', 'SELECT site_id FROM sites', "it doesn't read items in FROM"],
    ['row', 'SELECT item_id FROM main.items WHERE price < 0', 'it names items with a schema'],
    [
      'row',
      'SELECT sites.site_id FROM sites FULL JOIN items USING (site_id)',
      "its join has rows that don't come from a row of items",
    ],
    ['row', 'SELECT 1 FROM sites a JOIN sites b ON a.host IN (SELECT url FROM items)', 'a subquery reads items'],
    ['row', 'SELECT 1 FROM items JOIN sites ON host IN (SELECT url FROM items)', 'a subquery reads items'],
    ['row', 'FROM items UNPIVOT (text FOR name IN (url, brand))', 'it reads items other than as a table or in a join'],
    ['row', 'FROM (PIVOT items ON brand)', "DuckDB doesn't show the structure of its SELECT"],
    [
      'row',
      'WITH RECURSIVE a AS (SELECT url FROM items UNION ALL SELECT url FROM a) FROM a',
      'it is not a plain SELECT',
    ],
    ['row', 'WITH a AS (SELECT DISTINCT brand FROM items) FROM a', 'DISTINCT compares all rows'],
    [
      'row',
      'SELECT brand FROM items EXCEPT SELECT url FROM items',
      'it combines results with something other than UNION ALL',
    ],
    [
      'row',
      'SELECT brand FROM items EXCEPT ALL SELECT url FROM items',
      'it combines results with something other than UNION ALL',
    ],
    ['row', 'SELECT url FROM items UNION ALL SELECT url FROM sites', "it doesn't read items in FROM"],
    [
      'row',
      'SELECT brand FROM items UNION SELECT url FROM items',
      'it combines results with something other than UNION ALL',
    ],
    ['row', 'SELECT item_id FROM items WHERE last_seen_at < now() - INTERVAL 2 DAY', 'now() changes from run to run'],
    [
      'row',
      'SELECT item_id FROM items WHERE last_seen_at::DATE < current_date',
      'current_date changes from run to run',
    ],
    ['row', 'SELECT item_id FROM items WHERE last_seen_at < ago(INTERVAL 2 DAY)', 'ago() changes from run to run'],
    ['row', 'SELECT item_id FROM items WHERE age(last_seen_at) > INTERVAL 2 DAY', 'age() changes from run to run'],
    ['row', "SELECT item_id FROM items WHERE run_id = getvariable('run_id')", 'getvariable() changes from run to run'],
    ['row', 'SELECT item_id FROM items WHERE random() < 0.5', 'random() changes from run to run'],
    [
      'row',
      "SELECT i.item_id FROM items i JOIN query_table('it' || 'ems') b USING (url)",
      'it reads from a table function',
    ],
    ['gtin', 'SELECT site_id, count(*) FROM items GROUP BY site_id', "count() isn't grouped by gtin"],
    ['gtin', 'SELECT gtin, count(*) FROM items GROUP BY ROLLUP (gtin)', "count() isn't grouped by gtin"],
    ['gtin', 'SELECT gtin, sum(price) FROM items GROUP BY 1', "sum() isn't grouped by gtin"],
    [
      'site_id',
      'SELECT s.site_id FROM items JOIN sites s ON host = site_host GROUP BY s.site_id',
      "the query isn't grouped by site_id",
    ],
    [
      'url',
      'SELECT item_id FROM items QUALIFY row_number() OVER (PARTITION BY site_id) > 1',
      "row_number() OVER isn't partitioned by url",
    ],
    [
      'site_id, url',
      'SELECT url FROM items WHERE url IS NOT NULL GROUP BY url, currency',
      "the query isn't grouped by site_id, url",
    ],
    ['url', 'SELECT brand AS url FROM items WHERE url IS NOT NULL', "a SELECT doesn't pass url on unchanged"],
    [
      'url',
      "SELECT url FROM (SELECT COLUMNS('url|brand') FROM items) GROUP BY url",
      "a SELECT doesn't pass url on unchanged",
    ],
    [
      'url',
      'SELECT url FROM (SELECT * EXCLUDE (url), lower(url) AS url FROM items) GROUP BY url',
      "a SELECT doesn't pass url on unchanged",
    ],
    [
      'url',
      'SELECT url FROM (SELECT * EXCLUDE (brand) FROM items) GROUP BY url',
      "a SELECT doesn't pass url on unchanged",
    ],
    [
      'url',
      'SELECT url FROM (SELECT * RENAME (brand AS url) FROM items) GROUP BY url',
      "a SELECT doesn't pass url on unchanged",
    ],
    [
      'url',
      'SELECT url FROM (SELECT url, url FROM items WHERE url IS NOT NULL) GROUP BY url',
      "a SELECT doesn't pass url on unchanged",
    ],
    [
      'url',
      'SELECT url FROM (SELECT url FROM items UNION ALL SELECT url FROM items) GROUP BY url',
      'an inner SELECT is a UNION ALL',
    ],
    [
      'url',
      'SELECT url FROM (SELECT * FROM items JOIN sites USING (site_id)) GROUP BY url',
      "a SELECT doesn't pass url on unchanged",
    ],
    [
      'url',
      'SELECT url FROM items WHERE brand IS NOT NULL GROUP BY url',
      "it doesn't exclude NULL with WHERE url IS NOT NULL",
    ],
    [
      'url',
      'SELECT url FROM items WHERE url IS NULL GROUP BY url',
      "it doesn't exclude NULL with WHERE url IS NOT NULL",
    ],
    [
      'url',
      'SELECT url FROM (SELECT brand AS url FROM items) GROUP BY url HAVING count(*) > 1',
      "a SELECT doesn't pass url on unchanged",
    ],
    [
      'url',
      'SELECT url FROM items WHERE url IS NOT NULL OR price > 1 GROUP BY url',
      "it doesn't exclude NULL with WHERE url IS NOT NULL",
    ],
    [
      'url',
      'WITH a(brand, url) AS (SELECT url, brand FROM items) SELECT url FROM a GROUP BY url',
      'WITH renames columns',
    ],
    ['url', 'SELECT t.url FROM (SELECT url, brand FROM items) AS t(brand, url) GROUP BY t.url', 'FROM renames columns'],
    [
      'url',
      'SELECT url FROM (SELECT * REPLACE (brand AS url) FROM items) GROUP BY url',
      "a SELECT doesn't pass url on unchanged",
    ],
    [
      'site_id',
      'WITH a AS (SELECT s.site_id FROM items JOIN sites s ON host = site_host) SELECT site_id FROM a GROUP BY site_id',
      "a SELECT doesn't pass site_id on unchanged",
    ],
  ])('%s: %s', async (scope, sql, why) => {
    await expect(requireScopes(db, [parseScoped(scope, sql)])).rejects.toMatchObject({
      code: 'config',
      message: `own.sql:5: scope: ${scope}: ${why}`,
      facts: { hint: expect.stringMatching(/^Remove the line/u) },
    });
  });
});

it.each([
  ['-- scope: row', '\n'],
  ['--  scope: row', '\r\n'],
  ['--scope: row', '\n'],
])('the line of the scope is that of its header, as %j', async (scope, end) => {
  const lines = ['-- name: own', '-- severity: warn', '-- description: not -- scope: row', '-- next: n', scope];
  const check = parseCheck([...lines, 'SELECT DISTINCT 1 FROM items'].join(end), 'own.sql');
  await expect(requireScopes(db, [check])).rejects.toThrow('own.sql:5: scope: row: ');
});
