import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Landing } from '../../src/journal/landings.js';
import { listParts } from '../../src/source/dataset-client.js';
import { type FeedPart, landFeed } from '../../src/source/feed.js';
import { type LocalService, sendJson, startService } from '../api/local-service.js';
import { fakePages } from './fake-memory.js';
import { lastEntry, listEntries, openLanding, readLanded, reopenLanding } from './landing.js';

const LAST = 9007199254741000n;
const PAGE = 3n;

/** A feed up to LAST with three changes per page. Request number `breakAt` fails. */
function startFeed(options: { breakAt?: number; deniesMore?: boolean } = {}): Promise<LocalService> {
  return startService((request, response, count) => {
    if (count === options.breakAt) return sendJson(response, 401, { status: 401, error: '', message: '', docsUrl: '' });
    const after = BigInt(new URL(request.url ?? '', 'http://x').searchParams.get('after') ?? '');
    const ids: bigint[] = [];
    for (let id = after + 1n; id <= LAST && ids.length < Number(PAGE); id++) ids.push(id);
    const cursor = ids.at(-1) ?? after;
    const changes = ids.map((id) => `{"id":${id},\n"kind":"NEW"}`).join(',');
    sendJson(
      response,
      200,
      `{"changes":[${changes}],"hasMore":${cursor < LAST && options.deniesMore !== true},"nextCursor":${cursor}}`,
    );
  });
}

const partOf = ({ client }: LocalService, from: bigint) => ({ dataset: undefined, client, from });

/** Lands parts of the feed, in a new run or in the given one. */
const land = async (service: LocalService, parts: readonly FeedPart[], landing?: Landing, hasFeed = true) =>
  landFeed(service.client, landing ?? (await openLanding()), parts, hasFeed, {
    io: service.io,
    memory: fakePages().memory,
  });

const asked = ({ urls }: LocalService) => urls.map((url) => BigInt(/after=(\d+)/.exec(url)?.[1] ?? ''));

