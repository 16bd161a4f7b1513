import { expect, onTestFinished, test } from 'vitest';
import { rebuildWithWings } from '../../src/wings/index.js';
import { changeText, openWorld, readItems, testIo } from './world.js';

test('a rebuild gives items the same dataset names as before', async () => {
  const world = await openWorld({ items: 40, sites: 2 });
  onTestFinished(() => world.close());
  await world.sync();
  const countNamed = async (name: string) =>
    [...(await readItems(world.lakePath)).values()].filter((row) => row.some((text) => text.split('|').includes(name)))
      .length;
  const named = await countNamed('Consumer electronics');
  expect(named).toBeGreaterThan(5);

  const now = 'Electronics, and more';
  world.intercept = changeText(/./, (text) => text.replaceAll('"Consumer electronics"', JSON.stringify(now)));
  await world.sandbox.advance({ hours: 1, changes: 3 });
  expect((await world.sync()).row).toMatchObject({ mode: 'feed', differences: 0n });
  expect([await countNamed('Consumer electronics'), await countNamed(now)]).toEqual([0, named]);

  const before = await readItems(world.lakePath);
  await rebuildWithWings(world.pipeline, testIo, new AbortController().signal);
  expect(await readItems(world.lakePath)).toEqual(before);
});
