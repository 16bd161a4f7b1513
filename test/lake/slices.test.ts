import { expect, test } from 'vitest';
import { countValues, groupValues, planSlices } from '../../src/lake/slices.js';
import type { Column } from '../../src/tables/schemas.js';
import { openDatabase } from './fixture.js';

const groups = (limit: bigint, ...rows: bigint[]) => groupsOf({ rows: limit, values: 1000 }, ...rows);

const groupsOf = (limits: { rows: bigint; values: number }, ...rows: bigint[]) =>
  groupValues(
    rows.map((count, i) => ({ values: [String(i)], rows: count })),
    limits,
  ).map((group) => group.map(({ values }) => Number(values[0])));

test("adjacent values share a group while their rows fit, and a value that doesn't fit is alone", () => {
  expect(groups(10n)).toEqual([]);
  expect(groups(10n, 4n, 5n, 1n)).toEqual([[0, 1, 2]]);
  expect(groups(10n, 99n, 1n, 99n)).toEqual([[0], [1], [2]]);
});

test('groups have about equal rows, so two lanes finish together', () => {
  expect(groups(150n, 100n, 40n, 30n, 20n)).toEqual([[0], [1, 2, 3]]);
  expect(groups(10n, 4n, 6n, 1n, 9n, 1n)).toEqual([[0], [1, 2], [3], [4]]);
  const thousand = Array.from({ length: 1000 }, () => 1n);
  expect(groups(150n, ...thousand).map((group) => group.length)).toEqual(Array(8).fill(125));
});

test('a group has no more values than a COPY may have partitions, however few rows they have', () => {
  expect(groupsOf({ rows: 10n, values: 2 }, 1n, 1n, 1n, 1n, 1n)).toEqual([[0, 1], [2, 3], [4]]);
  expect(groupsOf({ rows: 10n, values: 2 }, 9n, 1n, 1n)).toEqual([[0], [1, 2]]);
});

const column = (name: string, type: Column['type']): Column => ({ name, type, nullable: true, description: '' });

/** Returns the slices of a select and the row count of each. */
async function slice(select: string, columns: Column[], limits = { rows: 150_000n, values: 64 }) {
  const db = await openDatabase();
  const predicates = planSlices(columns, await countValues(db, select, columns), limits);
  const counts = [];
  for (const predicate of predicates) {
    const [row] = await db.rows(`SELECT count(*)::INTEGER AS n FROM (${select}) WHERE ${predicate}`);
    counts.push(row?.n);
  }
  return { predicates, counts };
}

test('each row is in exactly one slice, including rows with null', async () => {
  const slices = (values: string, rows = 1) =>
    slice(`SELECT a AS "a b" FROM (VALUES ${values}) AS t(a), range(${rows})`, [column('a b', 'VARCHAR')]);
  expect(await slices("('x'), ('it''s'), (NULL)")).toEqual({
    predicates: [`"a b" BETWEEN 'it''s' AND 'x' OR "a b" IS NULL`],
    counts: [3],
  });
  expect((await slices("('x'), ('y')")).predicates).toEqual([`"a b" BETWEEN 'x' AND 'y'`]);
  expect(await slices('(NULL)')).toEqual({ predicates: ['"a b" IS NULL'], counts: [1] });
  expect((await slices("('x'), ('y'), (NULL)", 100_000)).counts).toEqual([100_000, 100_000, 100_000]);
});

test('each row is in exactly one slice of several columns, including rows with null in any of them', async () => {
  const rows = `SELECT NULLIF(i // 4, 2) AS a, NULLIF('v' || (i % 4), 'v3') AS b FROM range(12) AS r(i)`;
  const columns = [column('a', 'BIGINT'), column('b', 'VARCHAR')];
  for (const values of [1, 2, 3, 5]) {
    const { counts } = await slice(rows, columns, { rows: 100n, values });
    expect(counts).toHaveLength(Math.ceil(12 / values));
    expect(counts.slice(0, -1)).toEqual(counts.slice(0, -1).map(() => values));
    expect(counts.reduce<number>((sum, count) => sum + Number(count), 0)).toBe(12);
  }
});
