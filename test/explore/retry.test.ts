/** Tests pages whose rows could not be prepared. */
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { startExplorer } from '../../src/explore/explorer.js';
import { Snapshots } from '../../src/explore/snapshots.js';
import { openLake } from '../../src/lake/lake.js';
import { listPublishedFiles } from '../front/published-files.js';
import type { Story } from '../front/story.js';
import { testIo } from '../run/world.js';
import { askAt, tellMarket } from './explored.js';

let story: Story;
afterEach(() => story.close());

/** Damages a data file but keeps its footer, so that only its values can't be read. */
function spoil(file: Buffer): Buffer {
  const footer = file.readUInt32LE(file.length - 8);
  return Buffer.concat([Buffer.alloc(file.length - 8 - footer, 0xff), file.subarray(file.length - 8 - footer)]);
}

async function startPages(retryMs: number) {
  const failures: unknown[] = [];
  const options = {
    ...{ host: '127.0.0.1', port: 0, memory: '400MB', retryMs, advice: new Map(), pictures: new Set<string>() },
    tellNow: async () => ({ lines: [], tries: [], remote: { kind: 'unasked' } as const }),
    isShared: false,
    writeRows: async () => {},
  };
  const io = { ...testIo, log: (...told: unknown[]) => void failures.push(told) };
  const explorer = await startExplorer({ lake: await openLake(story.lakePath, { create: false }) }, options, io);
  return { explorer, failures, ...askAt(explorer.url) };
}

test('preparing rows is retried after a pause if it failed', async () => {
  story = await tellMarket();
  const files = listPublishedFiles(story.lakePath).get('history') ?? [];
  const kept = await Promise.all(files.map(async (file) => [file, await readFile(file)] as const));
  const pause = 1500;
  for (const [file, bytes] of kept) await writeFile(file, spoil(bytes));
  const { explorer, failures, get, page } = await startPages(pause);
  const product = '/products/acme-r1';
  const begin = performance.now();
  const broken = await get(product);
  expect(broken.status).toBe(500);
  const text = await broken.text();
  expect(text).toContain('the rows that this page needs could not be prepared: ');
  expect(text).toContain('Reload this page after 60 seconds');
  expect(failures).toContainEqual(['error', 'explore.failed', { reason: expect.stringContaining('could not be') }]);
  // Other pages don't need them.
  expect(await page('/shops')).toContain('Market');
  for (const [file, bytes] of kept) await writeFile(file, bytes);
  if (performance.now() - begin < pause / 2) expect((await get(product)).status).toBe(500);
  await vi.waitFor(async () => expect((await get(product)).status).toBe(200), { timeout: 20_000, interval: 100 });
  expect(performance.now() - begin).toBeGreaterThan(pause / 2);
  expect(await page(product)).toContain('Rádio Nôtre 7');
  await explorer.close();
});

test('keeping moves is retried after a pause if it failed, without preparing the rows again', async () => {
  story = await tellMarket();
  // Preparing price rows doesn't read runs, but the moves since a run do.
  const files = listPublishedFiles(story.lakePath).get('runs') ?? [];
  const kept = await Promise.all(files.map(async (file) => [file, await readFile(file)] as const));
  for (const [file, bytes] of kept) await writeFile(file, spoil(bytes));
  const failures: unknown[] = [];
  const lake = await openLake(story.lakePath, { create: false });
  const snapshots = new Snapshots({ lake }, { memory: '400MB', retryMs: 100, report: (error) => failures.push(error) });
  await snapshots.renew();
  const find = () =>
    snapshots.use(
      async ({ version }) => [version, version.moves.find('movers', { since_run: '2', top: '8' })] as const,
    );
  const [version, missing] = await find();
  expect(missing).toBeUndefined();
  await vi.waitFor(() => expect(failures).not.toEqual([]), { timeout: 20_000, interval: 50 });
  expect(version.prepared.isReady).toBe(true);
  for (const [file, bytes] of kept) await writeFile(file, bytes);
  const same = { timeout: 20_000, interval: 50 };
  await vi.waitFor(async () => expect((await find())[1]).toContain('movers_since_run'), same);
  expect((await find())[0]).toBe(version);
  await snapshots.close();
});
