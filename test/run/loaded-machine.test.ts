import { cpSync, existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncWithWings } from '../../src/wings/index.js';
import { delayStatements } from '../late-statements.js';
import { createSeeded } from '../seeded.js';
import { STORIES } from './stories.js';
import { openWorld, readTables, testIo, type World } from './world.js';

const io = { ...testIo, now: () => new Date('2026-11-21T00:00:00.000Z') };

/** Statements are delayed at random, so that they run in another order for each seed. */
const SEEDS = [1, 2, 3, 4, 5, 6];
const drawLate = (seed: number) => {
  const random = createSeeded(seed);
  return () => random.fraction() < 0.3;
};

describe.each(Object.entries(STORIES))('runs %s', (_name, { options, runs }) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(options);
  });
  afterAll(() => world.close());

  test.each(runs)('%s: the tables are the same for any order of statements', async (name, before) => {
    await before(world);
    const { pipeline, lakePath, folder } = world;
    const copies = SEEDS.map((seed) => `${folder}/${name} ${seed}`);
    for (const copy of copies) if (existsSync(lakePath)) cpSync(lakePath, copy, { recursive: true });
    await syncWithWings(pipeline, io);
    const tables = await readTables(lakePath);
    for (const [place, seed] of SEEDS.entries()) {
      const lake = { ...pipeline.lake, path: copies[place] as string };
      const late = delayStatements(drawLate(seed));
      await syncWithWings({ ...pipeline, lake }, io).finally(late.end);
      expect(late.held, `seed ${seed}`).toBeGreaterThan(0);
      expect(await readTables(lake.path), `seed ${seed}`).toEqual(tables);
    }
  });
});
