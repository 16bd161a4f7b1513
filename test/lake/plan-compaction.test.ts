import { describe, expect, test } from 'vitest';
import { isCompactionDue, planCompaction, planRewrite } from '../../src/lake/plan-compaction.js';
import { loadTableSchema } from '../../src/tables/schemas.js';

const MB = 1024 ** 2;
const file = (mb: number, i: number) => ({
  path: `${i}.parquet`,
  rows: 1n,
  bytes: mb * MB,
  partitionValues: {},
  stats: '',
  modifiedAt: 0,
});
const names = (files: readonly { path: string }[]) => files.map(({ path }) => path.replace('.parquet', ''));
const at = new Date('2026-11-22T00:00:00Z');

test('the target size decides which files are small and how many are merged', () => {
  const files = Array.from({ length: 20 }, (_, i) => file(20, i));
  const plan = (mb: number) => planCompaction(loadTableSchema('products'), files, at, mb * MB).length;
  expect([32, 64, 128, 1024].map(plan)).toEqual([0, 3, 6, 20]);
  expect(planCompaction(loadTableSchema('products'), files, at)).toHaveLength(plan(128));
  expect([32, 64].map((mb) => isCompactionDue(files, mb * MB))).toEqual([false, true]);
  expect(planRewrite(files, 100 * MB).map((pass) => pass.length)).toEqual([5, 5, 5, 5]);
});

describe('compaction of a table partitioned by day', () => {
  const history = loadTableSchema('history');
  const day = (observed_date: string | null, count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => ({ ...file(1, from + i), partitionValues: { observed_date } }));
  const plan = (...files: ReturnType<typeof day>) => planCompaction(history, files, at).length;

  test('merges two small files of a past day, but needs many for the current day', () => {
    expect([1, 2].map((count) => plan(...day('2026-11-21', count)))).toEqual([0, 2]);
    expect([2, 16, 17].map((count) => plan(...day('2026-11-22', count)))).toEqual([0, 0, 17]);
    expect(plan(...day('2026-11-23', 2))).toBe(0);
    // Rows without a day don't belong to the current day.
    expect(plan(...day(null, 2))).toBe(2);
  });

  test('merges a file only with others of its day', () => {
    expect(plan(...day('2026-11-20', 1), ...day('2026-11-21', 1))).toBe(0);
    const files = [...day('2026-11-20', 1), ...day('2026-11-21', 2, 1), ...day('2026-11-20', 1, 3)];
    expect(names(planCompaction(history, files, at))).toEqual(['0', '3', '1', '2']);
    expect(isCompactionDue([...day('2026-11-20', 9), ...day('2026-11-21', 9)])).toBe(false);
  });

  test('treats a partition that is not a day as past', () => {
    const files = day('2026-11-22', 2).map((one) => ({ ...one, partitionValues: { site_id: '3026' } }));
    expect(planCompaction(history, files, at)).toHaveLength(2);
  });
});

test('the smallest files are merged first, up to the target size', () => {
  const files = [30, 10, 40, 20, 45, 50].map((mb, i) => file(mb, i));
  expect(names(planCompaction(loadTableSchema('products'), files, at, 100 * MB))).toEqual(['1', '3', '0', '2']);
});

test('a rewrite includes every file once, even one larger than the target', () => {
  const files = [200, 60, 60, 30].map((mb, i) => file(mb, i));
  const other = { ...file(90, 4), partitionValues: { site_id: '1' } };
  const passes = planRewrite([...files, other], 100 * MB);
  expect(passes.map(names)).toEqual([['3', '1', '4'], ['2'], ['0']]);
  expect(planRewrite([])).toEqual([]);
});
