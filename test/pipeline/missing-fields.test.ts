import { afterEach, describe, expect, test } from 'vitest';
import { openWorld, readItems, readTruth, type World } from './world.js';

let world: World;
afterEach(() => world.close());

describe('a complete copy over a lake whose export lacks fields', () => {
  test.each(['price', 'gtin', 'category'])('keeps what the lake has in %s', async (field) => {
    world = await openWorld({ items: 100, sites: 2, history: 'none' });
    await world.sync();
    world.sandbox.armFaults([`export:missing=${field}`]);
    world.pipeline.source.mode = 'snapshot';
    const { row } = await world.sync();
    expect(row).toMatchObject({ mode: 'snapshot', differences: 0n, gone: 0n });
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });
});
