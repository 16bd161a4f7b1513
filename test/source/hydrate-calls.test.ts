import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ApiClient, Query } from '../../src/api/client.js';
import { isNamedId } from '../../src/formats/row-id.js';
import { PricelakeError } from '../../src/io/errors.js';
import { IdSet } from '../../src/io/id-set.js';
import type { Progress } from '../../src/io/io.js';
import type { Landing } from '../../src/journal/landings.js';
import { NO_EXPORTS } from '../../src/plan/allowance.js';
import { ExportGate } from '../../src/plan/export-gate.js';
import { type HydrationMeans, isAnotherPageWorthIt, landHydration } from '../../src/source/hydrate.js';
import { landHydrationExport } from '../../src/source/hydrate-export.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeClient } from './fake-client.js';
import { fakeMemory } from './fake-memory.js';
import { lastEntry, listEntries, meansOf, openLanding } from './landing.js';

const SINCE = '2026-11-20T05:00:00.000Z';
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const needOf = (ids: number[]) => ({ itemIds: new IdSet(BigInt64Array.from(ids, BigInt)), changedSince: SINCE });

/** Pages with these items, or a single item. */
function answer(changed: readonly number[], at: string, { page, size }: Query) {
  const single = /^\/items\/(\d+)$/.exec(at)?.[1];
  if (single !== undefined) return { id: Number(single) };
  const [from, rows] = [Number(page) * Number(size), Number(size)];
  const content = changed.slice(from, from + rows).map((id) => ({ id }));
  return { content, totalElements: changed.length, totalPages: Math.ceil(changed.length / rows) };
}
const serve = (changed: readonly number[]) => fakeClient((at, query) => answer(changed, at, query));
const urlsOf = ({ asked }: ReturnType<typeof fakeClient>) =>
  asked.map(({ path, query }) => (query.page === undefined ? path : Number(query.page)));

async function hydrate(client: ApiClient, ids: number[], more: Partial<HydrationMeans> = {}, landing?: Landing) {
  const [opened, io, told] = [landing ?? (await openLanding('landed')), createFakeIo(), [] as Progress[]];
  io.progress = (update) => told.push(update);
  await landHydration(client, opened, needOf(ids), () => {}, io, meansOf(client, more));
  return { landing: opened, io, told };
}

test('reading complete items reports the chosen way, the landed rows and the progress', async () => {
  const service = serve(range(0, 2000));
  const { landing, io, told } = await hydrate(service.client, range(0, 1999));
  expect(service.asked[0]).toEqual({
    path: '/items',
    query: { changedSince: SINCE, status: 'all', sort: '-firstSeen', size: 500, page: 0 },
  });
  const reason = expect.stringMatching(/^3 calls/);
  expect(listEntries(landing, 'chosen')).toEqual([
    { type: 'chosen', what: 'hydration', way: 'pages', reason, calls: 1 },
  ]);
  expect(lastEntry(landing, 'hydrate.done')).toEqual({ type: 'hydrate.done', calls: 4 });
  expect(io.events[1]).toEqual({
    level: 'info',
    event: 'hydration.chosen',
    facts: { way: 'pages', calls: 3, rows: 0n, reason },
  });
  const landed = { level: 'debug', event: 'landed', facts: { what: 'hydration', rows: 500 } };
  expect(io.events.filter(({ event }) => event === 'landed')).toEqual([landed, landed, landed, landed]);
  const bytes = listEntries(landing, 'hydrate.page').map(({ end }) => end);
  // The bytes of a page are reported only after the page is synced and journaled.
  expect(told.map(({ part, rows, totalRows, done }) => [part, rows, totalRows, done])).toEqual([
    ...[500n, 1000n, 1500n, 1999n].map((rows) => ['hydrate', rows, 1999n, undefined]),
    ['hydrate', 1999n, 1999n, true],
  ]);
  expect(told.at(-1)?.bytes).toBe(bytes.at(-1));
});

