import { expect, test } from 'vitest';
import { partitionKey, readPartitionValues } from '../../src/lake/partition-value.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { loadTableSchema } from '../../src/tables/schemas.js';

const items = loadTableSchema('items');

const read = (column: string, value: string | null, texts = new Map<string, string>()) =>
  readPartitionValues(items, [column], new Map([[partitionKey(0), value]]), texts)[column];

test('partition values are written as Delta requires: texts by their hashes, instants in ISO 8601', () => {
  expect(read('site_id', '12')).toBe('12');
  expect(read('currency', 'h', new Map([['h', 'EUR']]))).toBe('EUR');
  expect(read('first_seen_at', '2026-11-20 06:00:00.5+00')).toBe('2026-11-20T06:00:00.5Z');
  expect(read('first_seen_at', '2026-11-20 06:00:00')).toBe('2026-11-20T06:00:00Z');
  expect(read('title', 'h', new Map([['h', 'a b+00']]))).toBe('a b+00');
  expect(read('currency', null)).toBeNull();
  expect(readPartitionValues(items, ['site_id'], new Map(), new Map())).toEqual({ site_id: null });
});

test.each(['', '__HIVE_DEFAULT_PARTITION__', 'null', 'NULL', '__hive_default_partition__'])(
  'the text %j is refused as a partition value, because some readers treat it as null',
  (text) => {
    expect(() => read('brand', 'h', new Map([['h', text]]))).toThrow(
      expect.objectContaining({
        code: 'config',
        message: `items: brand ${quoteLiteral(text)} can't be a partition value, because some readers treat it as null`,
        facts: { hint: 'Remove brand from partitionBy of items.' },
      }),
    );
  },
);

test('a text whose hash is unknown is an error', () => {
  expect(() => read('brand', 'h')).toThrow(
    expect.objectContaining({ code: 'lake_invalid', message: 'items: rows of a staged file changed' }),
  );
});
