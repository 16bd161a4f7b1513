import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { syncPipeline } from '../../src/sync/sync.js';
import { makePipeline, openWorld, readItems, testIo, type World } from '../sync/world.js';
import { type S3Server, startS3, withCredentials } from './s3-server.js';

let s3: S3Server;
let world: World;
let restore: () => void;

beforeAll(async () => {
  s3 = await startS3();
  restore = withCredentials();
  world = await openWorld({ items: 60, sites: 2, pastDays: 2 });
});

afterAll(async () => {
  restore();
  await world.close();
  await s3.close();
});

/** The pipeline of a machine whose disk is as its last run left it, or empty. */
function machine(name: string) {
  const pipeline = makePipeline(world.sandbox, path.join(world.folder, name));
  const remote = `s3://bucket/prices?endpoint=${s3.endpoint}`;
  return { ...pipeline, lake: { ...pipeline.lake, remote, retention: 3_600_000 } };
}

/** Items as the newest version has them, without when and by which run they came. */
async function readCurrentItems(lakePath: string): Promise<string[]> {
  const lake = await openLake(lakePath, { create: false });
  const { files } = await readTable(lake, 'items');
  const items = await Promise.all(files.map((file) => readItems(lakePath, `items/${file.path}`)));
  return items.flatMap((rows) => [...rows.values()].map(String)).sort();
}

const keys = (part: string) => [...s3.objects.keys()].filter((key) => key.includes(part));

test('a run is stopped where all has landed; a machine with an empty disk publishes it without asking again', async () => {
  const stop = new AbortController();
  const log: typeof testIo.log = (_level, event) => {
    if (event === 'settled') stop.abort(new Error('stopped'));
  };
  const first = syncPipeline(machine('one'), { ...testIo, log }, stop.signal);
  await expect(first).rejects.toThrow();
  expect(keys('/landing/')).not.toEqual([]);
  expect(keys('/_delta_log/')).toEqual([]);
  const asked = [...world.requests];
  world.requests.length = 0;
  const report = await syncPipeline(machine('two'), testIo);
  expect(report).toMatchObject({ published: true, resumed: true });
  expect(world.requests.filter((request) => asked.includes(request) && !/^\/(me|plan)/.test(request))).toEqual([]);
  expect(keys('/landing/')).toEqual([]);
  expect(keys('/items/_delta_log/')).toHaveLength(1);
});

test('machines in turns: each goes on from what the other published, and a run without news leaves the tables', async () => {
  await world.sandbox.advance({ hours: 1, changes: 10 });
  const { lake } = machine('one');
  await syncPipeline(machine('one'), testIo);
  await rm(lake.path, { recursive: true });
  const versions = keys('/_delta_log/');
  const idle = await syncPipeline(machine('one'), testIo);
  expect(idle.published).toBe(false);
  expect(keys('/_delta_log/')).toEqual(versions);
  expect(keys('/idle-runs.ndjson')).toHaveLength(1);
  await world.sandbox.advance({ hours: 1, changes: 10 });
  const report = await syncPipeline(machine('two'), testIo);
  expect(report.row.run_number).toBe(4n);
  const direct = makePipeline(world.sandbox, path.join(world.folder, 'direct'));
  await syncPipeline(direct, testIo);
  const lakes = [machine('two').lake, direct.lake].map(({ path: lakePath }) => lakePath);
  // A plain glob reads superseded files as well: only those that lake.json names.
  const [here, there] = await Promise.all(lakes.map(readCurrentItems));
  expect(here).toEqual(there);
});
