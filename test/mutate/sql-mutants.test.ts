import { expect, test } from 'vitest';
import { applyMutant, findMutants } from './sql-mutants.js';

const mutate = (sql: string) => findMutants(sql).map((mutant) => applyMutant(sql, mutant));

test.each([
  ['SELECT a < b', ['SELECT a <= b', 'SELECT a >= b']],
  ['SELECT max(a), max', ['SELECT min(a), max']],
  ['SELECT NOT a', ['SELECT a']],
  ['SELECT a IS NULL', ['SELECT a IS NOT NULL']],
  ['SELECT a IS NOT NULL', ['SELECT a IS NULL']],
  ['SELECT coalesce(f(a, b), c)', ['SELECT coalesce(c, f(a, b))', 'SELECT (f(a, b))']],
  ['SELECT coalesce(a, b, c)', ['SELECT coalesce(b, a, c)', 'SELECT (a)']],
  ['FROM a ORDER BY b DESC NULLS LAST', ['FROM a ORDER BY b ASC NULLS LAST', 'FROM a ORDER BY b DESC NULLS FIRST']],
  ['SELECT a - 1, -1', ['SELECT a + 1, -1']],
  ['CREATE OR REPLACE MACRO a(b) AS b', []],
  ['FROM a SEMI JOIN b', ['FROM a ANTI JOIN b']],
  ["SELECT '<', \"min(\", a->>'$' -- NOT a", []],
])('the mutants of %s are as listed', (sql, mutants) => {
  expect(mutate(sql)).toEqual(mutants);
});

test('each condition joined by AND is omitted alone, and a condition with OR is omitted as a whole', () => {
  const conditions = (sql: string) =>
    findMutants(sql)
      .filter(({ operator }) => operator === 'condition')
      .map((mutant) => applyMutant(sql, mutant));
  expect(conditions('FROM a WHERE b AND c BETWEEN 1 AND 2 AND (d OR e) GROUP BY f')).toEqual([
    'FROM a WHERE true AND c BETWEEN 1 AND 2 AND (d OR e) GROUP BY f',
    'FROM a WHERE b AND true AND (d OR e) GROUP BY f',
    'FROM a WHERE b AND c BETWEEN 1 AND 2 AND true GROUP BY f',
  ]);
  expect(conditions('FROM a WHERE b OR c AND d')).toEqual(['FROM a WHERE true']);
  expect(conditions('SELECT max(a) FILTER (WHERE b AND c) FROM d')).toEqual([
    'SELECT max(a) FILTER (WHERE true AND c) FROM d',
    'SELECT max(a) FILTER (WHERE b AND true) FROM d',
  ]);
});

test('the AND of BETWEEN joins no conditions', () => {
  expect(mutate('SELECT a BETWEEN 1 AND 2')).toEqual([]);
});

test('a mutant has its line and column', () => {
  expect(findMutants('SELECT a\nFROM b\n  ORDER BY c DESC')).toMatchObject([{ line: 3, column: 14, original: 'DESC' }]);
});
