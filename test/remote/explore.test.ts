/** Pages of a lake on object storage, on a machine without it. */
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startExplorer } from '../../src/explore/explorer.js';
import { readRemote } from '../../src/remote/cached-lake.js';
import { syncPipeline } from '../../src/run/sync.js';
import { TABLE_NAMES } from '../../src/tables/table.js';
import { askAt, serve } from '../explore/explored.js';
import { testIo } from '../run/world.js';
import { openS3World, type S3World } from './s3-world.js';

let remote: S3World;
beforeAll(async () => {
  remote = await openS3World({ items: 60, sites: 2, pastDays: 2 });
  await syncPipeline(remote.machine('one'), testIo);
});
afterAll(() => remote.close());

test('explore --remote shows a lake that this machine does not have', async () => {
  const { address, world } = remote;
  const served = await serve({ remote: address, cache: path.join(world.folder, 'cache'), lake: './nowhere' });
  expect(await served.page('/')).toContain('as of run 1,');
  expect((await served.get('/products?sort=title')).status).toBe(200);
  expect(await served.page('/copy')).toContain(`read from ${address}, and looked at again once a minute`);
  await served.close();
});

test('pages show what a remote has published since', async () => {
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
    tellNow: async () => [],
    writeRows: async () => {},
  };
  const explorer = await startExplorer(source, options, testIo);
  const { page } = askAt(explorer.url);
  expect(await page('/')).toContain('as of run 1,');
  await world.sandbox.advance({ hours: 1, changes: 10 });
  await syncPipeline(remote.machine('one'), testIo);
  await vi.waitFor(async () => expect(await page('/')).toContain('as of run 2,'), { timeout: 20_000, interval: 100 });
  await explorer.close();
});
