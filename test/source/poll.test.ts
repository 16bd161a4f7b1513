import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Query } from '../../src/api/client.js';
import { PricelakeError } from '../../src/io/errors.js';
import type { Progress } from '../../src/io/io.js';
import type { Landing } from '../../src/journal/landings.js';
import { cutItemTails, type ItemFile } from '../../src/source/item-files.js';
import { landPoll, reopenPoll } from '../../src/source/poll.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeClient } from './fake-client.js';
import { lastEntry, listEntries, openLanding, readLanded, reopenLanding } from './landing.js';

const NOON = '2026-11-20T12:00:00.000000Z';
const SINCE = '2026-11-20T05:00:00.000Z';
const at = (minute: number) => new Date(Date.parse(NOON) + minute * 60_000).toISOString();

interface Item {
  id: number;
  lastChangedAt?: string | undefined;
}
const items = (count: number, minute = 0): Item[] =>
  Array.from({ length: count }, (_, n) => ({ id: n, lastChangedAt: at(minute) }));

/** The requested page of items; `total` is the announced number if it differs from the number shown. */
function page(all: readonly Item[], { page = 0, size }: Query, total = all.length) {
  const [from, rows] = [Number(page) * Number(size), Number(size)];
  return { content: all.slice(from, from + rows), totalElements: total, totalPages: Math.ceil(all.length / rows) };
}

interface Polled {
  files: ItemFile[];
  told: Progress[];
  events: unknown[];
}

async function poll(
  landing: Landing,
  service: ReturnType<typeof fakeClient>,
  { changedSince, untilSettled = false }: { changedSince?: string; untilSettled?: boolean } = {},
  dataset?: bigint,
): Promise<Polled> {
  const polled: Polled = { files: [], told: [], events: [] };
  const io = { ...createFakeIo(), progress: (update: Progress) => polled.told.push({ ...update }) };
  const log = (level: string, event: string, facts?: object) => polled.events.push({ level, event, facts });
  const parts = [{ dataset, client: service.client }];
  const wanted = { changedSince, untilSettled };
  await landPoll(parts, landing, wanted, (file) => polled.files.push(file), { ...io, log });
  return polled;
}
const pagesOf = ({ asked }: ReturnType<typeof fakeClient>) =>
  asked.map(({ query }) => (query.page === undefined ? 'count' : Number(query.page)));
const sinceOf = ({ asked }: ReturnType<typeof fakeClient>) => asked.map(({ query }) => query.changedSince);

test('all items are read page by page, most recently changed first, and counted at the end', async () => {
  const all = items(1100);
  const service = fakeClient((_path, query) => page(all, query));
  const landing = await openLanding();
  const { files, told, events } = await poll(landing, service);
  expect(service.asked.slice(0, 3)).toEqual(
    [0, 1, 2].map((number) => ({
      path: '/items',
      query: { changedSince: undefined, status: 'all', sort: '-lastChanged', size: 500, page: number },
    })),
  );
  expect(service.asked.slice(3)).toEqual([{ path: '/items', query: { status: 'all', size: 1 } }]);
  expect(files).toMatchObject([{ path: path.join(landing.folder, 'poll-00001.ndjson'), rows: 1100 }]);
  expect(await readLanded(landing, 'poll-00001.ndjson')).toHaveLength(1100);
  expect(listEntries(landing, 'poll.round')).toEqual([
    { type: 'poll.round', since: null, newest: at(0), dataset: undefined },
  ]);
  expect(listEntries(landing, 'poll.page').map(({ rows, calls, readAt }) => [rows, calls, readAt])).toEqual(
    [500, 500, 100].map((rows, index) => [rows, index + 1, '2026-11-20T12:00:00.000Z']),
  );
  expect(lastEntry(landing, 'poll.done')).toEqual({ type: 'poll.done', dataset: undefined, calls: 4 });
  const { bytes } = files[0] ?? expect.unreachable('no file');
  expect(told.map(({ part, rows, totalRows, done }) => [part, rows, totalRows, done])).toEqual([
    ['poll', 500n, 1100n, false],
    ['poll', 1000n, 1100n, false],
    ['poll', 1100n, 1100n, true],
  ]);
  expect(told.at(-1)?.bytes).toBe(bytes);
  expect(events).toEqual([]);
});

test("items that changed since a time aren't counted, and no file is written if there are none", async () => {
  const service = fakeClient((_path, query) => page([], query));
  const landing = await openLanding();
  const { files, told } = await poll(landing, service, { changedSince: SINCE });
  expect([sinceOf(service), pagesOf(service), files]).toEqual([[SINCE], [0], []]);
  expect(listEntries(landing, 'poll.round')).toEqual([{ type: 'poll.round', since: SINCE, newest: null }]);
  expect(listEntries(landing, 'poll.page')).toEqual([]);
  expect(told).toEqual([{ step: 'land', part: 'poll', rows: 0n, totalRows: 0n, bytes: 0, done: true }]);
  // A finished poll requests nothing.
  expect((await poll(landing, service, { changedSince: SINCE })).told).toEqual([]);
  expect(service.asked).toHaveLength(1);
});

