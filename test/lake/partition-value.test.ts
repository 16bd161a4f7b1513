import { expect, test } from 'vitest';
import {
  addPartitionKeys,
  hashPartitionTexts,
  partitionKey,
  readPartitionValues,
} from '../../src/lake/partition-value.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { openDatabase } from './fixture.js';

const items = loadTableSchema('items');

test('rows are parted by the values of a column, and by the hashes of texts', async () => {
  const db = await openDatabase();
  const source = `SELECT * FROM (VALUES (1, 'EUR', 'x'), (2, NULL, 'y')) AS t(site_id, currency, title)`;
  expect(addPartitionKeys(items, [], source)).toBe(source);
  const keyed = addPartitionKeys(items, ['site_id', 'currency'], source);
  const [hash] = await db.rows("SELECT sha256('EUR') AS key");
  expect(await db.rows(`SELECT * FROM (${keyed}) ORDER BY site_id`)).toEqual([
    { site_id: 1, currency: 'EUR', title: 'x', partition_0: 1, partition_1: hash?.key },
    { site_id: 2, currency: null, title: 'y', partition_0: 2, partition_1: null },
  ]);
  const counts = [{ values: ['1', 'EUR'] }, { values: ['2', null] }];
  expect(hashPartitionTexts(items, ['site_id', 'currency'], counts)).toEqual(new Map([[String(hash?.key), 'EUR']]));
});

const read = (column: string, value: string | null, texts = new Map<string, string>()) =>
  readPartitionValues(items, [column], new Map([[partitionKey(0), value]]), texts)[column];

test('the log has the values as Delta writes them: texts of their hashes, instants in ISO 8601', () => {
  expect(read('site_id', '12')).toBe('12');
  expect(read('currency', 'h', new Map([['h', 'EUR']]))).toBe('EUR');
  expect(read('first_seen_at', '2026-11-20 06:00:00.5+00')).toBe('2026-11-20T06:00:00.5Z');
  expect(read('first_seen_at', '2026-11-20 06:00:00')).toBe('2026-11-20T06:00:00Z');
  expect(read('title', 'h', new Map([['h', 'a b+00']]))).toBe('a b+00');
  expect(read('currency', null)).toBeNull();
  expect(readPartitionValues(items, ['site_id'], new Map(), new Map())).toEqual({ site_id: null });
});

test.each(['', '__HIVE_DEFAULT_PARTITION__', 'null', 'NULL', '__hive_default_partition__'])(
  'the text %j is no partition: some reader takes it for null',
  (text) => {
    expect(() => read('brand', 'h', new Map([['h', text]]))).toThrow(
      expect.objectContaining({
        code: 'config',
        message: `items: brand ${quoteLiteral(text)} can't be a partition: some reader takes it for null`,
        facts: { hint: 'Take brand out of partitionBy of items.' },
      }),
    );
  },
);

test.each(['x null', 'nullx', ' ', 'x__HIVE_DEFAULT_PARTITION__', '__HIVE_DEFAULT_PARTITION__x'])(
  'the text %j is one',
  (text) => expect(read('brand', 'h', new Map([['h', text]]))).toBe(text),
);

test('a text that was not there when the rows were parted is an error', () => {
  expect(() => read('brand', 'h')).toThrow(
    expect.objectContaining({ code: 'lake_invalid', message: 'items: rows of a staged file changed' }),
  );
});
