import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { syncWithWings } from '../../src/wings/index.js';
import { readRemote } from '../../src/wings/remote/cached-lake.js';
import { openContext } from '../cli/open-context.js';
import { readItems, readTruth, testIo } from '../run/world.js';
import { isDataFile, openS3World, type S3World } from './s3-world.js';

let remote: S3World;
let { s3, world, machine, address } = {} as S3World;

beforeAll(async () => {
  remote = await openS3World({ items: 60, sites: 2, pastDays: 2 });
  ({ s3, world, machine, address } = remote);
});

afterAll(() => remote.close());

/** The request of a command with `--remote` and `--cache`. */
const reading = () => ({ remote: address, cache: path.join(world.folder, 'cache'), lake: './nowhere' });

const keys = (part: string) => [...s3.objects.keys()].filter((key) => key.includes(part));

test('a run stopped after landing is published by a machine with an empty disk, without new requests', async () => {
  const stop = new AbortController();
  const log: typeof testIo.log = (_level, event) => {
    if (event === 'settled') stop.abort(new Error('stopped'));
  };
  const first = syncWithWings(machine('one'), { ...testIo, log }, stop.signal);
  await expect(first).rejects.toThrow();
  expect(keys('/landing/')).not.toEqual([]);
  expect(keys('/_delta_log/')).toEqual([]);
  const status = await showStatus(reading(), openContext(true));
  expect(status).toMatchObject({ lake: address, published: false, open: { state: 'interrupted', tries: 1 } });
  const asked = [...world.requests];
  world.requests.length = 0;
  const report = await syncWithWings(machine('two'), testIo);
  expect(report).toMatchObject({ published: true, resumed: true });
  expect(world.requests.filter((request) => asked.includes(request) && !/^\/(me|plan)/.test(request))).toEqual([]);
  expect(keys('/landing/')).toEqual([]);
  expect(keys('/items/_delta_log/')).toHaveLength(1);
});

test('machines in turns continue from each other, and a run that finds nothing new changes no tables', async () => {
  await world.sandbox.advance({ hours: 1, changes: 10 });
  await syncWithWings(machine('one'), testIo);
  await rm(machine('one').lake.path, { recursive: true });
  const versions = keys('/_delta_log/');
  const idle = await syncWithWings(machine('one'), testIo);
  expect(await showStatus(reading(), openContext(true))).toMatchObject({
    published: true,
    lock: undefined,
    idleRuns: 1,
  });
  expect(idle.published).toBe(false);
  expect(keys('/_delta_log/')).toEqual(versions);
  expect(keys('/memory.ndjson')).toHaveLength(1);
  await world.sandbox.advance({ hours: 1, changes: 10 });
  const report = await syncWithWings(machine('two'), testIo);
  expect(report.row.run_number).toBe(4n);
  const [lake, truth] = await Promise.all([readItems(machine('two').lake.path), readTruth(world.sandbox)]);
  expect(lake.size).toBe(truth.size);
  for (const [id, row] of truth) expect(lake.get(id)).toEqual(row);
});

test('a query of a remote needs no local lake, and fetches only the tables that it names', async () => {
  const context = openContext(true);
  const before = s3.asked.length;
  const sql = 'WITH shops AS (FROM Sites) SELECT count(*) > 0 AS found FROM shops JOIN runs ON true';
  const query = { ...reading(), cache: path.join(world.folder, 'queries'), sql, memory: '1GB' };
  await runQuery(query, context);
  expect(JSON.parse(context.output.text)).toMatchObject({ ok: true, rows: [{ found: true }] });
  const fetched = s3.asked.slice(before).filter(({ key }) => isDataFile(key));
  const tables = new Set(fetched.map(({ key }) => key.split('/')[1]));
  expect([...tables].sort()).toEqual(['runs', 'sites']);
  const again = s3.asked.length;
  await runQuery(query, openContext(true));
  expect(s3.asked.slice(again).filter(({ key }) => isDataFile(key))).toEqual([]);
});

test('a query of a remote may join with USING and read price spells', async () => {
  const context = openContext(true);
  const sql = 'SELECT count(*) > 0 AS found FROM price_spells LEFT JOIN products USING (product_id)';
  await runQuery({ ...reading(), cache: path.join(world.folder, 'queries'), sql, memory: '1GB' }, context);
  expect(JSON.parse(context.output.text)).toMatchObject({ ok: true, rows: [{ found: true }] });
});

test("a reader's cache stays below its limit, and an error says if the limit is too small", async () => {
  const folder = path.join(world.folder, 'small-cache');
  const bytesOf = (table: string) =>
    keys(`/${table}/`).reduce((sum, key) => sum + (s3.objects.get(key)?.bytes.length ?? 0), 0);
  const maxBytes = bytesOf('items') + bytesOf('sites');
  await readRemote(address, { folder, maxBytes }, testIo, async ({ bring, lake }) => {
    const files = async (table: string) =>
      (await readdir(path.join(lake.root, table))).filter((name) => name.endsWith('.parquet')).length;
    await bring(['sites']);
    await bring(['items']);
    expect([await files('sites'), await files('items')]).not.toContain(0);
    await bring(['history']).catch(() => {});
    await bring(['runs', 'items']);
    expect(await files('items')).toBeGreaterThan(0);
  });
  const bytesIn = async (root: string, table: string) => {
    const names = (await readdir(path.join(root, table))).filter((name) => name.endsWith('.parquet'));
    const sizes = names.map((name) => s3.objects.get(`prices/${table}/${name}`)?.bytes.length ?? 0);
    return sizes.reduce((sum, bytes) => sum + bytes, 0);
  };
  const other = path.join(world.folder, 'other-cache');
  const [root, sizes] = await readRemote(address, { folder: other, maxBytes: 1e9 }, testIo, async ({ bring, lake }) => {
    for (const table of ['runs', 'history', 'items', 'sites'] as const) await bring([table]);
    return [lake.root, await Promise.all(['items', 'sites'].map((table) => bytesIn(lake.root, table)))] as const;
  });
  // The most recently used files fit, and older ones are deleted.
  const room = (sizes[0] as number) + (sizes[1] as number);
  await readRemote(address, { folder: other, maxBytes: room }, testIo, ({ bring }) => bring(['sites']));
  expect(await Promise.all(['runs', 'history', 'items', 'sites'].map((table) => bytesIn(root, table)))).toEqual([
    ...[0, 0],
    ...sizes,
  ]);
  const tooSmall = readRemote(address, { folder, maxBytes: 1000 }, testIo, ({ bring }) => bring(['items']));
  await expect(tooSmall).rejects.toMatchObject({ code: 'usage' });
});

test('a reader reports that there is no lake at the address', async () => {
  const nowhere = { ...reading(), remote: `s3://bucket/nowhere?endpoint=${s3.endpoint}` };
  await expect(showStatus(nowhere, openContext(true))).rejects.toMatchObject({ code: 'lake_invalid' });
  await expect(showStatus({ remote: 'bucket' }, openContext(true))).rejects.toMatchObject({ code: 'usage' });
});
