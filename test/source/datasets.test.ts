import { stringify } from 'lossless-json';
import { expect, test } from 'vitest';
import { countListed, landDatasets } from '../../src/source/datasets.js';
import { facetsAnswer, landFacets } from '../../src/source/facets.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeClient } from './fake-client.js';
import { lastEntry, openLanding, reopenLanding } from './landing.js';

const DATASET = { id: 9007199254740993n, name: 'Prices', items: 5n, sites: 2, models: 1, healthyModels: 1 };

test('datasets are requested once per run, and read back from the journal unchanged', async () => {
  const service = fakeClient(() => [{ ...DATASET, extra: 'x' }]);
  const [landing, io] = [await openLanding('asked'), createFakeIo()];
  const landed = await landDatasets(service.client, landing, io, 2);
  expect(landed.datasets).toEqual([{ ...DATASET, extra: 'x' }]);
  expect(landed).toMatchObject({ readAt: '2026-11-20T12:00:00.000Z', locked: 2 });
  expect(landed.rows).toMatchObject([{ name: 'Prices', extra: 'x', items: 5 }]);
  expect(service.asked).toEqual([{ path: '/datasets', query: {} }]);
  expect(lastEntry(landing, 'datasets')).toMatchObject({
    answer: expect.stringContaining('"id":9007199254740993,'),
    calls: 1,
  });
  expect(io.events).toEqual([{ level: 'debug', event: 'landed', facts: { what: 'datasets' } }]);
  expect(await landDatasets(service.client, await reopenLanding(), io, 0)).toEqual(landed);
  expect([service.asked.length, io.events.length]).toEqual([1, 1]);
});

test("datasets are dated by the service's clock, like the times in them", async () => {
  const service = fakeClient(() => [DATASET], new Date('2026-11-17T03:00:00Z'));
  const landed = await landDatasets(service.client, await openLanding('asked'), createFakeIo(), undefined);
  expect(landed.readAt).toBe('2026-11-17T03:00:00.000Z');
});

test('the service may leave out null fields of a dataset, but no other fields', async () => {
  const io = createFakeIo();
  const { items: _items, ...lacking } = DATASET;
  const refused = landDatasets(fakeClient(() => [lacking]).client, await openLanding('asked'), io, 0);
  await expect(refused).rejects.toThrow('items');
  const nulls = { description: null, newestScrapeAt: null, oldestScrapeAt: null };
  const landed = await landDatasets(
    fakeClient(() => [{ ...DATASET, ...nulls }]).client,
    await openLanding('asked'),
    io,
    0,
  );
  expect(landed.datasets).toEqual([{ ...DATASET, ...nulls }]);
  const none = await landDatasets(fakeClient(() => []).client, await openLanding('asked'), io, 0);
  expect(none.datasets).toEqual([]);
});

const category = { id: 1, name: 'Toys', slug: 'toys', path: 'Toys', items: 3 };

test('facets without null fields are accepted: a category without parentId is a top-level category', () => {
  const answer = facetsAnswer.parse({ categories: [category], currencies: [], sites: [] });
  expect(JSON.parse(stringify(answer) ?? '').categories).toEqual([category]);
  expect(() =>
    facetsAnswer.parse({ categories: [{ ...category, items: undefined }], currencies: [], sites: [] }),
  ).toThrow();
});

test("facets land exactly as the service sent them, and aren't requested again", async () => {
  const more = 9007199254740993n;
  const facets = { categories: [category], currencies: [{ code: 'EUR', items: 3 }], sites: [], more };
  const { client, asked } = fakeClient(() => facets);
  const io = createFakeIo();
  const answer = await landFacets(client, await openLanding(), io);
  expect(answer).toBe(stringify(facets));
  expect(asked).toEqual([{ path: '/facets', query: {} }]);
  expect(io.events).toEqual([{ level: 'debug', event: 'landed', facts: { what: 'facets' } }]);
  const landing = await reopenLanding();
  expect(lastEntry(landing, 'facets')).toEqual({ type: 'facets', answer, calls: 1 });
  expect(await landFacets(client, landing, io)).toBe(answer);
  expect(asked).toHaveLength(1);
});

const sites = [
  { id: 1n, items: 2n },
  { id: 2n, items: 3n },
];

/** The counts of websites, and the number of listed items in each reading. */
const serve = (...looks: bigint[]) =>
  fakeClient((path, _query, count) => {
    if (path === '/facets') return { sites };
    return { totalElements: looks[count / 2 - 1] };
  });
test('listed items are counted in total and by website', async () => {
  const { client, asked } = serve(5n);
  expect(await countListed(client)).toEqual({ items: 5n, sites });
  expect(asked).toEqual([
    { path: '/facets', query: {} },
    { path: '/items', query: { status: 'active', size: 1 } },
  ]);
});

test('counts that differ are read again, at most three times', async () => {
  const moving = serve(4n, 5n);
  expect(await countListed(moving.client)).toEqual({ items: 5n, sites });
  expect(moving.asked).toHaveLength(4);
  const odd = serve(4n, 4n, 6n, 5n);
  expect(await countListed(odd.client)).toEqual({ items: 6n, sites });
  expect(odd.asked).toHaveLength(6);
});

test.each([
  [{ sites: [{ id: 1n, items: '2' }] }, { totalElements: 2n }],
  [{ sites: [{ id: '1', items: 2n }] }, { totalElements: 2n }],
  [{}, { totalElements: 2n }],
  [{ sites: [{ id: 1n, items: 2n }] }, { totalElements: '2' }],
])('answers without valid counts are refused: %o, %o', async (facets, page) => {
  const { client } = fakeClient((path) => (path === '/facets' ? facets : page));
  await expect(countListed(client)).rejects.toMatchObject({ name: 'ZodError' });
});
