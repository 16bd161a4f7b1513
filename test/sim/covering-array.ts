/** Rows of values in which every pair of values of two factors stands at least once: few rows that meet all pairs. */
import type { Seeded } from '../seeded.js';

/** Rows that are tried for each that is taken. */
const CANDIDATES = 6;

/**
 * Greedy: each row is the best of a few, and each of these is built factor by factor, in any order, of the value that
 * meets most pairs which no row has yet.
 * @param sizes number of values of each factor
 * @returns rows of places of values
 */
export function coverPairs(sizes: readonly number[], random: Seeded): number[][] {
  const open = new OpenPairs(sizes);
  const rows: number[][] = [];
  while (open.count > 0) {
    const candidates = Array.from({ length: CANDIDATES }, () => buildRow(sizes, open, random));
    const counts = candidates.map((row) => open.countIn(row));
    const best = candidates[counts.indexOf(Math.max(...counts))] as number[];
    open.close(best);
    rows.push(best);
  }
  return rows;
}

/** Pairs that no row has yet. */
class OpenPairs {
  readonly #offsets: number[] = [];
  readonly #width: number;
  readonly #open: Uint8Array;
  count = 0;

  constructor(sizes: readonly number[]) {
    let width = 0;
    for (const size of sizes) {
      this.#offsets.push(width);
      width += size;
    }
    this.#width = width;
    this.#open = new Uint8Array(width * width);
    for (const [a, size] of sizes.entries()) {
      for (let b = a + 1; b < sizes.length; b++) {
        for (let i = 0; i < size; i++) {
          for (let j = 0; j < (sizes[b] as number); j++) this.#open[this.#place(a, i, b, j)] = 1;
        }
        this.count += size * (sizes[b] as number);
      }
    }
  }

  #place(a: number, i: number, b: number, j: number): number {
    const [x, y] = [(this.#offsets[a] as number) + i, (this.#offsets[b] as number) + j];
    return x < y ? x * this.#width + y : y * this.#width + x;
  }

  isOpen(a: number, i: number, b: number, j: number): boolean {
    return this.#open[this.#place(a, i, b, j)] === 1;
  }

  countIn(row: readonly number[]): number {
    let count = 0;
    for (const [a, i] of row.entries()) {
      for (let b = a + 1; b < row.length; b++) if (this.isOpen(a, i, b, row[b] as number)) count++;
    }
    return count;
  }

  close(row: readonly number[]): void {
    this.count -= this.countIn(row);
    for (const [a, i] of row.entries()) {
      for (let b = a + 1; b < row.length; b++) this.#open[this.#place(a, i, b, row[b] as number)] = 0;
    }
  }
}

function buildRow(sizes: readonly number[], open: OpenPairs, random: Seeded): number[] {
  const row: number[] = sizes.map(() => -1);
  const chosen: number[] = [];
  const left = sizes.map((_, factor) => factor);
  while (left.length > 0) {
    const [factor] = left.splice(random.integer(left.length), 1) as [number];
    const scores = Array.from({ length: sizes[factor] as number }, (_, value) => {
      const pairs = chosen.filter((other) => open.isOpen(factor, value, other, row[other] as number));
      return pairs.length + random.fraction() / 2; // a tie is drawn
    });
    row[factor] = scores.indexOf(Math.max(...scores));
    chosen.push(factor);
  }
  return row;
}
