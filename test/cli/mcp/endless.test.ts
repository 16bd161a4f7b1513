/** Queries that run into the limit of time or memory. */
import { afterAll, expect, test } from 'vitest';
import { publishLake } from '../lake-fixture.js';
import { openClient } from './open-client.js';

const { call, refuse, close } = await openClient([
  ...['--lake', await publishLake()],
  ...['--timeout', '1s'],
  ...['--memory', '300MB'],
]);
afterAll(close);

test('an endless query is stopped, and the server keeps working', async () => {
  const sql = 'SELECT count(*) FROM range(10000000000) AS a, range(10000000000) AS b';
  expect((await refuse('query', { sql })).message).toMatch(/took longer than 1 second/u);
  expect((await call('query', { sql: 'SELECT 1 AS one' })).value.rows).toEqual([{ one: 1 }]);
});

test.each([
  ['WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x FROM t) SELECT count(*) FROM t', /took longer/u],
  [
    "WITH RECURSIVE t AS (SELECT 'xxxxxxxx' AS s UNION ALL SELECT s || s FROM t WHERE length(s) < 4000000000) SELECT count(*) FROM t",
    /used too much memory|took longer|Out of Memory/u,
  ],
])('%s is stopped, and the server keeps working', async (sql, message) => {
  expect((await refuse('query', { sql })).message).toMatch(message);
  expect((await call('query', { sql: 'SELECT 1 AS one' })).value.rows).toEqual([{ one: 1 }]);
});

test('a query that needs too much memory fails with a clear message', async () => {
  const sql = `SELECT list('${'x'.repeat(1000)}' || a.range) AS l FROM range(100000000) AS a`;
  expect((await refuse('query', { sql })).message).toMatch(/Out of Memory|took longer/u);
});
