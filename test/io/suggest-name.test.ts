import { expect, test } from 'vitest';
import { suggestName } from '../../src/io/suggest-name.js';

const OPTIONS = ['output', 'currency', 'min-shops', 'min-offers-of-one', 'top', 'list'];

test.each([
  ['a missing letter', 'ouput', 'output'],
  ['neighbors that changed places', 'curerncy', 'currency'],
  ['capital letters', 'TOP', 'top'],
  ['the beginning of a name', 'out', 'output'],
  ['the beginning of several names, of which the shortest is suggested', 'min', 'min-shops'],
  ['only two letters', 'cu', undefined],
  ['an unknown word', 'verbose', undefined],
])('a name is suggested only if it is close enough: %s', (_what, given, name) => {
  expect(suggestName(given, OPTIONS)).toBe(name);
});

test('nothing is suggested if there are no names', () => {
  expect(suggestName('output', [])).toBeUndefined();
});
