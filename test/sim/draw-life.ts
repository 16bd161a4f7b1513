/**
 * Seed → the life of a world. Every other seed takes the next row of an array that covers all pairs of habits. The other
 * worlds are plain but for a few habits, because many odd habits together hide what one of them does: a sample that
 * repairs, a copy that comes anyway, an oracle that has to allow for a lag. A failing life → a plainer one that fails in
 * the same way.
 */
import { createSeeded } from '../seeded.js';
import { coverPairs } from './covering-array.js';
import { drawFew, HABIT_NAMES, type HabitName, type Habits, PLAIN, valuesOf } from './habits.js';
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
  const few = drawFew(random, 1 + random.integer(MOST_ODD));
  const row = seed % 2 === 1 ? listPairRows()[((seed - 1) / 2) % ROWS.length] : undefined;
  return { seed, habits: row ?? few, items: 20 + random.integer(16), rounds: 1 + random.integer(2) };
}

const MOST_ODD = 12;

/** Habits that are not plain: what a failure may be due to. */
export function listOdd(habits: Partial<Habits>): Partial<Habits> {
  const odd = HABIT_NAMES.filter((name) => name in habits && habits[name] !== PLAIN[name]);
  return Object.fromEntries(odd.map((name) => [name, habits[name]]));
}

/** Matches injected faults. They are dropped last, because the other events depend on them least. */
const TROUBLES = /^(loss|round) /;

/**
 * Shrinks a failing life: resets habits, then drops items, rounds, steps and injected faults, first many at once, then fewer.
 * @param fails returns the names of a life's events if it fails like the first one, otherwise undefined
 */
export async function shrinkLife(
  life: Life,
  fails: (life: Life) => Promise<readonly string[] | undefined>,
): Promise<Life> {
  let best: Life = { ...life, habits: { ...PLAIN, ...life.habits } };
  let happened: readonly string[] = [];
  const attempt = async (plainer: Life) => {
    const left = await fails(plainer);
    if (left === undefined) return false;
    best = plainer;
    happened = left;
    return true;
  };
  const names = () => Object.keys(listOdd(best.habits)) as HabitName[];
  await dropNames(names, (dropped) => attempt({ ...best, habits: resetHabits(best.habits, dropped) }));
  for (const items of [4, 8, 16]) if (items < best.items && (await attempt({ ...best, items }))) break;
  if (best.rounds > 1) await attempt({ ...best, rounds: 1 });
  if (happened.length === 0) await attempt(best);
  for (const areTroubles of [false, true]) {
    const list = () => happened.filter((name) => TROUBLES.test(name) === areTroubles);
    await dropNames(list, (dropped) => attempt({ ...best, without: [...(best.without ?? []), ...dropped] }));
  }
  return best;
}

/** Tries to drop the whole list, then halves, quarters and single names. The list gets shorter with each success. */
async function dropNames<T>(list: () => T[], attempt: (dropped: T[]) => Promise<boolean>): Promise<void> {
  for (let size = list().length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < list().length; ) if (!(await attempt(list().slice(at, at + size)))) at += size;
  }
}

function resetHabits(habits: Partial<Habits>, names: readonly HabitName[]): Partial<Habits> {
  return { ...habits, ...Object.fromEntries(names.map((name) => [name, PLAIN[name]])) };
}
