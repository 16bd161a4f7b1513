import { isLosslessNumber } from 'lossless-json';
import { expect, test } from 'vitest';
import { parseExactJson } from '../../src/api/exact-json.js';

test('safe integers are parsed as numbers', () => {
  expect(parseExactJson('[0, -1, 9007199254740991]')).toEqual([0, -1, 9007199254740991]);
});

test('integers above 2^53 are exact bigints at any depth', () => {
  const text = '{"id":9007199254740993,"nested":{"ids":[ -9223372036854775808,9223372036854775807 ]}}';
  expect(parseExactJson(text)).toEqual({
    id: 9007199254740993n,
    nested: { ids: [-9223372036854775808n, 9223372036854775807n] },
  });
});

test('a large integer is exact when it is the whole text', () => {
  for (const text of ['9007199254740993', ' 9007199254740993', '\n-9007199254740993 ']) {
    expect(parseExactJson(text)).toBe(BigInt(text.trim()));
  }
});

test('a decimal that a double reproduces is a number', () => {
  expect(parseExactJson('[19.99, 1.10, 1234567890.1234, 1.5E3, 12345678901234.5]')).toEqual([
    19.99, 1.1, 1234567890.1234, 1500, 12345678901234.5,
  ]);
});

test('a decimal that a double would change keeps its text', () => {
  for (const token of [
    '0.12345678901234567891',
    '123456789012.34567890123',
    '1e400',
    '12e400',
    '1.5e400',
    '1E-400',
    '9007199254740993.0',
  ]) {
    const value = parseExactJson(`{"price":${token}}`) as { price: unknown };
    expect(isLosslessNumber(value.price) && value.price.value).toBe(token);
  }
});

test('digits inside strings stay strings', () => {
  const value = { gtin: '40063813339310000001', text: 'order: 12345678901234567890, 1e400' };
  expect(parseExactJson(JSON.stringify(value))).toEqual(value);
});

test('the fast parser and the exact parser agree on repeated keys, __proto__ and escapes', () => {
  const inner = '"a":1,"a":2,"__proto__":{"x":1},"s":"\\u00e9\\n\\ud83d\\ude00"';
  const quick = parseExactJson(`{${inner}}`) as object;
  const exact = parseExactJson(`{${inner},"id":9007199254740993}`) as object;
  expect(exact).toEqual({ ...quick, id: 9007199254740993n, ['__proto__']: { x: 1 } });
  expect(Object.getPrototypeOf(exact)).toBe(Object.prototype);
});

test('text that is not JSON is a SyntaxError in both parsers', () => {
  expect(() => parseExactJson('{"id":1')).toThrow(SyntaxError);
  expect(() => parseExactJson('{"id":9007199254740993')).toThrow(SyntaxError);
  expect(() => parseExactJson('')).toThrow(SyntaxError);
});
