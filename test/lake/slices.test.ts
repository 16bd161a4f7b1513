import { expect, test } from 'vitest';
import { groupValues, planSlices } from '../../src/lake/slices.js';
import { openDatabase } from './fixture.js';

const groups = (limit: bigint, ...rows: bigint[]) =>
  groupValues(
    rows.map((count, i) => ({ value: String(i), rows: count })),
    limit,
  ).map((group) => group.map(({ value }) => Number(value)));

test('neighbours are together as long as their rows fit, and a value that does not fit is alone', () => {
  expect(groups(10n)).toEqual([]);
  expect(groups(10n, 4n, 5n, 1n)).toEqual([[0, 1, 2]]);
  expect(groups(10n, 99n, 1n, 99n)).toEqual([[0], [1], [2]]);
});

test('two lanes have about as many rows each to write', () => {
  expect(groups(150n, 100n, 40n, 30n, 20n)).toEqual([[0], [1, 2, 3]]);
  expect(groups(10n, 4n, 6n, 1n, 9n, 1n)).toEqual([[0], [1, 2], [3], [4]]);
  const thousand = Array.from({ length: 1000 }, () => 1n);
  expect(groups(150n, ...thousand).map((group) => group.length)).toEqual(Array(8).fill(125));
});

test('each row is in one slice, whatever its value is, null included', async () => {
  const db = await openDatabase();
  const slices = async (values: string, rows = 1) => {
    const select = `SELECT a AS "a b" FROM (VALUES ${values}) AS t(a), range(${rows})`;
    const predicates = await planSlices(db, select, 'a b');
    const counts = [];
    for (const predicate of predicates) {
      const [row] = await db.rows(`SELECT count(*)::INTEGER AS n FROM (${select}) WHERE ${predicate}`);
      counts.push(row?.n);
    }
    return { predicates, counts };
  };
  expect(await slices("('x'), ('it''s'), (NULL)")).toEqual({
    predicates: [`"a b" BETWEEN 'it''s' AND 'x' OR "a b" IS NULL`],
    counts: [3],
  });
  expect((await slices("('x'), ('y')")).predicates).toEqual([`"a b" BETWEEN 'x' AND 'y'`]);
  expect(await slices('(NULL)')).toEqual({ predicates: ['"a b" IS NULL'], counts: [1] });
  expect((await slices("('x'), ('y'), (NULL)", 100_000)).counts).toEqual([100_000, 100_000, 100_000]);
});
