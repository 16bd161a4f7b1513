import { cpSync, existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncPipeline } from '../../src/sync/sync.js';
import { delaySessions, type IsLate } from '../late-sessions.js';
import { createSeeded } from '../seeded.js';
import { STORIES } from './stories.js';
import { openWorld, readTables, testIo, type World } from './world.js';

const io = { ...testIo, now: () => new Date('2026-11-21T00:00:00.000Z') };

/** Statements of all sessions are late at random. */
const drawLate = (seed: number): IsLate => {
  const random = createSeeded(seed);
  return () => random.fraction() < 0.3;
};

const LATE: [string, IsLate][] = [
  ['the session of the run is', (session) => session === 0],
  ['the session that reads the items is', (session) => session === 1],
  ['the session that writes the items is', (session) => session === 2],
  ...[1, 2].map((seed): [string, IsLate] => [`statements are by seed ${seed}`, drawLate(seed)]),
];

describe.each(Object.entries(STORIES))('runs %s', (_name, { options, runs }) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(options);
  });
  afterAll(() => world.close());

  test.each(runs)('%s: the tables are the same, whatever is late', async (name, before) => {
    await before(world);
    const { pipeline, lakePath, folder } = world;
    const copies = LATE.map((_, place) => `${folder}/${name} ${place}`);
    for (const copy of copies) if (existsSync(lakePath)) cpSync(lakePath, copy, { recursive: true });
    await syncPipeline(pipeline, io);
    const tables = await readTables(lakePath);
    for (const [place, [what, isLate]] of LATE.entries()) {
      const lake = { ...pipeline.lake, path: copies[place] as string };
      const late = delaySessions(isLate);
      await syncPipeline({ ...pipeline, lake }, io).finally(late.end);
      expect(late.held.size, what).toBeGreaterThan(0);
      expect(await readTables(lake.path), what).toEqual(tables);
    }
  });
});
