import type { World } from '../world/world.js';
import type { SqlValues } from '../world/world-database.js';

const KEPT = 16;

/** Keeps the numbers of the items that queries found while the world stands still, so that paging costs no query. */
export class Selections {
  readonly #world: World;
  readonly #kept = new Map<string, Promise<Uint32Array>>();
  #version = -1;

  constructor(world: World) {
    this.#world = world;
  }

  items(sql: string, values: SqlValues): Promise<Uint32Array> {
    if (this.#version !== this.#world.version) {
      this.#kept.clear();
      this.#version = this.#world.version;
    }
    const key = [sql, ...Object.entries(values).flat()].join('\0');
    let found = this.#kept.get(key);
    if (found === undefined) {
      found = this.#world.database.use((session) => session.integers(sql, values));
      found.catch(() => this.#kept.delete(key));
    }
    // The least recently used goes first.
    this.#kept.delete(key);
    this.#kept.set(key, found);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > KEPT && !oldest.done) this.#kept.delete(oldest.value);
    return found;
  }
}
