import { describe, expect, test } from 'vitest';
import type { Progress } from '../../src/io/io.js';
import { LIMITS } from '../../src/io/limits.js';
import { listParts } from '../../src/source/dataset-client.js';
import { landFeed } from '../../src/source/feed.js';
import { type LocalService, sendJson, startService } from '../api/local-service.js';
import { fakePages } from './fake-memory.js';
import { openLanding, readLanded, reopenLanding } from './landing.js';

const NEWEST = 60n;
/** A newest change that no run reaches. */
const FAR = 2n ** 60n;

interface Page {
  ids?: (bigint | null)[];
  hasMore: boolean;
  nextCursor: bigint;
}

/** Serves the newest change at /changes/recent, and the pages of the feed from `answer`. */
function startFeed(
  answer: (after: bigint, page: number) => Page,
  newest: bigint | ((page: number) => bigint) = NEWEST,
) {
  let pages = 0;
  return startService((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    const asked = url.pathname.endsWith('/recent')
      ? { ids: [typeof newest === 'bigint' ? newest : newest(pages)], hasMore: true, nextCursor: NEWEST }
      : answer(BigInt(url.searchParams.get('after') ?? ''), ++pages);
    const changes = (asked.ids ?? []).map((id) => `{"id":${id}}`).join(',');
    sendJson(response, 200, `{"changes":[${changes}],"hasMore":${asked.hasMore},"nextCursor":${asked.nextCursor}}`);
  });
}

async function pull(service: LocalService, from = 0n) {
  return landFeed(service.client, await openLanding(), [{ dataset: undefined, client: service.client, from }], true, {
    io: service.io,
    memory: fakePages().memory,
  });
}

const countRecent = ({ urls }: LocalService) => urls.filter((url) => url.includes('/changes/recent')).length;