/** The landing of an attempt that was killed after the first page of dataset 5. */
async function landFirstPage(): Promise<Landing> {
  const landing = await openLanding('landed');
  await writeFile(path.join(landing.folder, 'hydrate-00001.ndjson'), '{"id":9}\n{"id":8}\n');
  const page = { type: 'hydrate.page', file: 'hydrate-00001.ndjson', end: 18, readAt: SINCE, calls: 1 } as const;
  await landing.journal.append({ ...page, rows: 2, dataset: 5n, page: 0, sha256: 'a' });
  return landing;
}

test('the progress includes what an earlier attempt has landed, from the first item', async () => {
  const { told } = await hydrate(serve([2]).client, [2], {}, await landFirstPage());
  expect(told[0]?.bytes).toBeGreaterThanOrEqual(18);
});

test('with several datasets, the pages of each are requested while they save calls', async () => {
  const hydrateParts = async (ids: number[], ...shown: number[][]) => {
    const services = shown.map(serve);
    const own = serve([]);
    const parts = services.map(({ client }, n) => ({ dataset: BigInt(n), client }));
    await hydrate(own.client, ids, { parts });
    return [...services, own].map(urlsOf);
  };
  // As many single reads as datasets.
  expect(await hydrateParts([1, 2], [1, 2], [])).toEqual([[], [], ['/items/1', '/items/2']]);
  expect(await hydrateParts([1, 2, 3, 4, 5], [1, 2, 3], [4, 5])).toEqual([[0], [0], []]);
  expect(await hydrateParts([1, 2, 3], [1, 2], [3])).toEqual([[0], [], ['/items/3']]);
});

test('another page is requested if it probably has two of the needed items, judged by the remaining pages', async () => {
  const service = serve(range(0, 1500));
  await hydrate(service.client, range(1000, 1005));
  expect(urlsOf(service)).toEqual([0, 1, 2]);
  const far = serve(range(0, 3000));
  await hydrate(far.client, [2990, 2991]);
  expect(urlsOf(far)).toEqual([0, '/items/2990', '/items/2991']);
});

/** Only these pages contain items, and single items don't exist. */
const servePages = (pages: Record<number, { ids: number[]; total?: number }>, total: number) =>
  fakeClient((at, { page }) => {
    if (page === undefined) throw new PricelakeError('not_found', at);
    const shown = pages[Number(page)];
    const content = (shown?.ids ?? []).map((id) => ({ id }));
    return { content, totalElements: 9, totalPages: shown?.total ?? total };
  });
const pagesOf = (service: ReturnType<typeof fakeClient>) => urlsOf(service).filter((one) => typeof one === 'number');

