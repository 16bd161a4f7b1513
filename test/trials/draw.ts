import { createSeeded, type Seeded } from '../seeded.js';

/** Seeded draws from the distributions that prices and shops follow. */
export interface Draw extends Seeded {
  chance(probability: number): boolean;
  between(low: number, high: number): number;
  /** A factor around 1 whose logarithm is normal with this deviation. */
  logNormal(sigma: number): number;
  /** `count` different members, each drawn with a probability in proportion to its weight. */
  sample<T>(list: readonly T[], count: number, weigh: (member: T) => number): T[];
  shuffle<T>(list: readonly T[]): T[];
}

export function createDraw(seed: number): Draw {
  const seeded = createSeeded(seed);
  const { fraction, integer } = seeded;
  const normal = () => Math.sqrt(-2 * Math.log(1 - fraction())) * Math.cos(2 * Math.PI * fraction());
  return {
    ...seeded,
    chance: (probability) => fraction() < probability,
    between: (low, high) => low + fraction() * (high - low),
    logNormal: (sigma) => Math.exp(sigma * normal()),
    // Efraimidis and Spirakis: the largest keys u^(1/weight) are a weighted sample without replacement.
    sample: (list, count, weigh) =>
      list
        .map((member) => ({ member, key: fraction() ** (1 / weigh(member)) }))
        .sort((a, b) => b.key - a.key)
        .slice(0, count)
        .map(({ member }) => member),
    shuffle: (list) => {
      const shuffled = [...list];
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = integer(last + 1);
        [shuffled[last], shuffled[other]] = [shuffled[other] as never, shuffled[last] as never];
      }
      return shuffled;
    },
  };
}
