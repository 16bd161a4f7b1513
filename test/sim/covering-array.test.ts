import { expect, test } from 'vitest';
import { createSeeded } from '../seeded.js';
import { coverPairs } from './covering-array.js';
import { listPairRows } from './draw-life.js';
import { HABIT_NAMES, valuesOf } from './habits.js';

test('every pair of values of two factors stands in a row, in far fewer rows than there are combinations', () => {
  const sizes = [2, 3, 4, 2, 5];
  const rows = coverPairs(sizes, createSeeded(1));
  for (const [a, size] of sizes.entries()) {
    for (let b = a + 1; b < sizes.length; b++) {
      const met = new Set(rows.map((row) => `${row[a]} ${row[b]}`));
      expect(met.size).toBe(size * (sizes[b] as number));
    }
  }
  expect(rows.length).toBeLessThan(35);
});

test('the worlds of the seeds meet every pair of readings', () => {
  const rows = listPairRows();
  const missing: string[] = [];
  for (const [index, a] of HABIT_NAMES.entries()) {
    for (const b of HABIT_NAMES.slice(index + 1)) {
      const met = new Set(rows.map((row) => `${row[a]} ${row[b]}`));
      for (const i of valuesOf(a)) {
        for (const j of valuesOf(b)) if (!met.has(`${i} ${j}`)) missing.push(`${a} ${i} with ${b} ${j}`);
      }
    }
  }
  expect(missing).toEqual([]);
});