test('if concurrent pages announce different totals, the lowest applies', async () => {
  const totals = [20, 20, 6, 20, 20, 6];
  const pages = totals.map((total, page) => ({ ids: range(page * 500, page * 500 + 500), total }));
  const service = servePages(pages, 20);
  await hydrate(service.client, range(0, 3600));
  expect(pagesOf(service)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('no further pages are requested after concurrent pages that each contain fewer than two needed items', async () => {
  const service = servePages({ 0: { ids: [1, 2, 3] }, 1: { ids: [4, 5] }, 2: { ids: [6] } }, 1000);
  await hydrate(service.client, range(1, 604));
  expect(pagesOf(service)).toEqual([0, 1, 2]);
});

test('pages that landed for another dataset are also requested for this dataset', async () => {
  const service = serve([1, 2, 3]);
  await hydrate(service.client, [1, 2, 3], { parts: [{ dataset: 6n, client: service.client }] }, await landFirstPage());
  expect(urlsOf(service)).toEqual([0]);
  await hydrate(service.client, [4, 5], { parts: [{ dataset: 5n, client: service.client }] }, await landFirstPage());
  expect(pagesOf(service)).toEqual([0, 1]);
});

test('a full file is typed while more items are read', async () => {
  const landing = await openLanding('landed');
  const handed: string[] = [];
  let handedBefore: number | undefined;
  const client = {
    calls: () => 0,
    async bytes(at: string) {
      if (at === '/items/1') return { body: Buffer.from(`{"id":1,"text":"${'x'.repeat(48 * 1024 * 1024)}"}`) };
      while (need.itemIds.has(1n)) await new Promise(setImmediate);
      handedBefore = handed.length;
      return { body: Buffer.from('{"id":2}') };
    },
  } as unknown as ApiClient;
  const need = needOf([1, 2]);
  const parts = [1n, 2n].map((dataset) => ({ dataset, client }));
  await landHydration(
    client,
    landing,
    need,
    (file) => handed.push(path.basename(file.path)),
    createFakeIo(),
    meansOf(client, { parts }),
  );
  expect([handedBefore, handed]).toEqual([1, ['hydrate-00001.ndjson', 'hydrate-00002.ndjson']]);
});

test('a file of an export is typed while the rest of the export arrives', async () => {
  const landing = await openLanding('landed');
  const handed: string[] = [];
  let handedBefore: string[] | undefined;
  const page = { content: [{ id: 1 }], totalElements: 3, totalPages: 900 };
  const body = (async function* () {
    yield Buffer.from(`{"id":2,"text":"${'x'.repeat(48 * 1024 * 1024)}"}\n`);
    yield Buffer.from('{"id":3}\n');
    await vi.waitFor(() => expect(handed).toHaveLength(2), { timeout: 10_000 });
    handedBefore = [...handed];
  })();
  const client = {
    calls: () => 0,
    bytes: async () => ({ body: Buffer.from(JSON.stringify(page)) }),
    stream: async () => ({ body, headers: { 'x-export-rows': '2' } }),
  } as unknown as ApiClient;
  const gate = new ExportGate({ ...NO_EXPORTS, rows: undefined }, createFakeIo(), fakeMemory().memory);
  const onFile = (file: { path: string }) => void handed.push(path.basename(file.path));
  await landHydration(client, landing, needOf(range(1, 4)), onFile, createFakeIo(), meansOf(client, { gate }));
  const [first, second] = ['hydrate-export-1-00001.ndjson', 'hydrate-export-1-00002.ndjson'];
  expect([handedBefore, handed]).toEqual([
    ['hydrate-00001.ndjson', first],
    ['hydrate-00001.ndjson', first, second],
  ]);
});

test('no export is requested if the pages contain all needed items', async () => {
  const service = serve(range(0, 1000));
  const calls = { rule: 'budget.calls', allowed: 1_000_000n, used: 0n, monthly: true };
  const gate = new ExportGate({ ...NO_EXPORTS, calls }, createFakeIo(), fakeMemory().memory);
  await hydrate(service.client, range(0, 1000), { gate });
  expect(urlsOf(service)).toEqual([0, 1]);
  const single = serve(range(0, 1000));
  await hydrate(single.client, [7], { gate });
  expect(urlsOf(single)).toEqual(['/items/7']);
});

test.each([
  [1, 0, 1, false],
  [2, 0, 1, true],
  [5, 1, 3, false],
  [6, 1, 3, true],
  [5, 2, 100, true],
  [5, 2, 0, false],
  [0, 500, 10, false],
])('with %i items needed, %i found on the last page and %i pages left, another page is worth it: %j', (...given) => {
  const [needed, found, left, isWorthIt] = given;
  expect(isAnotherPageWorthIt(needed, found, left)).toBe(isWorthIt);
});

test("an answer that isn't a page is refused with the page's number", async () => {
  const { client } = fakeClient(() => ({ content: 7 }));
  await expect(hydrate(client, [1, 2])).rejects.toThrow("/items?page=0: the response doesn't match the page format");
});

test.each([
  ['a page with one item', { rows: 1, page: 7 }],
  ['a page without a number, from an older version,', { rows: 3 }],
])("%s that an earlier attempt landed isn't mistaken for the last useful page", async (_what, entry) => {
  const landing = await openLanding('landed');
  await mkdir(landing.folder, { recursive: true });
  await writeFile(path.join(landing.folder, 'hydrate-00001.ndjson'), '{"id":9}\n');
  const page = { type: 'hydrate.page', file: 'hydrate-00001.ndjson', end: 9, readAt: SINCE, calls: 1 } as const;
  await landing.journal.append({ ...page, ...entry });
  const service = serve([1, 2, 3]);
  await hydrate(service.client, [1, 2, 3, 9], {}, landing);
  expect(urlsOf(service)).toEqual([0]);
});

/** Lands an export of changed items with these lines and this announced number of rows. */
async function landExport(lines: string[], announced: string, dataset?: bigint, failure?: Error) {
  const { memory, noted, forgotten } = fakeMemory();
  const [landing, io, asked] = [await openLanding('landed'), createFakeIo(), [] as unknown[]];
  const stream = async (at: string, query: Query) => {
    asked.push([at, query]);
    if (failure !== undefined) throw failure;
    const body = (async function* () {
      yield Buffer.from(lines.map((line) => `${line}\n`).join(''));
    })();
    return { body, headers: { 'x-export-rows': announced } };
  };
  const client = { stream, calls: () => 1 } as unknown as ApiClient;
  const gate = new ExportGate({ ...NO_EXPORTS, rows: undefined }, io, memory);
  const need = { itemIds: new IdSet(BigInt64Array.of(1n, 2n, 3n)), changedSince: SINCE };
  const onLanded = () => {};
  const exports = { format: 'ndjson', fitId: isNamedId, gate } as const;
  const error = await landHydrationExport({ client, dataset }, landing, need, exports, onLanded, io).catch(
    (error) => error,
  );
  return { landing, io, asked, noted, forgotten, error, left: [...need.itemIds] };
}

test('an export of changed items includes removed items, and is remembered as complete', async () => {
  const { landing, io, asked, noted, forgotten, error, left } = await landExport(['{"id":1}', '{"id":2}'], '2');
  expect(asked).toEqual([['/export', { format: 'ndjson', status: 'all', changedSince: new Date(SINCE) }]]);
  expect([error, left, noted, forgotten]).toEqual([undefined, [3n], [], ['changed-items']]);
  expect(lastEntry(landing, 'hydrate.page')).toMatchObject({ file: 'hydrate-export-1-00001.ndjson', rows: 2 });
  expect(lastEntry(landing, 'hydrate.export')).toMatchObject({ announced: 2n, overage: false, calls: 1 });
  expect(io.events).toEqual([{ level: 'debug', event: 'landed', facts: { what: 'hydration', rows: 2 } }]);
});

test('an export that lacks rows keeps the rows that arrived, and is remembered with its possible cost', async () => {
  const { io, noted, error, left } = await landExport(['{"id":1}'], '2');
  const reason = '/export: 1 of 2 announced rows arrived';
  expect([error, left]).toEqual([undefined, [2n, 3n]]);
  expect(noted).toEqual([{ name: 'changed-items', rows: 2n, reason }]);
  expect(io.events.at(-1)).toEqual({ level: 'warn', event: 'hydration.export_cut', facts: { reason } });
});

test('a refusal ends the run, and only rows that may have been paid for without result are remembered', async () => {
  const refused = new PricelakeError('unauthorized', 'no');
  expect(await landExport([], '0', undefined, refused)).toMatchObject({ error: refused, noted: [] });
  const uncounted = await landExport([], 'many', 5n);
  expect(uncounted.error).toMatchObject({ code: 'contract' });
  expect(uncounted.noted).toMatchObject([{ name: expect.stringContaining('5'), rows: 0n }]);
});
