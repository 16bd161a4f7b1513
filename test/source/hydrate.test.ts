import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { IdSet } from '../../src/io/id-set.js';
import type { Io } from '../../src/io/io.js';
import type { Landing } from '../../src/journal/landings.js';
import { listBrokenExports, openMemory, readMemory } from '../../src/journal/memory.js';
import { NO_EXPORTS } from '../../src/plan/allowance.js';
import { openExportMemory } from '../../src/plan/broken-exports.js';
import { ExportGate } from '../../src/plan/export-gate.js';
import { landHydration } from '../../src/source/hydrate.js';
import { cutItemTails, type ItemFile, listItemFiles } from '../../src/source/item-files.js';
import type { Lake } from '../../src/tables/layout.js';
import { createFakeIo } from '../api/fake-io.js';
import { type LocalService, sendJson, startService } from '../api/local-service.js';
import { listOpenFiles } from '../journal/folder.js';
import { makeLake } from '../lake/fixture.js';
import { fakeMemory } from './fake-memory.js';
import { listEntries, meansOf, openLanding, readLanded, reopenLanding } from './landing.js';

const SINCE = '2026-11-20T05:00:00.123999Z';

/** Serves changed items, newest listing first, in pages of the requested size. Single items exist only if `visible`. */
function startItems(changed: number[], visible: number[] = changed, breakAt = 0): Promise<LocalService> {
  return startService((request, response, count) => {
    const url = new URL(request.url ?? '', 'http://x');
    if (count === breakAt) return sendJson(response, 401, { status: 401, error: '', message: '', docsUrl: '' });
    const [, id] = /\/items\/(\d+)$/.exec(url.pathname) ?? [];
    if (id !== undefined) {
      if (visible.includes(Number(id))) return sendJson(response, 200, { id: Number(id) });
      return sendJson(response, 404, { status: 404, error: 'Not Found', message: 'no such item', docsUrl: '' });
    }
    const size = Number(url.searchParams.get('size'));
    const page = Number(url.searchParams.get('page'));
    const content = changed.slice(page * size, (page + 1) * size).map((item) => ({ id: item }));
    const totalPages = Math.ceil(changed.length / size);
    sendJson(response, 200, { content, page, size, totalElements: changed.length, totalPages });
  });
}

/** The lake's saved state of interrupted exports. */
async function openRemembered(lake: Lake, io: Io) {
  const memory = await openMemory(lake, createFakeIo());
  onTestFinished(() => memory.close());
  return openExportMemory(memory, io, 'ndjson');
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const needOf = (ids: number[]) => ({ itemIds: new IdSet(BigInt64Array.from(ids, BigInt)), changedSince: SINCE });

async function landedIds(service: LocalService, ids: number[], landing = openLanding('landed')): Promise<number[]> {
  const opened = await landing;
  const files: ItemFile[] = [];
  await landHydration(
    service.client,
    opened,
    needOf(ids),
    (file) => files.push(file),
    service.io,
    meansOf(service.client),
  );
  expect(files).toEqual(listItemFiles(opened, 'hydrate'));
  return readItems(opened);
}

async function readItems(landing: Landing): Promise<number[]> {
  const files = listItemFiles(landing, 'hydrate').map((file) => path.basename(file.path));
  const lines = (await Promise.all(files.map((file) => readLanded(landing, file)))).flat();
  return lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { id: number }).id);
}

describe('reading complete items', () => {
  test('reads one page for many items, even if the page has many others', async () => {
    const service = await startItems(range(0, 400));
    const ids = await landedIds(service, range(10, 60));
    expect(service.urls).toHaveLength(1);
    expect(service.urls[0]).toContain('changedSince=2026-11-20T05%3A00%3A00.123Z&');
    expect(service.urls[0]).toMatch(/status=all&sort=-firstSeen&size=500&page=0/);
    expect(ids).toEqual(range(0, 400));
  });

  test.each([
    ['makes a single call for a single item', 5000, [4999], 1, 1],
    ['stops reading pages if fewer single calls are needed', 5000, [4000, 4990, 4999], 4, 3],
    ['continues with pages while they contain needed items', 2000, range(0, 1800), 4, 2000],
  ])('%s', async (_what, changed, needed, calls, landed) => {
    const service = await startItems(range(0, changed));
    const ids = new Set(await landedIds(service, needed));
    expect(needed.filter((id) => !ids.has(id))).toEqual([]);
    expect([service.urls.length, ids.size]).toEqual([calls, landed]);
  });

  test('leaves out items that are no longer visible', async () => {
    const service = await startItems([], [7]);
    expect(await landedIds(service, [6, 7, 8])).toEqual([7]);
  });

  test('after an interruption requests nothing again that has landed', async () => {
    const needed = [7001, 7002, 7003, 7004, 7005, 7006];
    const broken = await startItems(range(0, 500), needed, 5);
    await expect(landedIds(broken, [...range(0, 100), ...needed])).rejects.toMatchObject({ code: 'unauthorized' });
    const service = await startItems(range(0, 500), needed);
    const landing = await reopenLanding();
    // Killed after a row was written and before the journal listed it.
    await appendFile(listItemFiles(landing, 'hydrate').at(-1)?.path ?? '', '{"id":1');
    await cutItemTails(landing); // as a run does when it opens
    const before = listEntries(landing, 'hydrate.page').reduce((sum, page) => sum + page.rows, 0);
    expect(before).toBeGreaterThanOrEqual(500);
    const ids = await landedIds(service, [...range(0, 100), ...needed], Promise.resolve(landing));
    expect([...new Set(ids)].sort((a, b) => a - b)).toEqual([...range(0, 500), ...needed]);
    expect(ids).toHaveLength(506);
    const singles = service.urls.filter((url) => /items\/\d+$/.test(url));
    expect(singles).toHaveLength(506 - before);
    const rows = listEntries(landing, 'hydrate.page').reduce((sum, page) => sum + page.rows, 0);
    expect(rows).toBe(506);
  });

  test('starts no more requests after a failure, and throws once all running requests have ended', async () => {
    const needed = range(7000, 7040);
    const service = await startItems([], needed, 6);
    const landing = await openLanding('landed');
    const need = needOf(needed);
    await expect(
      landHydration(service.client, landing, need, () => {}, service.io, meansOf(service.client)),
    ).rejects.toMatchObject({
      code: 'unauthorized',
    });
    const asked = service.urls.length;
    const landed = needed.length - need.itemIds.size;
    expect(asked).toBeLessThanOrEqual(6 + 3); // those side by side with the one that failed
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(service.urls).toHaveLength(asked);
    expect(listEntries(landing, 'hydrate.page')).toHaveLength(landed);
    expect(await listOpenFiles(landing.folder)).toEqual(['journal.ndjson']);
  });
});

