/** A failing life → a plainer one that fails in the same way. */
import { listOdd } from './draw-life.js';
import { type HabitName, type Habits, PLAIN } from './habits.js';
import type { Life } from './live-through.js';

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
