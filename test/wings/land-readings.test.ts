import { describe, expect, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import type { Landing } from '../../src/journal/landings.js';
import { findListing, findListingPlan } from '../../src/journal/listing.js';
import type { Reading } from '../../src/wings/listing/choose-readings.js';
import { landCounts, landReading, landSingles } from '../../src/wings/listing/land-readings.js';
import { createFakeIo } from '../api/fake-io.js';
import { type LocalService, sendJson, startService } from '../api/local-service.js';
import { fakeClient } from '../source/fake-client.js';
import { lastEntry, listEntries, openLanding, readLanded, reopenLanding } from '../source/landing.js';

const ALL: Reading = { status: 'active', site: 12n, removals: null };
const NEWEST: Reading = { status: 'removed', site: null, removals: 700n };

/** Serves this many items in pages of the requested size. A single item exists if its id is even. */
function startItems(items: number, refuseAt = 0): Promise<LocalService> {
  return startService((request, response, count) => {
    const url = new URL(request.url ?? '', 'http://x');
    const error = (status: number) => sendJson(response, status, { status, error: '', message: '', docsUrl: '' });
    if (count === refuseAt) return error(401);
    const [, id] = /\/items\/(\d+)$/.exec(url.pathname) ?? [];
    if (id !== undefined) return Number(id) % 2 === 0 ? sendJson(response, 200, { id: Number(id) }) : error(404);
    const [size, page] = ['size', 'page'].map((name) => Number(url.searchParams.get(name))) as [number, number];
    const content = Array.from({ length: Math.min(size, items - page * size) }, (_, n) => ({ id: page * size + n }));
    sendJson(response, 200, { content, page, size, totalElements: items, totalPages: Math.ceil(items / size) });
  });
}

const refuse = (path: string) => {
  throw new PricelakeError('not_found', path);
};

async function openPlanned(): Promise<Landing> {
  const landing = await openLanding('landed');
  const plan = { news: false, readings: [], limit: null, wanted: 3n, calls: 0 };
  await landing.journal.append({ type: 'listing.plan', ...plan });
  return landing;
}

const read = (
  { client, io }: Pick<LocalService, 'client' | 'io'>,
  landing: Landing,
  reading: Reading,
  countListed = async (ids: readonly bigint[]) => BigInt(ids.length),
  pages = 9,
) => landReading({ dataset: undefined, client }, landing, reading, { countListed, pages }, io);

const pagesOf = ({ urls }: LocalService) => urls.map((url) => url.replace('/api/v1/items?', ''));

describe('reading pages of listing states', () => {
  test('reads all items of a website, newest listings first, and journals their total', async () => {
    const service = await startItems(1_200);
    const landing = await openPlanned();
    await read(service, landing, ALL);
    expect(pagesOf(service)).toEqual(
      [0, 1, 2].map((page) => `status=active&site=12&sort=-firstSeen&size=500&page=${page}`),
    );
    const ended = lastEntry(landing, 'listing.read');
    expect(ended).toMatchObject({ files: ['listing-00001.ndjson'], total: 1_200n });
    expect(await readLanded(landing, 'listing-00001.ndjson')).toHaveLength(1_200);
  });

  test('continues at the page where it stopped', async () => {
    const service = await startItems(1_200, 3);
    await expect(read(service, await openPlanned(), ALL)).rejects.toMatchObject({ code: 'unauthorized' });
    const landing = await reopenLanding();
    await read(service, landing, ALL);
    expect(pagesOf(service).map((query) => query.at(-1))).toEqual(['0', '1', '2', '2']);
    expect(lastEntry(landing, 'listing.read')?.files).toEqual(['listing-00001.ndjson', 'listing-00002.ndjson']);
  });

  test('ends with the newest removals when as many are found as are missing, or when a page has none of them', async () => {
    const service = await startItems(5_000);
    const landing = await openPlanned();
    await read(service, landing, NEWEST);
    expect(pagesOf(service)).toEqual([0, 1].map((page) => `status=removed&sort=-lastSeen&size=500&page=${page}`));
    expect(lastEntry(landing, 'listing.read')?.total).toBeNull();
    await read(service, landing, NEWEST, async () => 0n);
    expect(pagesOf(service)).toHaveLength(3);
  });

  test('counts the ids on each page of the newest removals, and ends when exactly as many are found', async () => {
    const service = await startItems(2_000);
    const counted: bigint[] = [];
    const countListed = async (ids: readonly bigint[]) => BigInt(counted.push(...ids) && ids.length);
    await read(service, await openPlanned(), { ...NEWEST, removals: 1_000n }, countListed);
    expect(counted).toEqual(Array.from({ length: 1_000 }, (_, id) => BigInt(id)));
  });

  test('journals no total for the newest removals, even if all pages were read', async () => {
    const service = await startItems(300);
    const landing = await openPlanned();
    await read(service, landing, NEWEST);
    expect(lastEntry(landing, 'listing.read')?.total).toBeNull();
  });

  test('reads no more pages of the newest removals than allowed', async () => {
    const service = await startItems(5_000);
    await read(service, await openPlanned(), NEWEST, async () => 1n, 3);
    expect(pagesOf(service)).toHaveLength(3);
  });

  test('ends at an empty page, regardless of the announced number of pages, and journals no file for it', async () => {
    const { client, asked } = fakeClient((_path, { page }) => ({
      content: page === 0 ? [{ id: 7 }] : [],
      totalElements: 1,
      totalPages: 9,
    }));
    const landing = await openPlanned();
    const io = createFakeIo();
    await read({ client, io }, landing, ALL);
    expect(asked.map(({ query }) => query.page)).toEqual([0, 1]);
    expect(listEntries(landing, 'listing.page')).toMatchObject([{ rows: 1, readAt: io.now().toISOString(), calls: 1 }]);
    const ended = { files: ['listing-00001.ndjson'], total: 1n, calls: 2 };
    expect(lastEntry(landing, 'listing.read')).toMatchObject(ended);
  });

  test("refuses a page that doesn't contain items, and names its number", async () => {
    const { client } = fakeClient((_path, { page }) =>
      page === 0 ? { content: [{ id: 7 }], totalElements: 2, totalPages: 2 } : [],
    );
    await expect(read({ client, io: createFakeIo() }, await openPlanned(), ALL)).rejects.toMatchObject({
      code: 'contract',
      message: expect.stringContaining("/items?page=1: the response doesn't match the page format"),
    });
  });

  test('journals the counts of listed items unchanged, with their dataset and whether the poll returns removals', async () => {
    const facets = { categories: [], currencies: [], sites: [{ id: 3, name: 'A', host: 'a.example', items: 4 }] };
    const { client, asked } = fakeClient(() => facets);
    const landing = await openLanding('landed');
    await landCounts({ client, dataset: 5n }, landing, true);
    expect(asked).toEqual([{ path: '/facets', query: {} }]);
    const { answer, ...entry } = lastEntry(landing, 'listing.counts') ?? { answer: '' };
    expect(entry).toEqual({ type: 'listing.counts', dataset: 5n, returnsRemovals: true, calls: 1 });
    expect(JSON.parse(answer)).toEqual(facets);
  });

  test('lands an item that is read alone as its own page, with its dataset and the time of the read', async () => {
    const { client } = fakeClient(() => ({ id: 2 }));
    const landing = await openPlanned();
    const io = createFakeIo();
    await landSingles({ dataset: 5n, client }, landing, [2n], io);
    const place = { file: 'listing-00001.ndjson', end: 9, rows: 1 };
    expect(listEntries(landing, 'listing.page')).toMatchObject([
      { type: 'listing.page', ...place, readAt: io.now().toISOString(), dataset: 5n, calls: 1 },
    ]);
    await landSingles({ dataset: 5n, client: fakeClient(refuse).client }, landing, [4n], io);
    expect(listEntries(landing, 'listing.gone')).toEqual([{ type: 'listing.gone', itemId: 4n, calls: 1 }]);
  });

  test('reads items one by one, and journals those that are gone', async () => {
    const service = await startItems(0);
    const landing = await openPlanned();
    await landSingles({ dataset: undefined, client: service.client }, landing, [2n, 3n, 4n], service.io);
    expect(listEntries(landing, 'listing.gone').map(({ itemId }) => itemId)).toEqual([3n]);
    const listing = findListing(landing.journal.state.listing, undefined);
    expect(findListingPlan(listing)).toBeDefined();
    expect((await readLanded(landing, listing.open.files[0] ?? '')).sort()).toEqual(['{"id":2}', '{"id":4}']);
  });
});