test('a newest change with an invalid time is unknown', async () => {
  const service = fakeClient((_path, query) => page([{ id: 1, lastChangedAt: 'soon' }], query));
  const landing = await openLanding();
  await poll(landing, service, { changedSince: SINCE });
  expect(lastEntry(landing, 'poll.round')?.newest).toBeNull();
});

test('an interrupted poll continues at the page that it reached, and includes the landed rows in its progress', async () => {
  const all = items(1100);
  const stopped = new PricelakeError('stopped', 'stopped');
  const broken = fakeClient((_path, query, count) => {
    if (count === 3) throw stopped;
    return page(all, query);
  });
  await expect(poll(await openLanding(), broken)).rejects.toBe(stopped);
  const landing = await reopenLanding();
  await appendFile(path.join(landing.folder, 'poll-00001.ndjson'), '{"ti'); // killed within a row
  await cutItemTails(landing); // as a run does when it opens
  const service = fakeClient((_path, query) => page(all, query));
  const { files, told } = await poll(landing, service);
  expect(pagesOf(service)).toEqual([2, 'count']);
  expect(files.map(({ rows }) => rows)).toEqual([1000, 100]);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  expect(told).toEqual([{ step: 'land', part: 'poll', rows: 1100n, totalRows: 1100n, bytes, done: true }]);
  expect(listEntries(landing, 'poll.round')).toHaveLength(1);
});

test('changes during a round are polled again from a minute before its newest change, until they fit on one page', async () => {
  const rounds = [items(1100, 0), items(600, 10), items(3, 20)];
  const service = fakeClient((_path, query) => page(rounds[new Set([...sinceOf(service)]).size - 1] ?? [], query));
  const landing = await openLanding();
  const { events } = await poll(landing, service, { changedSince: SINCE, untilSettled: true });
  expect(pagesOf(service)).toEqual([0, 1, 2, 0, 1, 0]);
  expect([...new Set(sinceOf(service))]).toEqual([SINCE, at(-1), at(9)]);
  expect(listEntries(landing, 'poll.round').map(({ since, newest }) => [since, newest])).toEqual([
    [SINCE, at(0)],
    [at(-1), at(10)],
    [at(9), at(20)],
  ]);
  expect(events).toEqual([]);
});

test('a round with the same newest change as the previous one ends after its first page, because nothing changed', async () => {
  const service = fakeClient((_path, query) => page(items(1100), query));
  await poll(await openLanding(), service, { changedSince: SINCE, untilSettled: true });
  expect(pagesOf(service)).toEqual([0, 1, 2, 0]);
});

test('if the newest change has no date, everything is polled again', async () => {
  const undated: Item[] = items(600).map(({ id }) => ({ id }));
  const service = fakeClient((_path, query) => page(service.asked.length < 3 ? undated : items(1), query));
  await poll(await openLanding(), service, { changedSince: SINCE, untilSettled: true });
  expect([pagesOf(service), sinceOf(service)]).toEqual([
    [0, 1, 0],
    [SINCE, SINCE, '1969-12-31T23:59:00.000Z'],
  ]);
});

test("rounds whose newest changes have no date aren't mistaken for rounds without changes", async () => {
  const undated: Item[] = items(600).map(({ id }) => ({ id }));
  const service = fakeClient((_path, query) => page(undated, query));
  const { events } = await poll(await openLanding(), service, { changedSince: SINCE, untilSettled: true });
  expect(pagesOf(service)).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
  expect(events).toHaveLength(1);
});

test('an empty page is the last one, whatever is announced; an invalid page is refused by its number', async () => {
  const endless = fakeClient((_path, query) => ({ ...page([], query), totalPages: 9 }));
  await poll(await openLanding(), endless, { changedSince: SINCE });
  expect(pagesOf(endless)).toEqual([0]);
  const wrong = fakeClient((_path, query, count) => (count === 1 ? page(items(600), query) : { content: 7 }));
  await expect(poll(await openLanding(), wrong, { changedSince: SINCE })).rejects.toThrow(
    "/items?page=1: the response doesn't match the page format",
  );
  const uncounted = fakeClient((_path, query) => (query.page === undefined ? { content: 7 } : page(items(1), query)));
  await expect(poll(await openLanding(), uncounted)).rejects.toThrow(
    "/items?size=1: the response doesn't match the page format",
  );
});

test('after five rounds with further changes, the rest is left to the next run', async () => {
  const service = fakeClient((_path, query, count) => page(items(600, count), query));
  const { events } = await poll(await openLanding(), service, { changedSince: SINCE, untilSettled: true });
  expect(pagesOf(service)).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
  expect(events).toEqual([{ level: 'warn', event: 'poll.unsettled', facts: { rounds: 6 } }]);
});

