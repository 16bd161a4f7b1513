import { listValue } from '@duckdb/node-api';
import { item } from '../../api/contract.js';
import { PricelakeError } from '../../io/errors.js';
import { type Io, reportStep } from '../../io/io.js';
import { type Category, PATH_SEPARATOR, slugify } from '../catalog/categories.js';
import { type DatasetEntry, MAX_DATASETS, maskOf, SAMPLE_DATASET } from '../catalog/datasets.js';
import { createCategoryChoice } from '../readings/readings.js';
import { findBadItem } from './find-bad-line.js';
import { publishRecordedPast } from './load-changes.js';
import {
  CREATE_LOAD_MACROS,
  DROP_LOADED,
  INSERT_LOADED_PAST,
  JUDGE_ITEMS,
  LOAD_ITEMS,
  READ_EXTRAS,
  READ_ITEMS,
} from './load-sql.js';
import { publishChanges } from './publish-changes.js';
import { CLONE_ITEMS } from './step-sql.js';
import { readNdjson } from './unpack-file.js';
import type { World } from './world.js';
import type { WorldSession } from './world-database.js';

/** The dataset of items that don't specify a dataset. */
const UNNAMED = 'Items';

/** NDJSON files, optionally gzipped. */
interface DataFiles {
  items: string;
  /** A file with the Changes of the feed, in order. If undefined, changes are derived from the items. */
  changes?: string | undefined;
}

/**
 * Fills an empty world with the Items in a file, and with recorded or derived changes. Returns the latest time in the
 * files, in milliseconds since 1970.
 * @throws PricelakeError `usage` if a file can't be read, `config` with the first invalid line
 */
export async function loadWorld(
  world: World,
  { items: file, changes }: DataFiles,
  seed: number,
  io: Pick<Io, 'progress'>,
): Promise<number> {
  return world.database.use(async (session) => {
    await reportStep(io, { step: 'reading' }, () => readItems(world, session, file));
    const extraFields = await readExtraFields(session);
    const datasets = await findDatasets(session, file);
    const categories = await buildCategories(session);
    const items = Number((await session.row('SELECT count(*) AS items FROM loaded'))?.items);
    const values = {
      seed,
      datasets: JSON.stringify(datasets),
      categories: JSON.stringify(categories),
      unnamed: UNNAMED,
      sampleMask: maskOf([SAMPLE_DATASET]),
      sampleOneIn: Math.max(3, Math.ceil(items / 150)),
    };
    await reportStep(io, { step: 'loading' }, () => session.run(LOAD_ITEMS, values));
    if (changes === undefined) await session.run(INSERT_LOADED_PAST);
    await session.run(DROP_LOADED + createCategoryChoice(world.readings));
    world.facts = {
      seed,
      datasets,
      categories,
      sources: await readSources(session),
      extraFields,
      insertNewItems: (open, batch) => open.run(CLONE_ITEMS, { ...batch, known: world.itemCount }),
    };
    await world.countItems(session);
    const past = await reportStep(io, { step: 'changes' }, async () => {
      if (changes !== undefined) return publishRecordedPast(world, session, changes);
      await publishChanges(world, session, seed);
      return 0;
    });
    const latest = await session.row(
      'SELECT epoch_ms(greatest(max(last_seen_at), max(last_changed_at), max(removed_at))) AS latest FROM items',
    );
    return Math.max(Number(latest?.latest), past);
  });
}

async function readItems(world: World, session: WorldSession, file: string): Promise<void> {
  await readNdjson(world.directory, {
    file,
    row: 'Item',
    hint: 'Each line must be an Item as GET /api/v1/items/{id} returns it; you can use an NDJSON export unchanged.',
    async read(path) {
      await session.run(CREATE_LOAD_MACROS + READ_ITEMS, { path });
      await session.run(READ_EXTRAS, { path, known: listValue(Object.keys(item.shape)) });
      return (await session.row(JUDGE_ITEMS))?.fault;
    },
    findBadLine: findBadItem,
  });
}

async function readExtraFields(session: WorldSession): Promise<string[]> {
  const rows = await session.rows('SELECT DISTINCT unnest(keys) AS name FROM extras ORDER BY name');
  return rows.map(({ name }) => String(name));
}

async function findDatasets(session: WorldSession, file: string): Promise<DatasetEntry[]> {
  const rows = await session.rows(
    `SELECT name FROM (
      SELECT unnest(names) AS name, generate_subscripts(names, 1) AS place
      FROM (SELECT CASE WHEN len(datasets) > 0 THEN datasets ELSE [$unnamed] END AS names FROM loaded)
    ) GROUP BY name ORDER BY avg(place), name`,
    { unnamed: UNNAMED },
  );
  if (rows.length > MAX_DATASETS) {
    const hint = `Keep at most ${MAX_DATASETS} names in \`datasets\`.`;
    throw new PricelakeError('config', `${file}: the items belong to ${rows.length} datasets, which is too many`, {
      hint,
    });
  }
  return rows.map(({ name }, bit) => ({ id: 11 + bit * 3, bit, name: String(name), description: null }));
}

/** Builds the category tree from the category paths of items. A parent category without items gets a generated slug. */
async function buildCategories(session: WorldSession): Promise<Category[]> {
  const rows = await session.rows(`SELECT slug, min(category->>'path') AS path, min(category->>'name') AS name
    FROM loaded WHERE slug IS NOT NULL GROUP BY slug ORDER BY path, slug`);
  const categories: Category[] = [];
  const add = (path: string, name: string, slug: string): Category => {
    const parentPath = path.split(PATH_SEPARATOR).slice(0, -1).join(PATH_SEPARATOR);
    const parentName = parentPath.split(PATH_SEPARATOR).at(-1) as string;
    const parent =
      parentPath === ''
        ? null
        : (categories.find((category) => category.path === parentPath) ??
          add(parentPath, parentName, slugify(parentPath)));
    const category = { id: 100 + categories.length, name, slug, path, parentId: parent?.id ?? null };
    categories.push(category);
    return category;
  };
  for (const { path, name, slug } of rows) add(String(path), String(name), String(slug));
  return categories;
}

async function readSources(session: WorldSession) {
  const rows = await session.rows('SELECT model_id FROM sources ORDER BY model_id');
  return rows.map(({ model_id }, index) => ({
    modelId: model_id as bigint,
    healthy: true,
    periodHours: 12,
    phaseHours: (index * 1.7) % 12,
  }));
}
