import { describe, expect, test } from 'vitest';
import { landFeed } from '../../src/extract/feed.js';
import { MAX_EMPTY_PAGES } from '../../src/io/limits.js';
import { type LocalService, sendJson, startService } from '../api/local-service.js';
import { openLanding } from './landing.js';

const NEWEST = 60n;

/** Changes up to NEWEST as /changes/recent tells, and the pages of the feed as `answer` words them. */
function startFeed(answer: (after: bigint, page: number) => { ids?: bigint[]; hasMore: boolean; nextCursor: bigint }) {
  let pages = 0;
  return startService((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    const asked = url.pathname.endsWith('/recent')
      ? { ids: [NEWEST], hasMore: true, nextCursor: NEWEST }
      : answer(BigInt(url.searchParams.get('after') ?? ''), ++pages);
    const changes = (asked.ids ?? []).map((id) => `{"id":${id}}`).join(',');
    sendJson(response, 200, `{"changes":[${changes}],"hasMore":${asked.hasMore},"nextCursor":${asked.nextCursor}}`);
  });
}

async function pull(service: LocalService, from = 0n) {
  return landFeed(
    service.client,
    await openLanding(),
    [{ dataset: undefined, client: service.client, from }],
    true,
    service.io,
  );
}

const countRecent = ({ urls }: LocalService) => urls.filter((url) => url.includes('/changes/recent')).length;

describe('the feed', () => {
  test('that says without end that more waits, and brings empty pages, is refused after a few calls', async () => {
    const service = await startFeed((after) => ({ hasMore: true, nextCursor: after + 1n }));
    await expect(pull(service)).rejects.toMatchObject({
      code: 'contract',
      message: `/changes?after=${MAX_EMPTY_PAGES - 1}: ${MAX_EMPTY_PAGES} pages in a row have hasMore true and bring no change`,
    });
    expect(service.urls.length).toBeLessThanOrEqual(MAX_EMPTY_PAGES + 1);
  });

  test('may send empty pages between others, as one that looks through all changes for those of a dataset', async () => {
    const service = await startFeed((after, page) =>
      page % MAX_EMPTY_PAGES === 0
        ? { ids: [after + 1n], hasMore: after + 1n < 30n, nextCursor: after + 1n }
        : { hasMore: true, nextCursor: after + 1n },
    );
    expect(await pull(service)).toMatchObject({ changes: 3, cursor: 30n });
    // The answer holds for all cursors up to it.
    expect(countRecent(service)).toBe(1);
  });

  test('whose nextCursor is beyond the newest change would blind the lake for ever, and is refused', async () => {
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

  test('whose nextCursor is beyond the changes of its page is taken up to the newest change of all', async () => {
    const service = await startFeed(() => ({ ids: [3n], hasMore: false, nextCursor: NEWEST }));
    expect(await pull(service)).toMatchObject({ changes: 1, cursor: NEWEST });
    expect(countRecent(service)).toBe(1);
  });

  test('asks for the newest change once, however many pages have a nextCursor up to it', async () => {
    const service = await startFeed((after, page) => ({
      ids: [after + 1n],
      hasMore: page === 1,
      nextCursor: page === 1 ? 30n : NEWEST,
    }));
    expect(await pull(service)).toMatchObject({ cursor: NEWEST });
    expect(countRecent(service)).toBe(1);
  });

  test('whose nextCursor is the last change of its page costs no call more', async () => {
    const service = await startFeed((after) => ({ ids: [after + 1n], hasMore: after < 4n, nextCursor: after + 1n }));
    expect(await pull(service)).toMatchObject({ changes: 5, cursor: 5n });
    expect(service.urls).toHaveLength(5);
  });
});
