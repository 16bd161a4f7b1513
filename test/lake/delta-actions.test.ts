import { expect, test } from 'vitest';
import { encodeLogPath, parseAction, readAdd, writeAdd, writeRemove, writeTxn } from '../../src/lake/delta-actions.js';
import type { DataFile } from '../../src/tables/table.js';

const AT = new Date('2026-11-20T10:00:00.123Z');
const FILE: DataFile = {
  path: 'brand-a b/c=1.parquet',
  rows: 3n,
  bytes: 1234,
  partitionValues: { brand: 'a b', day: null },
  stats: '{"numRecords":3}',
  modifiedAt: 1_700_000_000_001,
  sha256: 'ab12',
};
const { sha256: _none, ...UNSIGNED } = FILE;

test('an add action has the fields that Delta requires', () => {
  const add = {
    path: 'brand-a%20b/c=1.parquet',
    partitionValues: { brand: 'a b', day: null },
    size: 1234,
    modificationTime: 1_700_000_000_001,
    dataChange: true,
    stats: '{"numRecords":3}',
  };
  expect(JSON.parse(writeAdd(FILE))).toEqual({ add: { ...add, tags: { 'pricelake.sha256': 'ab12' } } });
  expect(JSON.parse(writeAdd(UNSIGNED, false))).toStrictEqual({ add: { ...add, dataChange: false } });
});

test('a remove action has a date and the facts of the removed file', () => {
  const remove = {
    path: 'brand-a%20b/c=1.parquet',
    deletionTimestamp: AT.getTime(),
    dataChange: true,
    extendedFileMetadata: true,
    partitionValues: { brand: 'a b', day: null },
    size: 1234,
  };
  expect(JSON.parse(writeRemove(FILE, AT))).toEqual({ remove });
  expect(JSON.parse(writeRemove(FILE, AT, false))).toEqual({ remove: { ...remove, dataChange: false } });
});

test('a file of another program may lack statistics, a row count and tags', () => {
  const add = { path: 'a%20b.parquet', partitionValues: {}, size: 5, modificationTime: 6 };
  const plain = { path: 'a%20b.parquet', rows: 0n, bytes: 5, partitionValues: {}, stats: '{}', modifiedAt: 6 };
  expect(readAdd(add)).toStrictEqual(plain);
  expect(readAdd({ ...add, stats: null, tags: null })).toStrictEqual(plain);
  expect(readAdd({ ...add, stats: '{"minValues":{}}', tags: { other: 'x' } })).toStrictEqual({
    ...plain,
    stats: '{"minValues":{}}',
  });
});

test('txn versions are exact int64 values, and plain numbers if they are small', () => {
  const txn = { version: 2n ** 63n - 1n, lastUpdated: 7 };
  expect(writeTxn('a"b', txn)).toBe('{"txn":{"appId":"a\\"b","version":9223372036854775807,"lastUpdated":7}}');
  expect(parseAction(writeTxn('a"b', txn)).txn).toEqual({ appId: 'a"b', ...txn });
  expect(parseAction(writeTxn('x', { version: 5n, lastUpdated: 7 })).txn).toEqual({
    appId: 'x',
    version: 5,
    lastUpdated: 7,
  });
});

test('each part of a path is encoded, except the sign between a column and its value', () => {
  expect(encodeLogPath('site=a%20b/ü?#.parquet')).toBe('site=a%2520b/%C3%BC%3F%23.parquet');
  expect(encodeLogPath('a=b=c')).toBe('a=b=c');
});
