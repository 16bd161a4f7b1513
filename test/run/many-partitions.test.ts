import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { openContext } from '../cli/open-context.js';
import { failure } from '../failure.js';
import { readDeltaTable } from './delta-reader.js';
import { openWorld, readItems, readTruth, type World } from './world.js';

let world: World;
afterEach(() => world.close());

const readItemsTable = () => readDeltaTable(path.join(world.lakePath, 'items'));
async function expectExactCopy(): Promise<void> {
  const [items, truth] = [await readItems(world.lakePath), await readTruth(world.sandbox)];
  const differing = [...truth].filter(([id, row]) => String(items.get(id)) !== String(row));
  expect([items.size, differing.slice(0, 3)]).toEqual([truth.size, []]);
}
const verify = () => runVerify({ lake: world.lakePath }, openContext(true));

test('1,000 shops share files, from the first copy through changes to a complete comparison', async () => {
  world = await openWorld({ items: 60_000, sites: 1000, pastDays: 5, history: 'none', plan: 'unlimited' });
  await world.sync();
  expect((await readItemsTable()).partitionColumns).toEqual([]);
  await world.sandbox.advance({ hours: 1, changes: 2000 });
  await world.sync();
  await expectExactCopy();
  world.pipeline.source.mode = 'snapshot';
  await world.sync();
  await verify();
}, 600_000);

test('a lake partitioned by many shops stays so until a complete copy merges the files', async () => {
  world = await openWorld({ items: 2000, sites: 2000, pastDays: 5, history: 'none' });
  world.pipeline.lake.tables = { items: { partitionBy: ['site_id'] } };
  await world.sync();
  const { files, partitionColumns } = await readItemsTable();
  expect(partitionColumns).toEqual(['site_id']);
  expect(files.length).toBeGreaterThan(600);
  world.pipeline.lake.tables = {};
  await world.sandbox.advance({ hours: 1, changes: 60 });
  await world.sync();
  expect((await readItemsTable()).partitionColumns).toEqual(['site_id']);
  world.pipeline.source.mode = 'snapshot';
  // Nothing differs, so the items are rewritten only to merge their files.
  expect(await world.sync()).toMatchObject({ published: true, row: { differences: 0n } });
  const joined = await readItemsTable();
  expect([joined.partitionColumns, joined.files.length]).toEqual([[], 1]);
  await expectExactCopy();
  expect(await world.sync()).toMatchObject({ published: false });
  await verify();
});

test('too little memory is an error with the step, the limit and advice, and with more memory the run continues', async () => {
  world = await openWorld({ items: 1200, sites: 2000, pastDays: 5, history: 'none' });
  world.pipeline.lake.memory = 16 * 1024 ** 2;
  const error = await failure(world.sync());
  expect(error).toMatchObject({ code: 'out_of_memory', facts: { limit: '16.0 MiB' } });
  expect(error.message).toMatch(
    /^(step \w+|\w+: writing the rows): DuckDB needs more memory than its limit of 16\.0 MiB/,
  );
  expect(error.facts.hint).toContain('lake.memory');
  world.pipeline.lake.memory = undefined;
  expect(await world.sync()).toMatchObject({ published: true, resumed: true });
  await expectExactCopy();
});
