import { expect, test } from 'vitest';
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
const at = new Date('2026-11-22T00:00:00Z');

test('the target size says which files are small, and how many are joined', () => {
  const files = Array.from({ length: 20 }, (_, i) => file(20, i));
  const plan = (mb: number) => planCompaction(loadTableSchema('products'), files, at, mb * MB).length;
  expect([32, 64, 128, 1024].map(plan)).toEqual([0, 3, 6, 20]);
  expect([32, 64].map((mb) => isCompactionDue(files, mb * MB))).toEqual([false, true]);
  expect(planRewrite(files, 100 * MB).map((pass) => pass.length)).toEqual([5, 5, 5, 5]);
});
