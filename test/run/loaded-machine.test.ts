import { cpSync, existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncWithWings } from '../../src/wings/index.js';
import { createSeeded } from '../seeded.js';
import { Schedule } from '../sim/schedule.js';
import { STORIES } from './stories.js';
import { openWorld, readTables, testIo, type World } from './world.js';

const io = { ...testIo, now: () => new Date('2026-11-21T00:00:00.000Z') };

/** Statements start in another order for each seed. */
const SEEDS = [1, 2, 3, 4, 5, 6];

describe.each(Object.entries(STORIES))('runs %s', (_name, { options, runs }) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(options);
  });
  afterAll(() => world.close());

  test.each(runs)('%s: the tables are the same, in whatever order statements run', async (name, before) => {
    await before(world);
    const { pipeline, lakePath, folder } = world;
    const copies = SEEDS.map((seed) => `${folder}/${name} ${seed}`);
    for (const copy of copies) if (existsSync(lakePath)) cpSync(lakePath, copy, { recursive: true });
    await syncWithWings(pipeline, io);
    const tables = await readTables(lakePath);
    for (const [place, seed] of SEEDS.entries()) {
      const lake = { ...pipeline.lake, path: copies[place] as string };
      const schedule = Schedule.begin(createSeeded(seed));
      await syncWithWings({ ...pipeline, lake }, io).finally(() => schedule.end());
      expect(schedule.turns, `seed ${seed}`).toBeGreaterThan(100);
      expect(await readTables(lake.path), `seed ${seed}`).toEqual(tables);
    }
  });
});
