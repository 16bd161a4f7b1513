/** Seed → the life of a world. Every other seed takes the next row of an array that covers all pairs of habits. */
import { createSeeded } from '../seeded.js';
import { coverPairs } from './covering-array.js';
import { drawHabits, HABIT_NAMES, type Habits, PLAIN, valuesOf } from './habits.js';
import type { Life } from './live-through.js';

const ROWS = coverPairs(
  HABIT_NAMES.map((name) => valuesOf(name).length),
  createSeeded(2026),
);

/** So many seeds in a row meet all pairs. */
export const SEEDS_OF_ALL_PAIRS = ROWS.length * 2;

/** Habits of each row. */
export function listPairRows(): Habits[] {
  return ROWS.map(
    (row) =>
      Object.fromEntries(
        HABIT_NAMES.map((name, index) => [name, valuesOf(name)[row[index] as number]]),
      ) as unknown as Habits,
  );
}

export function drawLife(seed: number): Life {
  const random = createSeeded(seed * 7919);
  const drawn = drawHabits(random);
  const row = seed % 2 === 1 ? listPairRows()[((seed - 1) / 2) % ROWS.length] : undefined;
  return { seed, habits: row ?? drawn, items: 20 + random.integer(16), rounds: 1 + random.integer(2) };
}

/** Habits that are not plain: what a failure may be due to. */
export function listOdd(habits: Partial<Habits>): Partial<Habits> {
  const odd = HABIT_NAMES.filter((name) => name in habits && habits[name] !== PLAIN[name]);
  return Object.fromEntries(odd.map((name) => [name, habits[name]]));
}
