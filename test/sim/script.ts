import { createSeeded, type Seeded } from '../seeded.js';

/**
 * What happens in a life beside the service's habits: steps of the world and troubles, each under a name. Each has random
 * values of its own, so a shrunk life that leaves some out keeps the others as they were.
 */
export class Script {
  readonly #seed: number;
  readonly #without: ReadonlySet<string>;
  /** Names of all that happened so far. */
  readonly happened: string[] = [];
  /** Kinds of the faults that were met, one for each. */
  readonly faults: string[] = [];
  /** Equal for equal orders of the same work; undefined where the machine orders it. */
  trace: string | undefined;

  constructor({ seed, without = [] }: { seed: number; without?: readonly string[] | undefined }) {
    this.#seed = seed;
    this.#without = new Set(without);
  }

  /** False if the life leaves it out. */
  takes(name: string): boolean {
    if (this.#without.has(name)) return false;
    this.happened.push(name);
    return true;
  }

  /** Random values of the event of this name alone. */
  draw(name: string): Seeded {
    let hash = this.#seed;
    for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
    return createSeeded(hash);
  }
}