test('items missing from the pages are searched in newer changes and in a second reading', async () => {
  const [few, all] = [items(1000), items(1001)];
  const service = fakeClient((_path, query, count) => {
    if (query.page === undefined) return page(all, query);
    return page(count < 5 ? few : all, query, 1001);
  });
  const { events } = await poll(await openLanding(), service);
  // Two pages, the count; one page of newer changes; the count; three pages with the missing item, newer changes, the count.
  expect(pagesOf(service)).toEqual([0, 1, 'count', 0, 'count', 0, 1, 2, 0, 'count']);
  expect(sinceOf(service).map((since) => since ?? '')).toEqual(['', '', '', at(-1), '', '', '', '', at(-1), '']);
  expect(events).toEqual(
    Array.from({ length: 2 }, () => ({
      level: 'warn',
      event: 'pages.short',
      facts: { seen: 1000n, total: 1001n },
    })),
  );
});

test('pages that never contain all counted items are refused after two readings', async () => {
  const service = fakeClient((_path, query) => page(items(3), query, 4));
  const landing = await openLanding();
  await expect(poll(landing, service)).rejects.toMatchObject({
    code: 'snapshot_incomplete',
    message: '/items: the pages contain 3 different items, but the service counts 4',
    facts: { hint: 'Nothing was published. Run the same command again.' },
  });
  expect(pagesOf(service)).toEqual([0, 'count', 0, 'count', 0, 'count', 0, 'count']);
  expect(lastEntry(landing, 'poll.done')).toBeUndefined();
  // The next attempt has the landed pages, and counts them.
  const again = await reopenLanding();
  const whole = fakeClient((_path, query) => page(items(3), query));
  await poll(again, whole);
  expect(pagesOf(whole)).toEqual([1, 'count']);
});

test("more items than counted aren't an error, and an item on two pages counts once", async () => {
  const more = fakeClient((_path, query) => page(items(3), query, query.page === undefined ? 2 : 3));
  await poll(await openLanding(), more);
  expect(pagesOf(more)).toEqual([0, 'count']);
  const twice = fakeClient((_path, query) => page([{ id: 1 }, { id: 1 }], query));
  await expect(poll(await openLanding(), twice)).rejects.toThrow('contain 1 different items');
});

test('each dataset is polled separately, and only its own items are counted', async () => {
  const landing = await openLanding();
  const service = fakeClient((_path, query) => page(items(2), query));
  await poll(landing, service, {}, 5n);
  const other = fakeClient((_path, query) => page(items(1), query, 2));
  await expect(poll(landing, other, {}, 6n)).rejects.toThrow('contain 1 different items');
  const { polls } = landing.journal.state;
  expect([...polls.keys()]).toEqual([5n, 6n]);
  expect(polls.get(5n)).toMatchObject({ wholePages: 1, round: { since: null, pages: 1, rows: 2n }, isDone: true });
  expect(polls.get(5n)?.files).toEqual(['poll-00001.ndjson']);
});

test('a reopened poll reads the changes since another time, and keeps its complete pages', async () => {
  const landing = await openLanding();
  const service = fakeClient((_path, query) => page(items(600), query));
  await poll(landing, service, {}, 5n);
  await reopenPoll(landing, [{ dataset: 5n, client: service.client }], SINCE);
  const polled = () => landing.journal.state.polls.get(5n);
  expect(polled()).toMatchObject({
    wholePages: 2,
    round: { since: SINCE, pages: 0, rows: 0n },
    isDone: false,
  });
  const news = fakeClient((_path, query) => page(items(2, 5), query));
  await poll(landing, news, { changedSince: NOON }, 5n);
  expect([pagesOf(news), sinceOf(news)]).toEqual([[0], [SINCE]]);
  expect(listEntries(landing, 'poll.round').map(({ since }) => since)).toEqual([null, SINCE]);
  expect(polled()).toMatchObject({ wholePages: 2, round: { since: SINCE, pages: 1, rows: 2n }, isDone: true });
});

test('a poll is done until a new round begins, and a round without pages has no rows', async () => {
  const round = { type: 'poll.round', since: null, newest: null } as const;
  const { journal } = await openLanding();
  const polled = () => journal.state.polls.get(undefined);
  await journal.append(round, { type: 'poll.done', calls: 1 }, { type: 'calls', calls: 2, refused: 0 });
  expect(polled()?.isDone).toBe(true);
  const itemPage = { type: 'poll.page', file: 'f', rows: 3, end: 9, readAt: NOON, calls: 3, sha256: 'a' } as const;
  await journal.append({ ...round }, { ...round, since: SINCE }, itemPage);
  expect(polled()).toMatchObject({ wholePages: 0, round: { since: SINCE, pages: 1, rows: 3n }, isDone: false });
});

test('all items count as read if their pages are empty and another round follows', async () => {
  let counts = 0;
  const service = fakeClient((_path, query) => page([], query, query.page === undefined && ++counts === 1 ? 1 : 0));
  const landing = await openLanding();
  await poll(landing, service);
  expect(listEntries(landing, 'poll.round').map(({ since }) => since)).toEqual([null, '1969-12-31T23:59:00.000Z']);
  expect(landing.journal.state.polls.get(undefined)).toMatchObject({ isWhole: true, isDone: true });
});
