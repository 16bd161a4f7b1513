/** Random values that are the same in every run, so that a failing case can be repeated. */
export interface Seeded {
  /** Uniform in [0, 1). */
  fraction(): number;
  /** Uniform in [0, below). */
  integer(below: number): number;
  pick<T>(list: readonly T[]): T;
  /** A text with `length` characters from `alphabet`. */
  text(alphabet: string, length: number): string;
}

/** mulberry32, which is small, fast, and good enough for test cases. */
export function createSeeded(seed: number): Seeded {
  let state = seed;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number): number => Math.floor(fraction() * below);
  const pick = <T>(list: readonly T[]): T => list[integer(list.length)] as T;
  return {
    fraction,
    integer,
    pick,
    text: (alphabet, length) => Array.from({ length }, () => pick([...alphabet])).join(''),
  };
}
