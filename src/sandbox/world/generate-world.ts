import { buildCategories, type Category, FALLBACK_MASK, type Leaf } from '../catalog/categories.js';
import { ACCOUNT_DATASETS, maskOf, SAMPLE_DATASET } from '../catalog/datasets.js';
import { buildShops, buildSources, type Shop, type ShopSource } from '../catalog/shops.js';
import { createCategoryChoice } from '../readings/readings.js';
import {
  CREATE_CATALOG,
  INSERT_GONE_PENDING,
  INSERT_ITEMS,
  INSERT_NEW_PENDING,
  MISS_EVERYTHING,
  PICK_PAST_CHANGES,
  SET_LAST_SEEN,
} from './generate-sql.js';
import { publishChanges } from './publish-changes.js';
import { storeSources } from './scrapes.js';
import { APPLY_STEP, CREATE_STEP, INSERT_STEP_PENDING } from './step-sql.js';
import type { NewItemBatch, World } from './world.js';
import type { SqlValues, WorldSession } from './world-database.js';

interface GenerateOptions {
  seed: number;
  items: number;
  sites: number;
  /** The end of the generated past, in milliseconds since 1970. */
  startAt: number;
  /** Days of past changes before `startAt`, at least 5. */
  pastDays: number;
}

const DAY_MS = 86_400_000;
/**
 * The time without changes before the start, in milliseconds. It makes the feed show all past changes from the
 * beginning.
 */
const QUIET_MS = 30 * 60_000;
const SEGMENT = 200_000;
/**
 * The share of listed items that change in each round of the past, per mille. The past has 1.3 changes per item in
 * total.
 */
const PAST_ROUNDS = [210, 90, 40];
const SHOP_SLOTS = 4096;
const LEAF_SLOTS = 1024;

/** Fills an empty world with a catalog, the offers of many shops, and past changes. */
export async function generateWorld(world: World, options: GenerateOptions): Promise<void> {
  const { seed, items, startAt } = options;
  const pastMs = options.pastDays * DAY_MS;
  const shops = buildShops(seed, options.sites);
  const sources = buildSources(seed, shops);
  const { categories, leaves } = buildCategories();
  const products = Math.max(20, Math.round(items / 3.2));
  const shared: SqlValues = {
    seed,
    products,
    fallbackMask: FALLBACK_MASK,
    sampleMask: maskOf([SAMPLE_DATASET]),
    sampleOneIn: Math.max(6, Math.ceil(items / 150)),
  };
  const insert = (session: WorldSession, batch: NewItemBatch) =>
    session.run(INSERT_ITEMS + MISS_EVERYTHING, { ...shared, ...batch });
  world.facts = { seed, datasets: ACCOUNT_DATASETS, categories, sources, extraFields: [], insertNewItems: insert };
  await world.database.use(async (session) => {
    const catalog = catalogJson(shops, sources, categories, leaves);
    await session.run(CREATE_CATALOG, { seed, products, ...catalog });
    await storeSources(session, sources, startAt);
    const past = { firstSeen: (startAt - pastMs) * 1000, span: (pastMs - DAY_MS) * 1000 };
    for (let from = 0; from < items; from += SEGMENT) {
      await insert(session, { ...past, from, to: Math.min(items, from + SEGMENT), salt: seed, step: 0 });
    }
    await session.run(createCategoryChoice(world.readings));
    await writePast(session, { ...past, seed, items, end: (startAt - QUIET_MS) * 1000 });
    await world.countItems(session);
    await publishChanges(world, session, seed);
  });
}

async function writePast(session: WorldSession, values: SqlValues & { seed: number; items: number }): Promise<void> {
  const goneItems = Math.floor(values.items / 2000);
  await session.run(INSERT_NEW_PENDING, { from: 0, to: values.items });
  await session.run(INSERT_GONE_PENDING, { ...values, gone: goneItems, mask: FALLBACK_MASK });
  for (const [round, perMille] of PAST_ROUNDS.entries()) {
    const salt = values.seed * 1000 + round;
    await session.run('DELETE FROM pick');
    await session.run(PICK_PAST_CHANGES, { ...values, salt, perMille });
    await session.run(CREATE_STEP + INSERT_STEP_PENDING + APPLY_STEP, { salt, step: 0 });
  }
  await session.run(SET_LAST_SEEN);
}

/** Converts shops and categories to JSON for DuckDB, including their parts of an item's JSON. */
function catalogJson(shops: Shop[], sources: ShopSource[], categories: Category[], leaves: Leaf[]): SqlValues {
  const rows = {
    leaves: divideSlots(LEAF_SLOTS, leaves).map(([leaf, slots]) => ({ ...slots, ...describeLeaf(leaf, categories) })),
    shops: divideSlots(SHOP_SLOTS, shops).map(([shop, slots]) => ({ ...slots, ...describeShop(shop, sources) })),
  };
  return Object.fromEntries(Object.entries(rows).map(([name, value]) => [name, JSON.stringify(value)]));
}

function describeLeaf(leaf: Leaf, categories: Category[]): object {
  const { categoryId, median, sigma, isBook, mask, brands, nouns } = leaf;
  const { name, path, slug } = categories.find(({ id }) => id === categoryId) as Category;
  return {
    ...{ category_id: categoryId, median, sigma, is_book: isBook, mask, brands, nouns },
    json_ai: JSON.stringify({ name, path, slug, source: 'AI' }),
    json_manual: JSON.stringify({ name, path, slug, source: 'MANUAL' }),
  };
}

/** Describes a shop for the catalog. The shop's slots take turns in using its sources and words. */
function describeShop(shop: Shop, sources: ShopSource[]): object {
  const { siteId: id, name, host, attribution, currency, perEuro, words, mask, level } = shop;
  const own = sources
    .filter(({ siteId }) => siteId === id)
    .map(({ modelId, name }) => ({ modelId: Number(modelId), name }));
  return {
    ...{ site_id: id, host, currency, per_euro: perEuro, words, mask, level },
    site_json: JSON.stringify({ id, name, host, attribution }),
    sources: own.map((source) => ({ model_id: source.modelId, source_json: JSON.stringify(source) })),
  };
}

/** A range of slots, from `first` to below `next`. */
interface Slots {
  first: number;
  next: number;
}

/** Divides slots among entries by weight, so that a hash modulo `count` chooses entries by weight. */
function divideSlots<T extends { weight: number }>(count: number, entries: readonly T[]): [T, Slots][] {
  const total = entries.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  let first = 0;
  return entries.map((entry) => {
    sum += entry.weight;
    const next = Math.round((count * sum) / total);
    const slots = { first, next };
    first = next;
    return [entry, slots];
  });
}
