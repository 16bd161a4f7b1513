import { expect, onTestFinished, test } from 'vitest';
import { rebuildLake } from '../../src/run/rebuild/rebuild.js';
import { openWorld, readItems, testIo } from './world.js';

test('a rebuild gives items the names of datasets that they had', async () => {
  let now: string | undefined;
  const world = await openWorld({
    items: 40,
    sites: 2,
    intercept: async (request, next) => {
      const answer = await next(request);
      if (now === undefined) return answer;
      const headers = new Headers(answer.headers);
      headers.delete('content-length');
      const text = (await answer.text()).replaceAll('"Consumer electronics"', JSON.stringify(now));
      return new Response(text, { status: answer.status, headers });
    },
  });
  onTestFinished(() => world.close());
  await world.sync();
  const countNamed = async (name: string) =>
    [...(await readItems(world.lakePath)).values()].filter((row) => row.some((text) => text.split('|').includes(name)))
      .length;
  const named = await countNamed('Consumer electronics');
  expect(named).toBeGreaterThan(5);

  now = 'Electronics, and more';
  await world.sandbox.advance({ hours: 1, changes: 3 });
  expect((await world.sync()).row).toMatchObject({ mode: 'feed', differences: 0n });
  expect([await countNamed('Consumer electronics'), await countNamed(now)]).toEqual([0, named]);

  const before = await readItems(world.lakePath);
  await rebuildLake(world.pipeline, testIo, new AbortController().signal);
  expect(await readItems(world.lakePath)).toEqual(before);
});
