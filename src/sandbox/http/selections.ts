import type { World } from '../world/world.js';
import type { ItemFilter } from './item-filter.js';

const KEPT = 12;

/** Which items a filter finds, in order: kept while the world stands still, so that paging costs no query. */
export class Selections {
  readonly #world: World;
  readonly #kept = new Map<string, Promise<Uint32Array>>();
  #version = -1;

  constructor(world: World) {
    this.#world = world;
  }

  /** @param order an ORDER BY clause's static text, or null for the order of the ids */
  find(filter: ItemFilter, order: string | null): Promise<Uint32Array> {
    if (this.#version !== this.#world.version) {
      this.#kept.clear();
      this.#version = this.#world.version;
    }
    const sql = `SELECT n FROM items WHERE ${filter.where} ORDER BY ${order === null ? 'n' : `${order}, n`}`;
    const key = `${sql} ${JSON.stringify(filter.values, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`;
    let found = this.#kept.get(key);
    if (found === undefined) {
      found = this.#world.database.use((session) => session.integers(sql, filter.values));
      found.catch(() => this.#kept.delete(key));
    }
    this.#kept.delete(key);
    this.#kept.set(key, found);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > KEPT && !oldest.done) this.#kept.delete(oldest.value);
    return found;
  }
}