describe('the feed', () => {
  test('is refused after a few calls if it always reports more changes and returns empty pages', async () => {
    const service = await startFeed((after) => ({ hasMore: true, nextCursor: after + 1n }), FAR);
    await expect(pull(service)).rejects.toMatchObject({
      code: 'contract',
      message: `/changes?after=${LIMITS.emptyPages - 1}: ${LIMITS.emptyPages} consecutive pages have no changes, but hasMore is true`,
    });
    expect(service.urls.length).toBeLessThanOrEqual(LIMITS.emptyPages + 2);
  });

  test('may return empty pages between others, like a service that scans all changes for those of one dataset', async () => {
    const service = await startFeed(
      (after, page) =>
        page % LIMITS.emptyPages === 0
          ? { ids: [after + 1n], hasMore: page < 2 * LIMITS.emptyPages, nextCursor: after + 1n }
          : { hasMore: true, nextCursor: after + 1n },
      FAR,
    );
    expect(await pull(service)).toMatchObject({ changes: 2, cursor: BigInt(2 * LIMITS.emptyPages) });
    expect(countRecent(service)).toBeLessThan(3);
  });

  test.each<[string, (after: bigint, page: number) => (bigint | null)[]]>([
    ['one change per page', (after) => [after + 1n]],
    ['a change in every ninth page', (after, page) => (page % 9 === 0 ? [after + 1n] : [])],
    [
      'changes without an id, and sometimes one with an id',
      (after, page) => [null, null, ...(page % 9 === 0 ? [after + 1n] : [])],
    ],
  ])('is refused after a number of calls if it approaches its newest change slowly, with %s', async (_name, list) => {
    const service = await startFeed(
      (after, page) => ({ ids: list(after, page), hasMore: true, nextCursor: after + 1n }),
      FAR,
    );
    await expect(pull(service)).rejects.toMatchObject({
      code: 'contract',
      message: expect.stringMatching(/: hasMore is still true after \d+ pages with only \d+ changes$/),
      facts: { hint: expect.stringContaining('run the same command again') },
    });
    expect(service.urls.length).toBeLessThan(1.2 * LIMITS.feedPace.freePages);
  });

  test('that was refused for its slow pace is continued from there by the same command', async () => {
    const service = await startFeed((after) => ({ ids: [after + 1n], hasMore: true, nextCursor: after + 1n }), FAR);
    await expect(pull(service)).rejects.toMatchObject({ code: 'contract' });
    const asked = () => service.urls.filter((url) => url.includes('after='));
    const last = asked().at(-1);
    const part = { dataset: undefined, client: service.client, from: 0n };
    const next = await reopenLanding();
    const before = asked().length;
    await expect(
      landFeed(service.client, next, [part], true, { io: service.io, memory: fakePages().memory }),
    ).rejects.toMatchObject({ code: 'contract' });
    expect(asked()[before]).toBe(last);
    expect(new Set(await readLanded(next, 'feed.ndjson')).size).toBe(2 * (before - 1));
  });

  test('that grows as fast as it is read is read up to its newest change at that time, and dated by that time', async () => {
    const service = await startFeed(
      (after) => ({
        ids: Array.from({ length: 20 }, (_, n) => after + BigInt(n) + 1n),
        hasMore: true,
        nextCursor: after + 20n,
      }),
      (page) => BigInt(page) * 20n + 55n,
    );
    service.io.now = () => new Date(Date.UTC(2026, 10, 20, 12, 0, service.urls.length));
    const told: Progress[] = [];
    service.io.progress = (progress) => told.push(progress);
    const landed = await pull(service);
    const pages = LIMITS.longFeedPages + 3;
    // The total isn't requested separately, so it is known only once the run has requested the end.
    const totals = told.map(({ totalRows, isEstimate }) => [totalRows, isEstimate]);
    expect(totals.slice(0, LIMITS.longFeedPages - 1)).toEqual(Array(LIMITS.longFeedPages - 1).fill([undefined, true]));
    const end = 20n * BigInt(LIMITS.longFeedPages) + 55n;
    expect(totals.slice(LIMITS.longFeedPages - 1, -1)).toEqual(Array(3).fill([end, true]));
    expect(told.at(-1)).toMatchObject({ rows: BigInt(20 * pages), totalRows: BigInt(20 * pages), done: true });
    expect(landed).toMatchObject({ complete: true, changes: 20 * pages, cursor: BigInt(20 * pages) });
    expect(landed?.at).toBe(new Date(Date.UTC(2026, 10, 20, 12, 0, LIMITS.longFeedPages)).toISOString());
    expect(service.urls).toHaveLength(pages + 1);
  });

  test('with many pages is read to its end, even if /changes/recent lags behind it', async () => {
    const pages = 2 * LIMITS.longFeedPages;
    const service = await startFeed(
      (after, page) => ({ ids: [after + 1n], hasMore: page < pages, nextCursor: after + 1n }),
      7n,
    );
    expect(await pull(service)).toMatchObject({ complete: true, changes: pages, cursor: BigInt(pages) });
  });

  test('is refused if nextCursor is beyond the newest change, because the lake would miss all later changes', async () => {
    for (const ids of [[], [1n, 2n]]) {
      const service = await startFeed(() => ({ ids, hasMore: false, nextCursor: 9223372036854775807n }));
      await expect(pull(service)).rejects.toMatchObject({
        code: 'contract',
        message: expect.stringContaining(
          'nextCursor 9223372036854775807 is beyond the newest change of /changes/recent, 60',
        ),
        facts: { hint: expect.stringContaining('Nothing was published.') },
      });
    }
  });

  test("is read to the last readable change if its nextCursor includes changes that the key can't read", async () => {
    for (const hasMore of [false, true]) {
      const service = await startFeed((after) => ({ ids: after < NEWEST ? [NEWEST] : [], hasMore, nextCursor: 99n }));
      expect(await pull(service)).toMatchObject({ changes: 1, cursor: NEWEST, complete: true });
      expect(await pull(service, NEWEST)).toMatchObject({ changes: 0, cursor: NEWEST, complete: true });
      expect(service.urls).toHaveLength(4);
    }
  });

  test("of a dataset ends with the dataset's newest change if its nextCursor is beyond the newest change of all", async () => {
    const newest = new Map([
      [7n, 3n],
      [8n, NEWEST],
    ]);
    const service = await startService((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      const dataset = searchParams.get('dataset');
      const last = dataset === null ? NEWEST : (newest.get(BigInt(dataset)) ?? 0n);
      const isNews = pathname.endsWith('/recent') || BigInt(searchParams.get('after') ?? '') < last;
      sendJson(response, 200, `{"changes":[${isNews ? `{"id":${last}}` : ''}],"hasMore":false,"nextCursor":99}`);
    });
    const parts = listParts(service.client, [...newest.keys()]).map((part) => ({ ...part, from: 0n }));
    const landed = await landFeed(service.client, await openLanding(), parts, true, {
      io: service.io,
      memory: fakePages().memory,
    });
    expect(landed).toMatchObject({ changes: 2, cursor: NEWEST });
  });

  test('uses a nextCursor beyond the changes of its page if it is at most the newest change of all', async () => {
    const service = await startFeed(() => ({ ids: [3n], hasMore: false, nextCursor: NEWEST }));
    expect(await pull(service)).toMatchObject({ changes: 1, cursor: NEWEST });
    expect(countRecent(service)).toBe(1);
  });

  test('requests the newest change once, even if several pages have a nextCursor up to it', async () => {
    const service = await startFeed((after, page) => ({
      ids: [after + 1n],
      hasMore: page === 1,
      nextCursor: page === 1 ? 30n : NEWEST,
    }));
    expect(await pull(service)).toMatchObject({ cursor: NEWEST });
    expect(countRecent(service)).toBe(1);
  });

  test('needs no further call if nextCursor is the last change of its page', async () => {
    const service = await startFeed((after) => ({ ids: [after + 1n], hasMore: after < 4n, nextCursor: after + 1n }));
    expect(await pull(service)).toMatchObject({ changes: 5, cursor: 5n });
    expect(service.urls).toHaveLength(5);
  });
});
