import { expect, test } from 'vitest';
import { measureWidth, truncateToWidth } from '../../../src/cli/output/display-width.js';

test('the width of a text is the number of terminal cells that it occupies', () => {
  const widths = {
    '': 0,
    abc: 3,
    'Zażółć – “gęś” …': 16,
    'e\u0301': 1,
    日本: 4,
    '👍🏽': 2,
    'soft\u00adhyphen': 10,
    'in 0.7\u202fs → 2': 12,
  };
  for (const [text, width] of Object.entries(widths)) expect(measureWidth(text), text).toBe(width);
});

test('a text that is too wide is cut between visible characters', () => {
  expect(truncateToWidth('日本語', 6)).toBe('日本語');
  expect(truncateToWidth('日本語', 5)).toBe('日本…');
  expect(truncateToWidth('ae\u0301ou', 3)).toBe('ae\u0301…');
});

test('a Latin letter has the same width alone and beside others', () => {
  for (let point = 0x20; point < 0x2ff; point += 1) {
    const letter = String.fromCodePoint(point);
    if (/\p{Cc}/u.test(letter)) continue;
    expect(measureWidth(letter), point.toString(16)).toBe(measureWidth(`${letter}日`) - 2);
  }
});
