/**
 * Seed → the life of a world. Every other seed takes the next row of an array that covers all pairs of habits. Of the
 * others, every second world is plain but for a few habits, because many odd habits together hide what one of them does:
 * a sample that repairs, a copy that comes anyway, an oracle that has to allow for a lag. A failing life → a plainer one
 * that fails in the same way.
 */
import { createSeeded, type Seeded } from '../seeded.js';
import { coverPairs } from './covering-array.js';
import { drawHabits, HABIT_NAMES, type HabitName, type Habits, PLAIN, valuesOf } from './habits.js';
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
  const life = { seed, habits: row ?? drawn, items: 20 + random.integer(16), rounds: 1 + random.integer(2) };
  return seed % 4 === 2 ? { ...life, habits: keepFew(life.habits, random) } : life;
}

const MOST_ODD = 6;

/** Makes all but a few habits plain. */
function keepFew(habits: Habits, random: Seeded): Habits {
  const odd = Object.entries(listOdd(habits));
  const few: typeof odd = [];
  for (let left = 1 + random.integer(MOST_ODD); left > 0 && odd.length > 0; left--)
    few.push(...odd.splice(random.integer(odd.length), 1));
  return { ...PLAIN, ...Object.fromEntries(few) };
}

/** Habits that are not plain: what a failure may be due to. */
export function listOdd(habits: Partial<Habits>): Partial<Habits> {
  const odd = HABIT_NAMES.filter((name) => name in habits && habits[name] !== PLAIN[name]);
  return Object.fromEntries(odd.map((name) => [name, habits[name]]));
}

/** Drops habits back to the plain value, in halves, quarters and one by one, then items and rounds. */
export async function shrinkLife(life: Life, fails: (life: Life) => Promise<boolean>): Promise<Life> {
  let best: Life = { ...life, habits: { ...PLAIN, ...life.habits } };
  const attempt = async (plainer: Life) => {
    const isFailing = await fails(plainer);
    if (isFailing) best = plainer;
    return isFailing;
  };
  const names = () => Object.keys(listOdd(best.habits)) as HabitName[];
  for (let size = Math.ceil(names().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < names().length; ) {
      const dropped = names().slice(at, at + size);
      if (!(await attempt({ ...best, habits: resetHabits(best.habits, dropped) }))) at += size;
    }
  }
  for (const items of [4, 8, 16]) if (items < best.items && (await attempt({ ...best, items }))) break;
  if (best.rounds > 1) await attempt({ ...best, rounds: 1 });
  return best;
}

function resetHabits(habits: Partial<Habits>, names: readonly HabitName[]): Partial<Habits> {
  return { ...habits, ...Object.fromEntries(names.map((name) => [name, PLAIN[name]])) };
}
