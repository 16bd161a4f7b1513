import { describe, expect, test } from 'vitest';
import { FEED_FILE, landFeed } from '../../src/extract/feed.js';
import { type LocalService, sendJson, startService } from '../api/local-service.js';
import { openLanding, readLanded, reopenLanding } from './landing.js';

const LAST = 9007199254741000n;
const PAGE = 3n;

/** A feed up to LAST, three changes a page; the answer to request number `breakAt` is a fault. */
function startFeed(options: { breakAt?: number } = {}): Promise<LocalService> {
  return startService((request, response, count) => {
    if (count === options.breakAt) return sendJson(response, 401, { status: 401, error: '', message: '', docsUrl: '' });
    const after = BigInt(new URL(request.url ?? '', 'http://x').searchParams.get('after') ?? '');
    const ids: bigint[] = [];
    for (let id = after + 1n; id <= LAST && ids.length < Number(PAGE); id++) ids.push(id);
    const cursor = ids.at(-1) ?? after;
    const changes = ids.map((id) => `{"id":${id},\n"kind":"NEW"}`).join(',');
    sendJson(response, 200, `{"changes":[${changes}],"hasMore":${cursor < LAST},"nextCursor":${cursor}}`);
  });
}

const partOf = ({ client }: LocalService, from: bigint) => [{ dataset: undefined, client, from }];

const asked = ({ urls }: LocalService) => urls.map((url) => BigInt(/after=(\d+)/.exec(url)?.[1] ?? ''));

describe('the feed', () => {
  test('lands each change on a line until nothing more waits, in one call a page', async () => {
    const service = await startFeed();
    const landing = await openLanding();
    const landed = await landFeed(service.client, landing, partOf(service, LAST - 8n), true, service.io);
    expect(asked(service)).toEqual([LAST - 8n, LAST - 5n, LAST - 2n]);
    expect(service.urls[0]).toContain('limit=1000');
    expect(landed).toMatchObject({ changes: 8, cursor: LAST });
    const lines = await readLanded(landing, FEED_FILE);
    expect(lines[0]).toBe(`{"id":${LAST - 7n}, "kind":"NEW"}`);
    expect(lines).toHaveLength(8);
    expect(landing.journal.all('feed.page').map((page) => page.rows)).toEqual([3, 3, 2]);
  });

  test('that has nothing new costs one call and lands no row', async () => {
    const service = await startFeed();
    const landed = await landFeed(service.client, await openLanding(), partOf(service, LAST), true, service.io);
    expect(landed).toMatchObject({ changes: 0, bytes: 0, cursor: LAST });
    expect(service.urls).toHaveLength(1);
  });

  test('that was interrupted goes on behind the last page that landed, and asks for none twice', async () => {
    const broken = await startFeed({ breakAt: 3 });
    const landing = await openLanding();
    await expect(landFeed(broken.client, landing, partOf(broken, LAST - 8n), true, broken.io)).rejects.toMatchObject({
      code: 'unauthorized',
    });
    const service = await startFeed();
    const next = await reopenLanding();
    const landed = await landFeed(service.client, next, partOf(service, LAST - 8n), true, service.io);
    expect(asked(service)).toEqual([LAST - 2n]);
    expect(landed).toMatchObject({ changes: 8, cursor: LAST });
    expect(new Set(await readLanded(next, FEED_FILE)).size).toBe(8);
  });

  test('that is landed whole is not asked for again', async () => {
    const service = await startFeed();
    const first = await landFeed(service.client, await openLanding(), partOf(service, LAST - 4n), true, service.io);
    const again = await landFeed(service.client, await reopenLanding(), partOf(service, LAST - 4n), true, service.io);
    expect(again).toEqual(first);
    expect(service.urls).toHaveLength(2);
  });

  test('that the plan has lost ends with what has landed of it, without a call', async () => {
    const broken = await startFeed({ breakAt: 3 });
    const landing = await openLanding();
    await expect(landFeed(broken.client, landing, partOf(broken, LAST - 8n), true, broken.io)).rejects.toThrow();
    const landed = await landFeed(broken.client, await reopenLanding(), partOf(broken, LAST - 8n), false, broken.io);
    expect(landed).toMatchObject({ changes: 6, cursor: LAST - 2n, complete: false });
    expect(broken.urls).toHaveLength(3);
  });

  test('of a plan without it is nothing', async () => {
    const service = await startFeed();
    expect(await landFeed(service.client, await openLanding(), partOf(service, 0n), false, service.io)).toBeUndefined();
    expect(service.urls).toEqual([]);
  });
});
