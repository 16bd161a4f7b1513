import { createSeeded, type Seeded } from '../seeded.js';

/**
 * The named events of a life: changes of the world and injected faults. Each event has its own random values, so a
 * shrunk life that leaves out some events keeps the others unchanged.
 */
export class Script {
  readonly #seed: number;
  readonly #without: ReadonlySet<string>;
  /** The names of the events so far. */
  readonly happened: string[] = [];
  /** The kind of each injected fault. */
  readonly faults: string[] = [];
  /** The schedule's trace; undefined in a life without a schedule. */
  trace: string | undefined;

  constructor({ seed, without = [] }: { seed: number; without?: readonly string[] | undefined }) {
    this.#seed = seed;
    this.#without = new Set(without);
  }

  /** False if the life leaves out this event. Otherwise records it. */
  takes(name: string): boolean {
    if (this.#without.has(name)) return false;
    this.happened.push(name);
    return true;
  }

  /** Returns the random values for the event with this name. */
  draw(name: string): Seeded {
    let hash = this.#seed;
    for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
    return createSeeded(hash);
  }
}
