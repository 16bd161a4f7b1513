import { expect, test } from 'vitest';
import { findDataPathFault, findNameFault, findPathFault, quotePath } from '../../src/io/inner-path.js';

test.each([
  'a.parquet',
  'site_id=12/a.parquet',
  'name=a%20b/c.parquet',
  '%2e%2e%2fa.parquet',
  'at=2026-11-20 09:00:00/a.parquet',
  'ü?#*[x]/…/a',
  '...',
  '..a/b..',
])('%j stays in its folder', (path) => {
  expect(findPathFault(path)).toBeUndefined();
});

test.each([
  ['', 'is empty'],
  ['.', 'leaves its folder'],
  ['a/./b', 'leaves its folder'],
  ['..', 'leaves its folder'],
  ['a/../../b', 'leaves its folder'],
  ['a//b', 'leaves its folder'],
  ['a/', 'leaves its folder'],
  ['/a', 'is not relative'],
  ['//host/a', 'is not relative'],
  ['C:/a', 'is not relative'],
  ['C:\\a', 'is not relative'],
  ['file:///a', 'is not relative'],
  ['s3a://bucket/a', 'is not relative'],
  ['..\\a', 'has a backslash'],
  ['a\0', 'has a control character'],
  ['\u001b[2J', 'has a control character'],
  ['a\u009b', 'has a control character'],
  ['\ud800', 'has a control character'],
  ['ä'.repeat(128), 'is too long'],
  [`${'a/'.repeat(512)}a`, 'is too long'],
])('%j is refused', (path, fault) => {
  expect(findPathFault(path)).toBe(fault);
});

test('a data file must not be in a log or private folder, and a file name must not contain a folder', () => {
  expect(findDataPathFault('_delta_log/00000000000000000009.json')).toBe("starts with _ or ., which data files don't");
  expect(findDataPathFault('.hidden')).toBe("starts with _ or ., which data files don't");
  expect(findDataPathFault('a/_b')).toBeUndefined();
  expect(findNameFault('a/b')).toBe('is a path, not a file name');
  expect(findNameFault('a')).toBeUndefined();
});

test('a path in a message is one short line', () => {
  expect(quotePath('a\n\u001b')).toBe('"a\\n\\u001b"');
  expect(quotePath('x'.repeat(5000))).toHaveLength(203);
});
