import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failure } from '../failure.js';
import { readDeltaTable } from './delta-reader.js';
import { expectExactCopy } from './exact-copy.js';
import { openWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld({ items: 1200, sites: 2000, pastDays: 5, history: 'none' });
});
afterAll(() => world.close());

test('too little memory is an error that says the step, the limit and what to set; with more the run goes on', async () => {
  world.pipeline.lake.memory = 16 * 1024 ** 2;
  const error = await failure(world.sync());
  expect(error).toMatchObject({ code: 'out_of_memory', facts: { limit: '16.0 MiB' } });
  expect(error.message).toMatch(
    /^(step \w+|\w+: writing the rows): DuckDB needs more memory than its limit of 16\.0 MiB/,
  );
  expect(error.facts.hint).toContain('lake.memory');
  world.pipeline.lake.memory = undefined;
  expect(await world.sync()).toMatchObject({ published: true, resumed: true });
  await expectExactCopy(world);
});

test('more shops than a run opens files for share files', async () => {
  const { files, partitionColumns } = await readDeltaTable(path.join(world.lakePath, 'items'));
  expect(partitionColumns).toEqual([]);
  expect(files).toHaveLength(1);
  await world.sandbox.advance({ hours: 1, changes: 60 });
  await world.sync();
  await expectExactCopy(world);
});
