import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld, readItems, readTruth } from './world.js';

const world = await openWorld({ items: 100, sites: 2, history: 'none' });
beforeAll(async () => {
  await world.sync();
  world.pipeline.source.mode = 'snapshot';
});
afterAll(() => world.close());

describe('a complete copy from an export that lacks fields', () => {
  test.each(['price', 'gtin', 'category'])("keeps the lake's values in %s", async (field) => {
    world.sandbox.armFaults([`export:missing=${field}`]);
    const { row } = await world.sync();
    expect(row).toMatchObject({ mode: 'snapshot', differences: 0n, gone: 0n });
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });
});
