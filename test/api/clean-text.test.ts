import { expect, test } from 'vitest';
import { createCleaner } from '../../src/api/clean-text.js';

const cleaner = createCleaner('s3cr"t/+');

test('control characters, direction marks and line breaks become one space', () => {
  expect(cleaner.text('a\u001b[31mred\u0000\r\n  b\u202ec\u200b!')).toBe('a [31mred b c !');
  expect(cleaner.text('\n a ')).toBe('a');
});

test('a long text is cut and ends with an ellipsis', () => {
  const text = cleaner.text('x'.repeat(1000));
  expect(text).toHaveLength(300);
  expect(text.endsWith('…')).toBe(true);
  expect(cleaner.text('12345', 5)).toBe('12345');
  expect(cleaner.text('123456', 5)).toBe('1234…');
});

test('the API key is removed in every encoding, before the text is cut', () => {
  expect(cleaner.text('plain s3cr"t/+, JSON s3cr\\"t/+, URL s3cr%22t%2F%2B')).toBe(
    'plain [key], JSON [key], URL [key]',
  );
  expect(cleaner.text(`${'x'.repeat(295)}s3cr"t/+ yyy`)).not.toContain('s3');
});

test('only http and https addresses are passed on', () => {
  for (const url of ['https://docs.example.com/e/1', 'http://x/', `https://x/${'a'.repeat(490)}`]) {
    expect(cleaner.url(url)).toBe(url);
  }
  expect(cleaner.url('https://docs.example.com/?k=s3cr%22t%2F%2B')).toBe('https://docs.example.com/?k=[key]');
  for (const value of ['javascript:alert(1)', 'nonsense', 7, undefined, `https://x/${'a'.repeat(600)}`]) {
    expect(cleaner.url(value)).toBeUndefined();
  }
});
