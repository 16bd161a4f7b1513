import { expect, test } from 'vitest';
import { countOf, formatCount } from '../../src/formats/count.js';

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [-123456, '-123,456'],
  [1234567n, '1,234,567'],
  [2n ** 63n - 1n, '9,223,372,036,854,775,807'],
])('%s is printed as %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test('a count of one uses the singular noun', () => {
  expect([countOf(1n, 'shop'), countOf(1234, 'shop')]).toEqual(['1 shop', '1,234 shops']);
  expect(countOf(0, 'entry', 'entries')).toBe('0 entries');
});
