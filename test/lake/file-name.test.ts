import { expect, test } from 'vitest';
import { nameDataFile } from '../../src/lake/file-name.js';

const label = (values: Record<string, string | null>) =>
  nameDataFile(values, 'x.parquet').replace(/\.?x\.parquet$/, '');

test('file names: the files of all partitions are in one folder, with the partition values in their names', () => {
  expect(nameDataFile({ site_id: '12' }, '0198.parquet')).toBe('site_id-12.0198.parquet');
  expect(nameDataFile({ observed_date: '2026-11-20' }, '0198.parquet')).toBe('observed_date-2026-11-20.0198.parquet');
  expect(nameDataFile({ is_listed: 'true', currency: 'EUR' }, 'x.parquet')).toBe(
    'is_listed-true.currency-EUR.x.parquet',
  );
  expect(nameDataFile({}, '0198.parquet')).toBe('0198.parquet');
});

test('file names: no value becomes a path, and different values get different names', () => {
  const values = [
    'a b',
    'a%b',
    'a/b',
    '..',
    '.',
    '/etc',
    '_x',
    'é=ü',
    "it's",
    'a\\b',
    '日本',
    '🛒',
    'a\0b',
    'a_20b',
    ' ',
    '\n',
    '~',
  ];
  const labels = values.map((value) => label({ brand: value }));
  for (const name of labels) expect(name).toMatch(/^brand-[A-Za-z0-9_-]+$/);
  expect(new Set([...labels, label({ brand: null }), label({ brand: 'null' })]).size).toBe(values.length + 2);
  expect(label({ brand: 'a/b_c' })).toBe('brand-a_2fb_5fc');
  expect(label({ brand: 'a\nb' })).toBe('brand-a_0ab');
});

test('file names: very long values end in distinct hashes', () => {
  const names = ['a', 'b'].map((end) => nameDataFile({ title: `${'🛒'.repeat(5000)}${end}` }, 'x.parquet'));
  expect(new Set(names).size).toBe(2);
  for (const name of names) {
    expect(name).toMatch(/^title-(_[0-9a-f]{2})+_sha256_[0-9a-f]{32}\.x\.parquet$/);
    expect(name.length).toBeLessThan(140);
  }
});
