import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.js';
import type { Landing } from '../../src/journal/landings.js';
import { findRecentWindow, landLowWatermark } from '../../src/source/watermark.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeClient } from './fake-client.js';
import { lastEntry, openLanding } from './landing.js';

const NOON = '2026-11-20T12:00:00.000Z';
const TIME = (minute: number) => `2026-11-20T10:${String(minute).padStart(2, '0')}:00.000001Z`;

/** Serves a number of items whose last change was at a minute, and the newest changes of the feed. */
const serve = (total: number, minute?: number, newest = [70n]) =>
  fakeClient((path) => {
    if (path !== '/items') return { changes: newest.map((id) => ({ id, observedAt: NOON })), hasMore: false };
    const content = minute === undefined ? [] : [{ lastChangedAt: TIME(minute) }];
    return { content, totalElements: BigInt(total) };
  });
const take = (
  landing: Landing,
  client: ApiClient,
  feed: 'none' | 'known' | 'new',
  parts: { dataset: bigint | undefined; client: ApiClient }[] = [{ dataset: undefined, client }],
  io = createFakeIo(),
) => landLowWatermark(client, landing, parts, feed, io);

test('the low watermark has the newest change, the time of the newest item change and the item count, and is recorded once', async () => {
  const { client, asked } = serve(5, 30);
  const [landing, io] = [await openLanding(), createFakeIo()];
  const wanted = { cursor: 70n, from: undefined, changedAt: TIME(30), items: 5n, at: NOON };
  const counts = new Map([[undefined, 5n]]);
  expect(landing.journal.state.watermark).toBeUndefined();
  expect(await take(landing, client, 'known', undefined, io)).toEqual({ ...wanted, counts });
  expect(asked).toEqual([
    { path: '/changes/recent', query: { limit: 1 } },
    { path: '/items', query: { status: 'all', sort: '-lastChanged', size: 1 } },
  ]);
  expect(lastEntry(landing, 'watermark')).toStrictEqual({
    type: 'watermark',
    cursor: 70n,
    changedAt: TIME(30),
    items: 5n,
    at: NOON,
    calls: 2,
  });
  expect(io.events).toEqual([
    { level: 'debug', event: 'landed', facts: { what: 'watermark', cursor: 70n, changedAt: TIME(30), items: 5n } },
  ]);
  expect(await take(landing, client, 'known')).toEqual({ ...wanted, counts });
  expect(asked).toHaveLength(2);
});

test('without a feed no changes are requested, and without items there is no time of change', async () => {
  const { client, asked } = serve(0);
  const landing = await openLanding();
  const landed = await take(landing, client, 'none');
  expect(landed).toMatchObject({ cursor: undefined, from: undefined, changedAt: undefined, items: 0n });
  expect(landed.counts).toEqual(new Map([[undefined, 0n]]));
  expect(asked.map(({ path }) => path)).toEqual(['/items']);
  expect(lastEntry(landing, 'watermark')?.cursor).toBeNull();
});

test.each([
  [{ content: [{ lastChangedAt: 7 }], totalElements: 1n }],
  [{ content: [{}], totalElements: 1n }],
  [{ content: [] }],
])('an answer without valid values is refused: %o', async (answer) => {
  await expect(take(await openLanding(), fakeClient(() => answer).client, 'none')).rejects.toThrow();
});

test('the watermark of a feed without changes is 0', async () => {
  expect(await take(await openLanding(), serve(1, 1, []).client, 'known')).toMatchObject({ cursor: 0n });
});

test('a new feed is read from an hour before its newest change', async () => {
  const landing = await openLanding();
  const { client, asked } = serve(1, 1, [70n, 60n]);
  expect(await take(landing, client, 'new')).toMatchObject({ cursor: 70n, from: 59n });
  expect(lastEntry(landing, 'watermark')).toMatchObject({ cursor: 70n, from: 59n });
  expect(asked[0]).toEqual({ path: '/changes/recent', query: { limit: 200 } });
});

test('with several datasets, the newest item change of any applies, and the items of each are counted', async () => {
  const all = serve(99, 59);
  for (const minutes of [
    [10, 40, undefined],
    [40, 10, undefined],
    [undefined, 40, 40],
  ]) {
    const landing = await openLanding();
    const parts = minutes.map((minute, n) => ({ dataset: BigInt(n), client: serve(n + 1, minute).client }));
    const landed = await take(landing, all.client, 'known', parts);
    expect(landed).toMatchObject({ cursor: 70n, changedAt: TIME(40), items: 6n });
    expect(landed.counts).toEqual(
      new Map([
        [0n, 1n],
        [1n, 2n],
        [2n, 3n],
      ]),
    );
  }
  expect(all.asked.map(({ path }) => path)).toEqual(['/changes/recent', '/changes/recent', '/changes/recent']);
});

