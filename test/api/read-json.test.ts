import { expect, test } from 'vitest';
import { z } from 'zod';
import { createCleaner } from '../../src/api/clean-text.js';
import { checkAnswer, parseJsonBody, showText } from '../../src/api/read-json.js';

const cleaner = createCleaner('secret');

test('the error for a body that is not JSON quotes its beginning once, shortened', () => {
  expect(() => parseJsonBody(Buffer.from('{"a": secret}'), 'GET /x', cleaner)).toThrow(
    expect.objectContaining({
      code: 'contract',
      message: expect.stringMatching(
        /^GET \/x: the response is not JSON \([^"]+\); it starts with "\{\\"a\\": \[key\]\}"$/,
      ),
      facts: { hint: expect.stringContaining('source.baseUrl') },
    }),
  );
  const parse = (text: string) => parseJsonBody(Buffer.from(text), 'GET /x', cleaner);
  expect(() => parse(`{"a": "${'x'.repeat(200)}\\n",\n"b": secret, "c": "${'x'.repeat(200)}"}`)).toThrow(
    /^GET \/x: the response is not JSON \(Unexpected token 's'\); it starts with "/,
  );
  expect(() => parseJsonBody(Buffer.from([0x22, 0xff, 0x22]), 'GET /x', cleaner)).toThrow('the response is not JSON');
  expect(showText(Buffer.from('x'.repeat(5000)), cleaner)).toBe(`"${'x'.repeat(79)}…"`);
});

test('a contract error names three places and the number of further ones', () => {
  const schema = z.object({ a: z.string(), b: z.string(), c: z.string(), d: z.object({ e: z.array(z.string()) }) });
  const check = (value: unknown) => checkAnswer(value, schema, 'GET /x', cleaner);
  expect(() => check({ a: 1, b: 'x', d: { e: ['x', null] } })).toThrow(
    'GET /x: a: Invalid input: expected string, received 1; c: Invalid input: expected string, received nothing; d.e.1: Invalid input: expected string, received null',
  );
  expect(() => check({ d: {} })).toThrow(/^GET \/x: a: [^;]+; b: [^;]+; c: [^;]+ \(and 1 more\)$/);
  expect(() => check({ d: { e: [] } })).toThrow(/; c: [^;]+, received nothing$/);
  expect(() => check(null)).toThrow(/^GET \/x: the whole response: [^;]+, received null$/);
  expect(() => check({ a: 'x'.repeat(500), b: '', c: 'secret'.repeat(50), d: 7 })).toThrow(/d: [^;]+, received 7$/);
  expect(check({ a: '', b: '', c: '', d: { e: [] } })).toEqual({ a: '', b: '', c: '', d: { e: [] } });
});
