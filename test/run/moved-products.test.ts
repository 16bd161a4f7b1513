import { cp, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildWithWings } from '../../src/wings/index.js';
import { changeText, makePipeline, openWorld, readLake, testIo, type World } from './world.js';

const DAYS = 'SELECT * EXCLUDE (run_id) FROM';
let world: World;
/** The rows of the closed days before and after the run that learns the GTINs. */
let before: string[][];
let behind: string[][];

const readDays = (lakePath = world.lakePath) =>
  readLake(lakePath, (glob) => `${DAYS} ${glob('price_spread_daily')} ORDER BY ALL`);

beforeAll(async () => {
  world = await openWorld({ items: 500, sites: 5 });
  await world.sync();
  await world.sandbox.advance({ hours: 48, changes: 30 });
  await world.sync();
  before = await readDays();
  const sold = await readLake(
    world.lakePath,
    (glob) => `SELECT gtin FROM ${glob('items')} JOIN ${glob('price_spread_daily')} USING (product_id)
      WHERE gtin IS NOT NULL AND is_listed GROUP BY gtin ORDER BY count(*) DESC, gtin LIMIT 3`,
  );
  // Two products in several shops turn out to be the same, and some offers no longer have a product.
  const [from, to, gone] = sold.map(([gtin]) => `"gtin":"${gtin}"`) as [string, string, string];
  world.intercept = changeText(/\/(export|items)/, (text) => text.replaceAll(from, to).replaceAll(gone, '"gtin":null'));
  world.pipeline.source.mode = 'snapshot';
  await world.sandbox.advance({ hours: 24, changes: 10 });
  await world.sync();
  behind = await readDays();
  world.pipeline.source.mode = 'auto';
  await world.sandbox.advance({ hours: 24, changes: 30 });
  await world.sync();
});
afterAll(() => world.close());

describe('closed days of products whose GTINs become known later', () => {
  it('move with their offers', async () => {
    const days = new Set(before.map(([day]) => day));
    const kept = behind.filter(([day]) => days.has(day));
    expect(kept).not.toEqual(before);
    expect(kept.length).toBeGreaterThan(0);
  });

  it('equal those computed from scratch', async () => {
    const pipeline = { ...world.pipeline, lake: { ...world.pipeline.lake, path: `${world.lakePath}-at-once` } };
    await cp(world.lakePath, pipeline.lake.path, { recursive: true });
    const kept = await readDays();
    world.pipeline = pipeline;
    for (const daily of [0, 90]) {
      pipeline.analysis = { ...pipeline.analysis, daily };
      pipeline.source.mode = 'snapshot';
      await world.sandbox.advance({ hours: 1, changes: 1 });
      await world.sync();
    }
    expect(await readDays(pipeline.lake.path)).toEqual(kept);
  });

  it('are the same in a rebuild that starts with the run that learned them', async () => {
    const pipeline = makePipeline(world.sandbox, `${path.dirname(world.lakePath)}/rebuilt`);
    await cp(world.lakePath, pipeline.lake.path, { recursive: true });
    const landing = path.join(pipeline.lake.path, '_pricelake', 'landing');
    const runs = (await readdir(landing)).sort();
    for (const name of runs.slice(0, 2)) await rm(path.join(landing, name), { recursive: true });
    await rebuildWithWings(pipeline, testIo, new AbortController().signal);
    expect(await readDays(pipeline.lake.path)).toEqual(await readDays());
  });
});