describe('the feed', () => {
  test('lands each change on its own line until no more are waiting, with one call per page', async () => {
    const service = await startFeed();
    const landing = await openLanding();
    const landed = await land(service, [partOf(service, LAST - 8n)], landing);
    expect(asked(service)).toEqual([LAST - 8n, LAST - 5n, LAST - 2n]);
    expect(service.urls[0]).toContain('limit=1000');
    expect(landed).toMatchObject({ changes: 8, cursor: LAST });
    const lines = await readLanded(landing, 'feed.ndjson');
    expect(lines[0]).toBe(`{"id":${LAST - 7n}, "kind":"NEW"}`);
    expect(lines).toHaveLength(8);
    expect(listEntries(landing, 'feed.page').map((page) => page.rows)).toEqual([3, 3, 2]);
    expect(listEntries(landing, 'feed.page').map((page) => page.hasMore)).toEqual([true, true, false]);
    expect(listEntries(landing, 'feed.part')).toEqual([]);
    const end = lastEntry(landing, 'feed.done');
    expect(end).toEqual({ type: 'feed.done', cursor: LAST, complete: true, at: '2026-11-20T12:00:00.000Z', calls: 3 });
    expect(landed).toMatchObject({ complete: true, at: end?.at, file: path.join(landing.folder, 'feed.ndjson') });
    expect(landed?.bytes).toBe(lastEntry(landing, 'feed.page')?.end);
    expect(service.io.events).toContainEqual({
      level: 'debug',
      event: 'landed',
      facts: { what: 'feed', cursor: LAST },
    });
  });

  test('continues to the watermark after short pages that deny more changes', async () => {
    const service = await startFeed({ deniesMore: true });
    const part = { ...partOf(service, LAST - 8n), watermark: LAST };
    expect(await land(service, [part])).toMatchObject({ changes: 8, cursor: LAST });
    // If a service denied waiting changes, the run reads on until a page is empty.
    expect(asked(service)).toEqual([LAST - 8n, LAST - 5n, LAST - 2n, LAST]);
  });

  test('ends at an empty page, even if the watermark is higher', async () => {
    const service = await startFeed({ deniesMore: true });
    const part = { ...partOf(service, LAST - 2n), watermark: LAST + 5n };
    expect(await land(service, [part])).toMatchObject({ changes: 2 });
    expect(asked(service)).toEqual([LAST - 2n, LAST]);
  });

  test("that has landed to its end isn't requested again, even if the run was killed before it journaled the end", async () => {
    const landing = await openLanding();
    const short = await startFeed();
    const { append } = landing.journal;
    landing.journal.append = async (...entries) => {
      if (entries.some(({ type }) => type === 'feed.done')) throw new Error('stopped');
      return append.apply(landing.journal, entries);
    };
    await expect(land(short, [partOf(short, LAST - 2n)], landing)).rejects.toThrow('stopped');
    const next = await reopenLanding();
    const at = '2026-11-20T13:00:00.000Z';
    await next.journal.append({ type: 'try', at }, { type: 'try', at });
    const service = await startFeed();
    expect(await land(service, [partOf(service, LAST - 2n)], next)).toMatchObject({
      changes: 2,
      cursor: LAST,
    });
    expect(asked(service)).toEqual([]);
  });

  test('without new changes needs one call and lands no row, and stays complete if the plan loses the feed', async () => {
    const service = await startFeed();
    const landing = await openLanding();
    const landed = await land(service, [partOf(service, LAST)], landing);
    expect(landed).toMatchObject({ changes: 0, bytes: 0, cursor: LAST, complete: true });
    expect(listEntries(landing, 'feed.page')).toEqual([]);
    expect(await land(service, [partOf(service, LAST)], await reopenLanding(), false)).toEqual(landed);
    expect(service.urls).toHaveLength(1);
  });

  test('that was interrupted continues after the last landed page, requests none twice, and reports its progress', async () => {
    const broken = await startFeed({ breakAt: 2 });
    await expect(land(broken, [partOf(broken, LAST - 8n)])).rejects.toMatchObject({ code: 'unauthorized' });
    const service = await startFeed();
    const told: unknown[] = [];
    service.io.progress = (progress) => told.push(progress);
    const next = await reopenLanding();
    const landed = await land(service, [partOf(service, LAST - 8n)], next);
    expect(asked(service)).toEqual([LAST - 5n, LAST - 2n]);
    expect(landed).toMatchObject({ changes: 8, cursor: LAST });
    expect(new Set(await readLanded(next, 'feed.ndjson')).size).toBe(8);
    const ends = listEntries(next, 'feed.page').map(({ end }) => end);
    expect(told).toEqual([
      { step: 'land', part: 'feed', rows: 6n, isEstimate: true, bytes: ends[1], done: false },
      { step: 'land', part: 'feed', rows: 8n, totalRows: 8n, isEstimate: false, bytes: ends[2], done: true },
    ]);
  });

  test("that landed completely isn't requested again", async () => {
    const service = await startFeed();
    const first = await land(service, [partOf(service, LAST - 4n)]);
    const again = await land(service, [partOf(service, LAST - 4n)], await reopenLanding());
    expect(again).toEqual(first);
    expect(service.urls).toHaveLength(2);
    expect(listEntries(await reopenLanding(), 'feed.done')).toHaveLength(1);
  });

  test('that the plan has lost ends with the landed changes, without a call', async () => {
    const broken = await startFeed({ breakAt: 3 });
    const landing = await openLanding();
    await expect(land(broken, [partOf(broken, LAST - 8n)], landing)).rejects.toThrow();
    const landed = await land(broken, [partOf(broken, LAST - 8n)], await reopenLanding(), false);
    expect(landed).toMatchObject({ changes: 6, cursor: LAST - 2n, complete: false });
    expect(broken.urls).toHaveLength(3);
  });

  test("isn't read on a plan without the feed", async () => {
    const service = await startFeed();
    expect(await land(service, [partOf(service, 0n)], await openLanding(), false)).toBeUndefined();
    expect(service.urls).toEqual([]);
  });
});

