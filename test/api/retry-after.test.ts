import { expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/api/service-clock.js';

const NOW = new Date('2026-11-20T12:00:00Z');

test.each([
  ['7', 7000],
  [' 0 ', 0],
  ['1.5', 1500],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
  ['Fri Nov 20 12:00:30 2026', 30_000],
  ['Fri, 20 Nov 2026 12:00:30 UTC', 30_000],
  ['Fri, 20 Nov 2026 12:00:30 +0000', 30_000],
  ['Fri, 20 Nov 2026 14:00:30 +0200', 30_000],
  ['Fri, 20 Nov 2026 10:00:30 -0200', 30_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['0.0001', 1],
  ['2592000', 2_592_000_000],
  ['31622400', 31_622_400_000],
])('%j is %i ms', (header, ms) => {
  expect(parseRetryAfter(header, NOW)).toBe(ms);
});

test.each([
  [undefined],
  [''],
  ['soon'],
  ['-1'],
  ['+7'],
  ['1e3'],
  ['0x10'],
  ['Infinity'],
  ['.5'],
  ['7 s'],
  ['Fri, 99 Nov 2026 99:00:00 GMT'],
  ['2026-11-20T12:00:30Z'],
  ['1 Fri, 20 Nov 2026 12:00:30 GMT'],
  ['Fri, 20 Nov 2026 1:00:30 GMT'],
  ['Fri, 20 Nov 2026 12:00:3 GMT'],
  ['Fri, 20 Nov 2026 12:0:30 GMT'],
  ['(x) Fri, 20 Nov 2026 12:00:30 GMT'],
  ['Fri, 20 Nov 2026 12:00:30 GMT+0200'],
  ['Fri, 20 Nov 2026 12:00:30 EST'],
])('%j says nothing usable', (header) => {
  expect(parseRetryAfter(header, NOW)).toBeUndefined();
});

test.each([['9'.repeat(400)], [`1.${'9'.repeat(400)}e9`], ['99999999'], ['Fri, 31 Dec 9999 23:59:59 GMT']])(
  'beyond a year, as %j is, nobody is asked to wait',
  (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  },
);
