import { expect, test } from 'vitest';
import { suggestName } from '../../src/io/suggest-name.js';

const OPTIONS = ['output', 'currency', 'min-shops', 'min-offers-of-one', 'top', 'list'];

test.each([
  ['a letter that is missing', 'ouput', 'output'],
  ['neighbors that changed places', 'curerncy', 'currency'],
  ['capital letters', 'TOP', 'top'],
  ['the beginning of a name', 'out', 'output'],
  ['the beginning of several names: the shortest', 'min', 'min-shops'],
  ['two letters, which may begin anything', 'cu', undefined],
  ['nothing that is known', 'verbose', undefined],
])('for %s', (_what, given, name) => {
  expect(suggestName(given, OPTIONS)).toBe(name);
});

test('nothing is suggested where nothing is known', () => {
  expect(suggestName('output', [])).toBeUndefined();
});