describe('an export of changed items if calls are scarce', () => {
  const CHANGED = range(0, 1200);
  const LACKING = range(7001, 7007);

  /** Serves changed items by pages and export. The export contains the first `exported` of them, but announces 1,200. */
  async function startExports(breakAt = 0, exported = CHANGED.length): Promise<LocalService> {
    const pages = await startItems(CHANGED, LACKING);
    return startService(async (request, response, count) => {
      if (count === breakAt) return sendJson(response, 401, { status: 401, error: '', message: '', docsUrl: '' });
      if (!request.url?.startsWith('/api/v1/export')) {
        const answer = await fetch(`http://127.0.0.1:${pages.port}${request.url}`);
        return sendJson(response, answer.status, await answer.json());
      }
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'X-Export-Rows': String(CHANGED.length) });
      response.write(
        range(0, exported)
          .map((id) => `{"id":${id}}\n`)
          .join(''),
      );
      if (exported === CHANGED.length) return response.end();
      return setImmediate(() => request.socket.destroySoon());
    });
  }

  async function hydrate(
    service: LocalService,
    landing: Landing,
    { memory = fakeMemory().memory, left = 100n } = {},
  ): Promise<void> {
    const calls = { rule: 'budget.calls', allowed: left, used: 0n, monthly: true };
    const gate = new ExportGate({ ...NO_EXPORTS, rows: undefined, calls }, createFakeIo(), memory);
    const need = needOf([...CHANGED, ...LACKING]);
    await landHydration(service.client, landing, need, () => {}, service.io, meansOf(service.client, { gate }));
  }

  const count = (service: LocalService, part: RegExp) => service.urls.filter((url) => part.test(url)).length;

  test("isn't requested again, nor its first page, if the run is stopped during the single reads after it", async () => {
    const broken = await startExports(8);
    await expect(hydrate(broken, await openLanding('landed'))).rejects.toMatchObject({ code: 'unauthorized' });
    expect([count(broken, /export/), count(broken, /page=0/)]).toEqual([1, 1]);
    const landing = await reopenLanding();
    const before = new Set(await readItems(landing));
    expect(before.size).toBeGreaterThan(CHANGED.length);
    const service = await startExports();
    await hydrate(service, landing);
    expect(service.urls.filter((url) => !/items\/\d+$/.test(url))).toEqual([]);
    expect(service.urls).toHaveLength(CHANGED.length + LACKING.length - before.size);
    expect(new Set(await readItems(landing))).toEqual(new Set([...CHANGED, ...LACKING]));
  });

  test("that was interrupted isn't requested again by the next attempt, which reads the remaining pages instead", async () => {
    const broken = await startExports(4, 600);
    await expect(hydrate(broken, await openLanding('landed'))).rejects.toMatchObject({ code: 'unauthorized' });
    expect([count(broken, /export/), count(broken, /page=0/)]).toEqual([1, 1]);
    const landing = await reopenLanding();
    const service = await startExports();
    await hydrate(service, landing);
    expect(count(service, /export/)).toBe(0);
    expect(count(service, /page=0/)).toBe(0);
    expect(new Set(await readItems(landing))).toEqual(new Set([...CHANGED, ...LACKING]));
  });

  test('that is interrupted in each run gets one attempt in the next run, and is then replaced by pages for a while', async () => {
    const lake = await makeLake();
    const run = async (left?: bigint) => {
      const service = await startExports(0, 600);
      const memory = await openRemembered(lake, service.io);
      await hydrate(service, await openLanding('landed'), { memory, ...(left === undefined ? {} : { left }) });
      return count(service, /export/);
    };
    expect([await run(), await run(), await run()]).toEqual([1, 1, 0]);
    expect(listBrokenExports(await readMemory(lake))).toMatchObject([{ name: 'changed-items', runs: 2, rows: 2400n }]);
    await expect(run(2n)).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      facts: { nextRunAt: expect.any(Date) },
    });
  });

  test('that succeeds is no longer remembered as interrupted', async () => {
    const lake = await makeLake();
    const service = await startExports();
    const memory = await openRemembered(lake, service.io);
    await memory.note('changed-items', { rows: 9n, reason: 'cut' });
    await hydrate(service, await openLanding('landed'), { memory });
    expect(listBrokenExports(await readMemory(lake))).toEqual([]);
  });
});
