/** Workers that see no folder of the run: all that they read and write goes by the lake's remote. */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { landPipeline } from '../../src/run/land-pipeline.js';
import { syncPipeline } from '../../src/run/sync.js';
import { SECRET } from '../remote/s3-server.js';
import { isDataFile, openS3World, readCurrentItems, type S3World } from '../remote/s3-world.js';
import { makePipeline, testIo } from '../run/world.js';
import { makeEngine, stubEngine } from './cluster.js';
import { readRows } from './hard-copy.js';

let remote: S3World;
let { s3, world } = {} as S3World;
/** Rows of a lake that was made without workers. */
let expected: Awaited<ReturnType<typeof readAll>>;
let runs = 0;

beforeAll(async () => {
  remote = await openS3World({ items: 300, sites: 4, pastDays: 2 });
  ({ s3, world } = remote);
  await world.sync();
  expected = await readAll(world.lakePath);
});

afterAll(() => remote.close());

beforeEach(() => {
  s3.objects.clear();
  s3.asked.length = 0;
  s3.fault = () => undefined;
});

/** All rows, without the ids of runs. */
async function readAll(lakePath: string): Promise<Record<string, string[]>> {
  const tables = Object.entries(await readRows(lakePath));
  return Object.fromEntries(
    tables.map(([table, rows]) => [table, rows.map((row) => row.replace(/"run_id":"[^"]*"/, '')).sort()]),
  );
}

const exchanged = () => [...s3.objects.keys()].filter((key) => key.includes('/exchange/'));

/** A machine with a cluster of machines that have folders and credentials of their own. */
async function openCluster() {
  const folder = path.join(world.folder, `cluster-${++runs}`);
  const [notes, environment, temporary] = ['notes', 'environment', 'tmp'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(temporary, { recursive: true });
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
  await writeFile(environment, JSON.stringify({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, TMPDIR: temporary }));
  const { spark } = stubEngine('--note', notes, '--env', environment);
  const pipeline = { ...remote.machine(`machine-${runs}`), engine: makeEngine(spark.submit, 'remote') };
  const tasks = () => {
    const lines = readFileSync(notes, 'utf8').trim().split('\n');
    return lines.flatMap((line) => (JSON.parse(line) as { task?: string }).task ?? []);
  };
  return { pipeline, tasks, notes };
}

test('a run has the rows of one without workers, and sends each landed file and data file once', async () => {
  const { pipeline, tasks, notes } = await openCluster();
  const facts: Record<string, unknown>[] = [];
  const log: typeof testIo.log = (_level, event, more = {}) => {
    if (event === 'spark.done') facts.push(more);
  };
  await syncPipeline(pipeline, { ...testIo, log });
  expect(await readAll(pipeline.lake.path)).toEqual(expected);
  const kinds = new Set(tasks().map((task) => (JSON.parse(task) as { kind: string }).kind));
  expect([...kinds].sort()).toEqual(['check', 'part', 'rows', 'slice', 'type']);
  for (const task of tasks()) {
    // The run's folder is named once, so that workers can name files as the run does.
    expect(task.split(pipeline.lake.path)).toHaveLength(2);
    expect(task).toContain(`"home":"${pipeline.lake.path}"`);
  }
  expect(readFileSync(notes, 'utf8')).not.toContain(SECRET);
  expect(facts).toEqual([expect.objectContaining({ sentBytes: expect.any(Number), gotBytes: expect.any(Number) })]);
  const sent = s3.asked.filter(({ method, key }) => method === 'PUT' && !key.includes('/lock/')).map(({ key }) => key);
  const bulk = sent
    .filter((key) => key.includes('/landing/') || isDataFile(key))
    .filter((key) => !key.endsWith('.ndjson') || !key.includes('journal'));
  expect(bulk.length).toBeGreaterThan(5);
  expect(bulk.filter((key, place) => bulk.indexOf(key) !== place)).toEqual([]);
  expect(exchanged()).toEqual([]);
});

test('a run that continues what has landed reads it from the remote, after the store has failed for a while', async () => {
  const { pipeline } = await openCluster();
  await landPipeline(pipeline, testIo);
  let failures = 0;
  s3.fault = ({ key, count }) => {
    if (!key.includes('/exchange/') || count % 3 > 0) return undefined;
    failures += 1;
    return (['reset', 'cut', '503', 'lost'] as const)[failures % 4];
  };
  await syncPipeline(pipeline, testIo);
  expect(failures).toBeGreaterThan(10);
  expect(await readAll(pipeline.lake.path)).toEqual(expected);
  await world.sandbox.advance({ hours: 1, changes: 30 });
  s3.fault = () => undefined;
  expect((await syncPipeline(pipeline, testIo)).row.caught_up).toBe(true);
  const direct = makePipeline(world.sandbox, path.join(world.folder, 'direct'));
  await syncPipeline(direct, testIo);
  const [here, there] = await Promise.all([pipeline, direct].map(({ lake }) => readCurrentItems(lake.path)));
  expect(here).toEqual(there);
});

test.each(['to a worker', 'to the run'])(
  'bytes that change on their way %s end the run, and nothing is published',
  async (way) => {
    const { pipeline } = await openCluster();
    const isOf = way === 'to a worker' ? /\/landing\/.*export/ : /\/exchange\/.*typed.*\.parquet$/;
    s3.fault = ({ method, key }) => {
      const held = s3.objects.get(key);
      if (method === 'GET' && isOf.test(key) && held !== undefined)
        held.bytes = Buffer.from(held.bytes).fill(7, 100, 120);
      return undefined;
    };
    await expect(syncPipeline(pipeline, testIo)).rejects.toMatchObject({
      code: 'lake_invalid',
      message: expect.stringContaining('has SHA-256'),
    });
    expect([...s3.objects.keys()].filter((key) => key.includes('_delta_log'))).toEqual([]);
    s3.fault = () => undefined;
    s3.objects.clear();
    expect((await syncPipeline(pipeline, testIo)).published).toBe(true);
  },
);

test('what a killed run left for its workers goes when the next run holds the remote, even without workers', async () => {
  await syncPipeline(remote.machine('next'), testIo);
  const held = { bytes: Buffer.from('x'), etag: '"x"', writtenAt: new Date() };
  s3.objects.set('prices/_pricelake/exchange/0b9e4f2e-5d0c-4a55-9d6c-0d8f9b8c8a10/_pricelake/work/a.parquet', held);
  await syncPipeline(remote.machine('next'), testIo);
  expect(exchanged()).toEqual([]);
});