test("a single dataset's own feed is requested", async () => {
  const [all, one] = [serve(9, 9, [90n]), serve(2, 9, [20n])];
  const landed = await take(await openLanding(), all.client, 'known', [{ dataset: 4n, client: one.client }]);
  expect(landed).toMatchObject({ cursor: 20n, items: 2n });
  expect([landed.counts, all.asked]).toEqual([new Map([[4n, 2n]]), []]);
});

test('items outside the listed datasets are counted for everything that the key can read', async () => {
  const { journal } = await openLanding();
  const counts = [{ dataset: 4n, items: 2n }];
  const landed = { type: 'watermark' as const, cursor: null, changedAt: null, items: 5n, counts, at: NOON, calls: 1 };
  await journal.append(landed);
  expect(journal.state.watermark?.counts).toEqual(
    new Map([
      [4n, 2n],
      [undefined, 3n],
    ]),
  );
  await journal.append({ ...landed, items: 2n });
  expect(journal.state.watermark?.counts).toEqual(new Map([[4n, 2n]]));
});

const NEWEST = Date.UTC(2026, 10, 20, 12);

/** A client with changes that are `minutes` old, newest first, in pages of two. Ids decrease by ten from 1000. */
function serveChanges(minutes: (number | undefined)[], pageSize = 2) {
  const changes = minutes.map((age, index) => ({
    id: 1000n - BigInt(index) * 10n,
    ...(age === undefined ? {} : { observedAt: new Date(NEWEST - age * 60_000).toISOString() }),
  }));
  return fakeClient((_path, { before }) => {
    const left = changes.filter(({ id }) => before === undefined || id < Number(before));
    return { changes: left.slice(0, pageSize), hasMore: left.length > pageSize };
  });
}

test('the window begins after the newest change that is more than an hour older than the newest', async () => {
  const { asked, client } = serveChanges([0, 20, 59, 61, 90, 300]);
  expect(await findRecentWindow(client)).toEqual({ newest: 1000n, from: 970n });
  expect(asked).toEqual([
    { path: '/changes/recent', query: { limit: 200 } },
    { path: '/changes/recent', query: { limit: 200, before: 990n } },
  ]);
});

test('a change that is exactly an hour older is inside the window', async () => {
  expect(await findRecentWindow(serveChanges([0, 60, 60.001]).client)).toEqual({ newest: 1000n, from: 980n });
});

test('the window begins before the first change if no change is older', async () => {
  const { asked, client } = serveChanges([0, 20, 40]);
  expect(await findRecentWindow(client)).toEqual({ newest: 1000n, from: 979n });
  expect(asked).toHaveLength(2);
});

test('the window is empty without changes', async () => {
  expect(await findRecentWindow(serveChanges([]).client)).toEqual({ newest: 0n, from: 0n });
});

test('the search for the window ends after 25 pages, or if the service repeats a page', async () => {
  const busy = serveChanges(Array.from({ length: 200 }, () => 0));
  expect(await findRecentWindow(busy.client)).toEqual({ newest: 1000n, from: 1000n - 490n });
  expect(busy.asked).toHaveLength(25);
  const page = { changes: [{ id: 5n, observedAt: new Date(NEWEST).toISOString() }], hasMore: true };
  expect(await findRecentWindow(fakeClient(() => page).client)).toEqual({ newest: 5n, from: 4n });
  const empty = fakeClient((_path, _query, count) => (count === 1 ? page : { changes: [], hasMore: true }));
  expect(await findRecentWindow(empty.client)).toEqual({ newest: 5n, from: 4n });
});

test.each([{}, { changes: [{ id: '5' }] }, { changes: [{ id: 5n, observedAt: 7 }] }])(
  'the answer %o is refused',
  async (page) => {
    await expect(findRecentWindow(fakeClient(() => page).client)).rejects.toMatchObject({ name: 'ZodError' });
  },
);

test('changes without a valid time count as recent', async () => {
  expect(await findRecentWindow(serveChanges([0, undefined, undefined]).client)).toEqual({ newest: 1000n, from: 979n });
});

test.each(['\0', '', '2026-13-45T99:99:99Z'])('refuses an item whose time is %j, and records nothing', async (time) => {
  const { client } = fakeClient(() => ({ content: [{ lastChangedAt: time }], totalElements: 1n }));
  const landing = await openLanding();
  await expect(take(landing, client, 'none')).rejects.toThrow('not a date-time');
  expect(landing.journal.state.watermark).toBeUndefined();
});
