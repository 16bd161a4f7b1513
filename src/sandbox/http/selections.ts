import type { World } from '../world/world.js';
import type { SqlValues, WorldSession } from '../world/world-database.js';

const KEPT = 16;

/** What queries found, in order: kept while the world stands still, so that paging costs no query. */
export class Selections {
  readonly #world: World;
  readonly #kept = new Map<string, Promise<Uint32Array | string[]>>();
  #version = -1;

  constructor(world: World) {
    this.#world = world;
  }

  /** Numbers of the items that a query finds. */
  items(sql: string, values: SqlValues): Promise<Uint32Array> {
    return this.#find(sql, values, (session) => session.integers(sql, values));
  }

  /** Keys of the products that a query finds. */
  products(sql: string, values: SqlValues): Promise<string[]> {
    return this.#find(sql, values, async (session) => {
      const keys: string[] = [];
      await session.eachChunk(sql, values, (chunk) => {
        for (const key of chunk.getColumnValues(0)) keys.push(key as string);
      });
      return keys;
    });
  }

  #find<T extends Uint32Array | string[]>(
    sql: string,
    values: SqlValues,
    read: (session: WorldSession) => Promise<T>,
  ): Promise<T> {
    if (this.#version !== this.#world.version) {
      this.#kept.clear();
      this.#version = this.#world.version;
    }
    const key = [sql, ...Object.entries(values).flat()].join('\0');
    let found = this.#kept.get(key) as Promise<T> | undefined;
    if (found === undefined) {
      found = this.#world.database.use(read);
      found.catch(() => this.#kept.delete(key));
    }
    // Least recently used goes first: what was just used moves to the end.
    this.#kept.delete(key);
    this.#kept.set(key, found);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > KEPT && !oldest.done) this.#kept.delete(oldest.value);
    return found;
  }
}
