import { describe, expect, test } from 'vitest';
import { boundMismatchRate } from '../../src/run/prove/compare-sample.js';

describe('the upper bound of a mismatch rate', () => {
  test.each([
    // One-sided 95 % Clopper–Pearson, from tables.
    [0, 10, 0.2589],
    [0, 100, 0.02951],
    [1, 20, 0.2161],
    [5, 50, 0.1987],
    [3, 1000, 0.00773],
  ])('with %i of %i is %f', (found, sampled, bound) => {
    expect(boundMismatchRate(found, sampled)).toBeCloseTo(bound, 3);
  });

  test('is 1 when nothing was sampled, or all of it differs', () => {
    expect(boundMismatchRate(0, 0)).toBe(1);
    expect(boundMismatchRate(4, 4)).toBe(1);
  });
});
