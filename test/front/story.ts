/**
 * A world that a test changes event by event, an independent service for it, and the lake that runs create from it. The
 * tables are read from the files that lake.json lists, without the product's own code.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import { record } from '../sim/events.js';
import type { Habits } from '../sim/habits.js';
import { openSimulation, type Simulation } from '../sim/simulation.js';
import { type Change, type Item, type Kind, SECOND, type World } from '../sim/world.js';
import { listPublishedFiles } from './published-files.js';

export interface Story extends Simulation {
  /** Sets the service's clock to a time of 20 November 2026, or `22 09:00` of another day. */
  at(time: string): void;
  /** Adds a listing, and reports it in the feed. Prices are in cents. */
  add(values?: Partial<Item>): Item;
  /** Changes values of an item, and reports the change in the feed. */
  change(item: Item, values: Partial<Item>, kind?: Kind): void;
  remove(item: Item): void;
  relist(item: Item, values?: Partial<Item>): void;
  /** Changes values of an item without reporting it in the feed. */
  alter(item: Item, values: Partial<Item>): void;
  /** Lets the changes become visible in the feed, and runs. */
  run(): ReturnType<Simulation['sync']>;
  /** Rows of published tables, one line each; `t(time)` is formatted as `20 09:00`. */
  read(sql: string): Promise<string[]>;
}

export interface StoryOptions {
  habits?: Partial<Habits>;
  partitionBy?: string[];
}

const SITE_NAMES = ['Kiosk', 'Museum', 'Market', 'Depot'];

/** Websites 11, 22, 33 and 44, the second of which has licensed data. There is no item yet. */
export async function openStory({ habits = {}, ...options }: StoryOptions = {}): Promise<Story> {
  const simulation = await openSimulation({ seed: 1, items: 0, habits, ...options });
  const { world, lakePath, pipeline } = simulation;
  pipeline.proof = { ...pipeline.proof, sample: 0 };
  for (const [n, site] of [...world.sites.values()].entries()) {
    Object.assign(site, { name: SITE_NAMES[n], attribution: n === 1 ? 'CC BY 4.0' : null });
    world.keepSite(site);
  }
  const change = (item: Item, values: Partial<Item>, kind: Kind = 'CHANGED') => {
    const changes: Change['changes'] = {};
    for (const [name, value] of Object.entries(values)) {
      if (name !== 'price' && name !== 'removedAt') changes[name] = [item[name as keyof Item], value];
    }
    const before = values.price === undefined ? undefined : item.price;
    Object.assign(item, values);
    record(world, item, kind, changes, before);
  };
  return Object.assign(simulation, {
    at: (time: string) => {
      const [day, hours] = time.includes(' ') ? time.split(' ') : ['20', time];
      world.now = BigInt(Date.parse(`2026-11-${day}T${hours}:00Z`)) * 1_000_000n;
    },
    add: (values: Partial<Item> = {}) => addListing(world, values),
    change,
    remove: (item: Item) => change(item, { removedAt: world.stamp() }, 'REMOVED'),
    relist: (item: Item, values: Partial<Item> = {}) => change(item, { removedAt: null, ...values }, 'RELISTED'),
    alter: (item: Item, values: Partial<Item>) => {
      Object.assign(item, values);
      world.keep(item);
    },
    run: () => {
      world.now += 60n * SECOND;
      return simulation.sync();
    },
    read: (sql: string) => readPublished(lakePath, sql),
  });
}

function addListing(world: World, values: Partial<Item>): Item {
  const { now } = world;
  const item: Item = {
    id: world.takeItemId(),
    ...{ title: 'Pen', brand: null, mpn: null, gtin: null, price: 1000, previousPrice: null, priceChangedAt: null },
    ...{ currency: 'EUR', url: null, image: null, attributes: {}, category: null, datasets: [world.datasets[0]] },
    ...{ siteId: 11n, modelId: 111n, sourceName: 'list', removedAt: null, sight: 'visible', hasLeft: false },
    ...{ firstSeenAt: now, lastSeenAt: now, lastChangedAt: now, touchedAt: now },
    ...values,
  };
  world.items.set(item.id, item);
  record(world, item, 'NEW', {}, undefined);
  return item;
}

async function readPublished(lakePath: string, sql: string): Promise<string[]> {
  const instance = await DuckDBInstance.create();
  const db = await instance.connect();
  try {
    await db.run("SET TimeZone = 'UTC'");
    await db.run("CREATE MACRO t(moment) AS strftime(moment, '%d %H:%M')");
    for (const [table, files] of listPublishedFiles(lakePath)) {
      const list = files.map((file) => `'${file}'`).join(', ');
      if (list !== '') await db.run(`CREATE VIEW ${table} AS FROM read_parquet([${list}], hive_partitioning = false)`);
    }
    const result = await db.runAndReadAll(sql);
    return result.getRows().map((row) => row.map((value) => (value === null ? '∅' : String(value))).join(' | '));
  } finally {
    db.closeSync();
    instance.closeSync();
  }
}
