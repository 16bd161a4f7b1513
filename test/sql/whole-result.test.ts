import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { holdRows, streamRows } from '../../src/sql/streamed-result.js';
import { type Rows, runWhole } from '../../src/sql/whole-result.js';

const db = await Database.open();
afterAll(() => db.close());

async function readAll(rows: Rows, took = async () => {}): Promise<unknown[]> {
  const read: unknown[] = [];
  for await (const chunk of rows.chunks()) {
    read.push(...chunk.getColumnValues(0));
    await took();
  }
  return read;
}

const LATE = "(SELECT CASE WHEN i < 150000 THEN i ELSE error('late') END AS n FROM range(200000) t(i))";
/** An error that leaves a transaction as it is. */
const UNREADABLE = `(SELECT json_deserialize_sql(CASE WHEN i < 150000 THEN json_serialize_sql('SELECT 1') ELSE '{"a":' || i || '}' END)
  FROM range(200000) t(i))`;

describe('rows that stream', () => {
  test.each([
    ['range(0)', 0],
    ['range(300000)', 300_000],
    ['range(2048)', 2048],
    ["(SELECT 1 AS a, 2 AS a, 3 AS A, NULL AS b, [1] AS c, {'d': 1} AS e)", 1],
    ["query('SELECT 1 AS n ORDER BY n LIMIT 1 -- the last')", 1],
  ])('of %s are all there, and nothing else', async (from, count) => {
    expect(await readAll(streamRows(db.connection, { from }))).toHaveLength(count);
  });

  test('keep the order of their query', async () => {
    const from = '(SELECT range AS n FROM range(100000) ORDER BY n DESC)';
    const read = await readAll(streamRows(db.connection, { from }));
    expect(read).toEqual(Array.from({ length: 100_000 }, (_, i) => BigInt(99_999 - i)));
  });

  test.each([
    [LATE, 'late'],
    [UNREADABLE, /Parser Error/u],
  ])('end with the error of their statement: %s', async (from, message) => {
    await expect(readAll(streamRows(db.connection, { from }))).rejects.toThrow(message);
  });

  test.each(['an interrupt', 'another statement'])('are not taken for whole after %s', async (what) => {
    const stop = async () => {
      if (what === 'an interrupt') db.connection.interrupt();
      else await db.run('SELECT 1');
    };
    const read = readAll(streamRows(db.connection, { from: 'range(3000000)' }), stop);
    await expect(read).rejects.toMatchObject({
      code: 'query',
      message: expect.stringMatching(/^the query stopped after \d+ rows/u),
    });
  });
});

describe('rows that are whole before they are read', () => {
  test('are refused if the statement fails late', async () => {
    await expect(holdRows(db.connection, { from: LATE }, 500_000)).rejects.toThrow('late');
    await expect(runWhole({ run: () => db.connection.run(`FROM ${LATE}`) })).rejects.toThrow('late');
  });

  test('are not taken for whole if another statement ends their reading', async () => {
    const held = await holdRows(db.connection, { from: 'range(300000)' }, 500_000);
    expect(held.count).toBe(300_000n);
    await expect(readAll(held, () => db.run('SELECT 1'))).rejects.toMatchObject({ code: 'query' });
  });
});

test('only two files read results that may stream: their end and their error look the same', () => {
  const raw = /\.(?:fetchChunk|fetchAllChunks|yield\w+|streamAnd\w+|startStream\w*|startThen\w+|runAndReadUntil)\(/u;
  // Files that know DuckDB; the client of the API has a `stream` of its own.
  const stream = /@duckdb\/node-api[\s\S]*\.stream\(|(?:connection|statement|prepared|db)\.stream\(/u;
  const files = ['src', 'docs'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`),
  );
  const sources = files.filter((name) => name.endsWith('.ts') && !name.includes('node_modules'));
  const found = sources.filter((name) => {
    const text = readFileSync(name, 'utf8');
    return raw.test(text) || stream.test(text);
  });
  expect(found).toEqual(['src/sql/streamed-result.ts', 'src/sql/whole-result.ts']);
});
