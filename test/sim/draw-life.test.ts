import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createSeeded } from '../seeded.js';
import { coverPairs } from './covering-array.js';
import { drawLife, listOdd, listPairRows, SEEDS_OF_ALL_PAIRS, shrinkLife } from './draw-life.js';
import { HABIT_NAMES, READINGS, valuesOf } from './habits.js';

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

test('a failing life is shrunk to the readings that it takes to fail, few items and one round', async () => {
  const life = drawLife(7);
  const failing = {
    ...life,
    rounds: 2,
    habits: { ...life.habits, replicas: 300 as const, stateTimes: 'kept' as const },
  };
  let tries = 0;
  const shrunk = await shrinkLife(failing, async ({ habits, items }) => {
    tries++;
    return habits.replicas === 300 && habits.stateTimes === 'kept' && items >= 8 ? [] : undefined;
  });
  expect(listOdd(shrunk.habits)).toEqual({ replicas: 300, stateTimes: 'kept' });
  expect([shrunk.items, shrunk.rounds, shrunk.seed]).toEqual([8, 1, 7]);
  expect(tries).toBeLessThan(60);
});

test('a life that fails as it is for any reason keeps nothing that is not plain', async () => {
  const shrunk = await shrinkLife(drawLife(8), async () => []);
  expect(listOdd(shrunk.habits)).toEqual({});
  expect(shrunk.items).toBe(4);
});

test('steps and troubles that a failure does not take are left out', async () => {
  const all = ['step 1 of 1', 'step 2 of 1', 'step 3 of 1', 'loss 1 of run 1', 'loss 1 of run 2', 'loss 2 of run 2'];
  const shrunk = await shrinkLife({ ...drawLife(2), rounds: 1 }, async ({ without = [] }) => {
    const happened = all.filter((name) => !without.includes(name));
    return ['step 2 of 1', 'loss 1 of run 2'].every((name) => happened.includes(name)) ? happened : undefined;
  });
  expect(all.filter((name) => !shrunk.without?.includes(name))).toEqual(['step 2 of 1', 'loss 1 of run 2']);
});

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const page = readFileSync(root('docs/background/readings.md'), 'utf8');
/** Each line ends with its tests in parentheses. */
const lists = [...page.matchAll(/^- .* → .* \((.*)\)$/gm)].map(([, list]) => list as string);
const named = lists.flatMap((list) => [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string));

test('docs/background/readings.md has a line for each reading of the document that the seeds draw', () => {
  expect(Object.keys(READINGS).filter((name) => !named.includes(name))).toEqual([]);
});

test('every test that docs/background/readings.md names exists: a habit, or a file and a name in it', () => {
  const missing = named.filter((name) => {
    const [file = '', title] = name.split(/: (.*)/);
    if (title === undefined) return !(HABIT_NAMES as string[]).includes(name);
    return !existsSync(root(file)) || !readFileSync(root(file), 'utf8').includes(title);
  });
  expect(named.length).toBeGreaterThan(50);
  expect(missing).toEqual([]);
});

test('docs/background/readings.md says how many seeds meet all pairs', () => {
  expect(page).toContain(`${SEEDS_OF_ALL_PAIRS} seeds in a row cover all pairs`);
});
