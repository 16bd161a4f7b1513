import { expect, test } from 'vitest';
import { IdSet } from '../../src/io/id-set.js';
import { createSeeded } from '../seeded.js';

test('an IdSet equals a Set after any deletions, also for ids beyond 2^53 and below zero', () => {
  const { integer, pick } = createSeeded(5);
  const known = Array.from({ length: 300 }, () => BigInt(integer(2000) - 1000) * 9_007_199_254_740_993n);
  const expected = new Set(known.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  const ids = new IdSet(BigInt64Array.from(expected));
  for (let step = 0; step < 400; step++) {
    const id = pick([pick(known), BigInt(integer(2000))]);
    expect(ids.has(id)).toBe(expected.has(id));
    expect(ids.delete(id)).toBe(expected.delete(id));
    expect(ids.size).toBe(expected.size);
  }
  expect([...ids]).toEqual([...expected]);
  expect(ids.size).toBeLessThan(200);
});

test('an empty IdSet contains nothing', () => {
  const none = new IdSet(new BigInt64Array());
  expect([none.size, none.has(0n), none.delete(0n), [...none]]).toEqual([0, false, false, []]);
});
