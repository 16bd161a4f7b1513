import type { World } from '../world/world.js';
import type { SqlValues, WorldSession } from '../world/world-database.js';
import type { ItemFilter } from './item-filter.js';

const KEPT = 16;

/** Items ordered by website. Each range is one website's. */
interface ItemsBySite {
  numbers: Uint32Array;
  ranges: Map<bigint, [start: number, end: number]>;
}

/** Keeps what queries found while the world stands still, so that paging costs no query. */
export class Selections {
  readonly #world: World;
  readonly #kept = new Map<string, Promise<Uint32Array | ItemsBySite>>();
  #version = -1;

  constructor(world: World) {
    this.#world = world;
  }

  items(sql: string, values: SqlValues): Promise<Uint32Array> {
    return this.#find(sql, values, (session) => session.integers(sql, values));
  }

  /** One query finds the items of all websites: a client that exports one website exports the others too. */
  async itemsOfSite(items: string, { where, values }: ItemFilter, site: bigint): Promise<Uint32Array> {
    const from = `FROM ${items} WHERE ${where}`;
    const { numbers, ranges } = await this.#find(`${from} by site`, values, (session) =>
      findBySite(session, from, values),
    );
    return numbers.subarray(...(ranges.get(site) ?? [0, 0]));
  }

  #find<T extends Uint32Array | ItemsBySite>(
    query: string,
    values: SqlValues,
    read: (session: WorldSession) => Promise<T>,
  ): Promise<T> {
    if (this.#version !== this.#world.version) {
      this.#kept.clear();
      this.#version = this.#world.version;
    }
    const key = [query, ...Object.entries(values).flat()].join('\0');
    let found = this.#kept.get(key) as Promise<T> | undefined;
    if (found === undefined) {
      found = this.#world.database.use(read);
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

async function findBySite(session: WorldSession, from: string, values: SqlValues): Promise<ItemsBySite> {
  const counts = await session.rows(
    `SELECT site_id, count(*) AS items ${from} GROUP BY site_id ORDER BY site_id`,
    values,
  );
  const ranges: ItemsBySite['ranges'] = new Map();
  let end = 0;
  for (const { site_id, items } of counts) {
    const start = end;
    end += Number(items);
    ranges.set(site_id as bigint, [start, end]);
  }
  return { numbers: await session.integers(`SELECT n ${from} ORDER BY site_id, n`, values), ranges };
}
