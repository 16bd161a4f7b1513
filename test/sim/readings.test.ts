import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HABIT_NAMES, READINGS } from './habits.js';

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const page = readFileSync(root('docs/concepts/readings.md'), 'utf8');
/** The last cell of each row: tests. */
const cells = [...page.matchAll(/^\|.*\|([^|]*)\|$/gm)].map(([, cell]) => cell as string);
const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string));

test('docs/concepts/readings.md has a row for each reading of the document that the seeds draw', () => {
  expect(Object.keys(READINGS).filter((name) => !named.includes(name))).toEqual([]);
});

test('every test that docs/concepts/readings.md names exists: a habit, or a file and a name in it', () => {
  const missing = named.filter((name) => {
    const [file = '', title] = name.split(/: (.*)/);
    if (title === undefined) return !(HABIT_NAMES as string[]).includes(name);
    return !existsSync(root(file)) || !readFileSync(root(file), 'utf8').includes(title);
  });
  expect(named.length).toBeGreaterThan(50);
  expect(missing).toEqual([]);
});

test('docs/concepts/readings.md says how many seeds meet all pairs', async () => {
  const { SEEDS_OF_ALL_PAIRS } = await import('./draw-life.js');
  expect(page).toContain(`${SEEDS_OF_ALL_PAIRS} seeds in a row cover all pairs`);
});