describe('a feed that refuses the cursor', () => {
  /** A feed with these changes that refuses every cursor except 0. */
  function startRefusing(ids: bigint[], status = 410): Promise<LocalService> {
    return startService((request, response) => {
      const after = BigInt(new URL(request.url ?? '', 'http://x').searchParams.get('after') ?? '');
      if (after !== 0n || status === 400) {
        return sendJson(response, status, { status, error: '', message: 'cursor too old', docsUrl: '' });
      }
      const changes = ids.map((id) => `{"id":${id}}`).join(',');
      sendJson(response, 200, `{"changes":[${changes}],"hasMore":false,"nextCursor":${ids.at(-1)}}`);
    });
  }
  const landFrom = (service: LocalService, from: bigint, watermark?: bigint) =>
    land(service, [{ ...partOf(service, from), ...(watermark === undefined ? {} : { watermark }) }]);

  test('is an error if no complete rows are read', async () => {
    const service = await startRefusing([50n]);
    await expect(landFrom(service, 7n)).rejects.toMatchObject({ facts: { status: 410 } });
    expect(asked(service)).toEqual([7n]);
    expect(service.io.events).not.toContainEqual(expect.objectContaining({ event: 'feed.cursor_refused' }));
  });

  test('starts from the beginning if complete rows are also read, with a warning', async () => {
    const service = await startRefusing([50n, 60n]);
    expect(await landFrom(service, 7n, 55n)).toMatchObject({ changes: 2, cursor: 60n, complete: true });
    expect(asked(service)).toEqual([7n, 0n]);
    expect(service.io.events).toContainEqual({
      level: 'warn',
      event: 'feed.cursor_refused',
      facts: { cursor: 7n, reason: expect.stringContaining('cursor too old') },
    });
  });

  test.each([
    ['the change before the complete rows', 7n, 90n, 90n],
    ['the refused cursor', 95n, 90n, 95n],
    ['the end of the feed', 7n, 10n, 50n],
  ])('is read up to %s, if that is the last of the three', async (_name, from, watermark, cursor) => {
    expect(await landFrom(await startRefusing([50n]), from, watermark)).toMatchObject({ cursor });
  });

  test('is an error even at cursor 0', async () => {
    const service = await startRefusing([50n], 400);
    await expect(landFrom(service, 0n, 5n)).rejects.toMatchObject({ facts: { status: 400 } });
    expect(asked(service)).toEqual([0n]);
  });

  test('is an error if the refusal has another reason', async () => {
    const service = await startFeed({ breakAt: 1 });
    await expect(landFrom(service, LAST - 2n, 5n)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(service.urls).toHaveLength(1);
  });

  test('is read to its end if it accepts the cursor, even with a higher watermark', async () => {
    expect(await landFrom(await startFeed(), LAST - 2n, LAST + 5n)).toMatchObject({ cursor: LAST });
  });
});

describe('the feeds of several datasets', () => {
  /** The changes of each dataset. Request number `breakAt` of /changes fails. */
  function startFeeds(feeds: Record<string, bigint[]>, breakAt = 0): Promise<LocalService> {
    let pages = 0;
    return startService((request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      const dataset = url.searchParams.get('dataset');
      const ids = dataset === null ? Object.values(feeds).flat() : (feeds[dataset] ?? []);
      const sorted = [...ids].sort((a, b) => (a < b ? -1 : 1));
      const write = (some: bigint[], hasMore: boolean, cursor: bigint) =>
        sendJson(
          response,
          200,
          `{"changes":[${some.map((id) => `{"id":${id}}`).join(',')}],"hasMore":${hasMore},"nextCursor":${cursor}}`,
        );
      if (url.pathname.endsWith('/recent')) return write(sorted.slice(-1), sorted.length > 1, sorted.at(-1) ?? 0n);
      if (++pages === breakAt) return sendJson(response, 401, { status: 401, error: '', message: '', docsUrl: '' });
      const after = BigInt(url.searchParams.get('after') ?? '');
      const waiting = sorted.filter((id) => id > after);
      const page = waiting.slice(0, Number(PAGE));
      write(page, waiting.length > page.length, page.at(-1) ?? after);
    });
  }

  const partsOf = ({ client }: LocalService, from: Record<string, bigint>): FeedPart[] =>
    listParts(client, Object.keys(from).map(BigInt)).map((part) => ({
      ...part,
      from: from[String(part.dataset)] ?? 0n,
    }));
  /** The requests of the feeds, as `dataset after cursor`. */
  const asks = ({ urls }: LocalService) =>
    urls
      .filter((url) => !url.includes('/recent'))
      .map((url) => new URL(url, 'http://x').searchParams)
      .map((query) => `${query.get('dataset')} after ${query.get('after')}`);
  const ids = async (landing: Landing) =>
    (await readLanded(landing, 'feed.ndjson')).map((line) => (JSON.parse(line) as { id: number }).id);

  test('are read one after another, and the common cursor is the newest change before they were read', async () => {
    const service = await startFeeds({ 1: [10n, 12n, 14n, 16n], 2: [11n, 13n] });
    const landing = await openLanding();
    const told: unknown[] = [];
    service.io.progress = ({ rows, totalRows, done }) => told.push([rows, totalRows, done]);
    const landed = await land(service, partsOf(service, { 1: 9n, 2: 9n }), landing);
    expect(landed).toMatchObject({ changes: 6, cursor: 16n, complete: true });
    // The end of one feed is neither the total nor the end of all.
    expect(told).toEqual([
      [3n, undefined, false],
      [4n, undefined, false],
      [6n, undefined, false],
      [6n, 6n, true],
    ]);
    expect(asks(service)).toEqual(['1 after 9', '1 after 14', '2 after 9']);
    expect(service.urls[0]).toContain('/changes/recent?limit=1');
    expect(await ids(landing)).toEqual([10, 12, 14, 16, 11, 13]);
  });

  test('a dataset without new changes hides no change of another dataset', async () => {
    const service = await startFeeds({ 1: [20n], 2: [11n, 13n] });
    const landing = await openLanding();
    const landed = await land(service, partsOf(service, { 1: 20n, 2: 9n }), landing);
    expect(landed).toMatchObject({ changes: 2, cursor: 20n });
    expect(await ids(landing)).toEqual([11, 13]);
  });

  test('no feed is requested if the newest change of all is known for each dataset', async () => {
    const service = await startFeeds({ 1: [20n], 2: [11n] });
    const landed = await land(service, partsOf(service, { 1: 20n, 2: 20n }));
    expect(landed).toMatchObject({ changes: 0, cursor: 20n });
    expect(asks(service)).toEqual([]);
  });

  test("a feed that was read to its end isn't requested again when the run continues", async () => {
    const feeds = { 1: [10n, 12n], 2: [5n], 3: [11n, 13n, 15n, 17n] };
    const broken = await startFeeds(feeds, 4);
    const from = { 1: 9n, 2: 9n, 3: 9n };
    await expect(land(broken, partsOf(broken, from))).rejects.toMatchObject({ code: 'unauthorized' });
    expect(asks(broken)).toEqual(['1 after 9', '2 after 9', '3 after 9', '3 after 15']);
    const service = await startFeeds(feeds);
    const landing = await reopenLanding();
    const landed = await land(service, partsOf(service, from), landing);
    expect(asks(service)).toEqual(['3 after 15']);
    expect(landed).toMatchObject({ changes: 6, cursor: 17n });
    expect(await ids(landing)).toEqual([10, 12, 11, 13, 15, 17]);
    expect(listEntries(landing, 'feed.part').map(({ dataset }) => dataset)).toEqual([1n, 2n, 3n]);
  });

  test('a later attempt requests all feeds again after their landed changes, because they may have grown', async () => {
    const feeds = { 1: [10n, 12n], 2: [11n, 13n] };
    const broken = await startFeeds(feeds, 2);
    const from = { 1: 9n, 2: 9n };
    await expect(land(broken, partsOf(broken, from))).rejects.toThrow();
    const landing = await reopenLanding();
    await landing.journal.append({ type: 'try', at: '2026-11-20T13:00:00.000Z' });
    feeds[1].push(20n);
    const service = await startFeeds(feeds);
    service.io.pass(3_600_000);
    const landed = await land(service, partsOf(service, from), landing);
    expect(asks(service)).toEqual(['1 after 12', '2 after 9']);
    expect(landed).toMatchObject({ changes: 5, cursor: 20n, at: '2026-11-20T13:00:00.000Z' });
    expect(listEntries(landing, 'feed.bound').map(({ newest }) => newest)).toEqual([13n, 20n]);
    expect(listEntries(landing, 'feed.part').map(({ dataset, cursor }) => [dataset, cursor])).toEqual([
      [1n, 12n],
      [1n, 20n],
      [2n, 13n],
    ]);
  });

  test('without any change keep their cursor', async () => {
    const service = await startFeeds({ 1: [], 2: [] });
    const landed = await land(service, partsOf(service, { 1: 8n, 2: 9n }));
    expect(landed).toMatchObject({ changes: 0, cursor: 8n });
  });

  test('that the plan has lost are read up to the lowest cursor that any has reached', async () => {
    const broken = await startFeeds({ 1: [10n, 12n], 2: [11n, 13n] }, 2);
    const from = { 1: 9n, 2: 9n };
    await expect(land(broken, partsOf(broken, from))).rejects.toThrow();
    const landed = await land(broken, partsOf(broken, from), await reopenLanding(), false);
    expect(landed).toMatchObject({ changes: 2, cursor: 9n, complete: false });
  });

  test.each([
    ['are read up to the lowest cursor beyond that change', 'before', 4, 14n],
    ['land the repeated change, and the cursor stays at that change', 'behind', 3, 12n],
  ])('that grew after the newest change was recorded %s (%s the first page)', async (_what, when, changes, cursor) => {
    const feeds = { 1: [10n], 2: [12n] };
    const service = await startFeeds(feeds);
    const parts = partsOf(service, { 1: 9n, 2: 9n });
    const [first] = parts as [FeedPart];
    const { bytes } = first.client;
    first.client.bytes = async (...call) => {
      const answer = when === 'behind' ? await bytes(...call) : undefined;
      feeds[1].push(14n);
      feeds[2].push(16n);
      return answer ?? bytes(...call);
    };
    expect(await land(service, parts)).toMatchObject({ changes, cursor });
  });
});
