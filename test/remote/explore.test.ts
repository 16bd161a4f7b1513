/** Tests pages and tools for a lake on object storage, on a machine without the lake. */
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { watchOwnRemote } from '../../src/cli/actions/tell-copy.js';
import { startExplorer } from '../../src/explore/explorer.js';
import { openLake } from '../../src/lake/lake.js';
import { TABLE_NAMES } from '../../src/tables/table.js';
import { syncWithWings } from '../../src/wings/index.js';
import { readRemote } from '../../src/wings/remote/cached-lake.js';
import { openClient } from '../cli/mcp/open-client.js';
import { openContext } from '../cli/open-context.js';
import { askAt, serve } from '../explore/explored.js';
import { testIo } from '../run/world.js';
import { openS3World, type S3World } from './s3-world.js';

let remote: S3World;
beforeAll(async () => {
  remote = await openS3World({ items: 60, sites: 2, pastDays: 2 });
  await syncWithWings(remote.machine('one'), testIo);
});
afterAll(() => remote.close());

test("explore --remote shows a lake that isn't on this machine", async () => {
  const { address, world } = remote;
  const served = await serve({ remote: address, cache: path.join(world.folder, 'cache'), lake: './nowhere' });
  expect(await served.page('/')).toContain('as of run 1,');
  expect((await served.get('/products?sort=title')).status).toBe(200);
  const copy = await served.page('/copy');
  expect(copy).toContain(`read from ${address}, and checked for changes once a minute`);
  expect(copy).toMatch(/run 1 there, published <time[^>]*>[^<]*<\/time>. This machine has no copy of it/u);
  await served.close();
});

test("mcp --remote answers questions about a lake that isn't on this machine, but never syncs it", async () => {
  const { address, world } = remote;
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
  const cache = path.join(world.folder, 'mcp-cache');
  const env = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, PRICELAKE_API_KEY: world.sandbox.keys.live };
  const file = path.join(world.folder, 'mcp.yaml');
  await remote.writePipeline('./nowhere', file);
  const { call, refuse, close } = await openClient([file, '--remote', address, '--cache', cache], env);
  const { value } = await call('query', { sql: 'SELECT count(*) AS n FROM items' });
  expect(value).toMatchObject({ run: { number: '1' }, rows: [{ n: '60' }] });
  expect((await call('status')).value).toMatchObject({ lake: address, run_number: '1' });
  expect((await call('checks', { fresh: true, select: ['items_key_unique'] })).value).toMatchObject({
    checks: [{ passed: true }],
  });
  const item = String((await call('query', { sql: 'SELECT item_id FROM items LIMIT 1' })).value.rows[0]?.item_id);
  expect((await call('why', { table: 'items', key: item, column: 'price' })).value).toMatchObject({
    rows: [[{ how: 'read', note: expect.stringContaining('no longer kept here') }]],
  });
  expect((await refuse('plan')).message).toBe("this server reads a remote lake, which it can't sync");
  await close();
});

test('the page of the copy says whether its run and versions equal those of its remote', async () => {
  const { machine, world } = remote;
  const look = async (lake: string) => {
    const served = await serve({ lake });
    try {
      await vi.waitFor(async () => expect(await served.page('/copy')).not.toContain('has not answered yet'), {
        ...{ timeout: 20_000, interval: 100 },
      });
      return await served.page('/copy');
    } finally {
      await served.close();
    }
  };
  const { path: own } = machine('one').lake;
  expect(await look(own)).toMatch(
    /Both are the same: run 1 here and there, published .* the same versions of \d+ tables/u,
  );
  await world.sandbox.advance({ hours: 1, changes: 10 });
  await syncWithWings(machine('two'), testIo);
  const behind = await look(own);
  expect(behind).toContain('The remote is ahead; the next sync here fetches it first.');
  expect(behind).toMatch(/run 1 here, published .*; run 2 there, published/u);
  const [, table = ''] = /Tables whose versions differ([\s\S]*?)<\/table>/u.exec(behind) ?? [];
  expect(table).toMatch(/>runs<\/th><td[^>]*>0<\/td><td[^>]*>1<\/td>/u);
  expect(table).not.toContain('>user_matches<');
  await syncWithWings(machine('one'), testIo);
  expect(await look(own)).toContain('Both are the same: run 2');
});

test('an unresponsive remote delays no page, and the page claims nothing about it', async () => {
  const lake = await openLake(remote.machine('one').lake.path, { create: false });
  const io = openContext().io;
  const closed = await watchOwnRemote(lake, 's3://bucket/prices?endpoint=http://127.0.0.1:1', {
    ...io,
    sleep: () => new Promise(() => {}),
  });
  expect(await closed()).toEqual({ kind: 'asked', url: 's3://bucket/prices?endpoint=http://127.0.0.1:1' });
  await vi.waitFor(async () => expect(await closed()).toMatchObject({ kind: 'unread', reason: expect.any(String) }), {
    ...{ timeout: 20_000, interval: 500 },
  });
});

test('pages show what a remote has published in the meantime', async () => {
  const { address, world } = remote;
  const cache = { folder: path.join(world.folder, 'other'), maxBytes: 1e9 };
  const bring = () =>
    readRemote(address, cache, testIo, async (cached) => {
      await cached.bring(TABLE_NAMES);
      return cached.lake;
    });
  const source = { lake: await bring(), refresh: async () => void (await bring()) };
  const options = {
    host: '127.0.0.1',
    port: 0,
    memory: '400MB',
    refreshMs: 0,
    advice: new Map(),
    pictures: new Set<string>(),
    tellNow: async () => ({ lines: [], tries: [], remote: { kind: 'unasked' } as const }),
    isShared: false,
    writeRows: async () => {},
  };
  const explorer = await startExplorer(source, options, testIo);
  const { page } = askAt(explorer.url);
  const readRun = async () => Number(/as of run (\d+),/u.exec(await page('/'))?.[1]);
  const before = await readRun();
  await world.sandbox.advance({ hours: 1, changes: 10 });
  await syncWithWings(remote.machine('one'), testIo);
  await vi.waitFor(async () => expect(await readRun()).toBeGreaterThan(before), { timeout: 20_000, interval: 100 });
  await explorer.close();
});
