import { expect, test } from 'vitest';
import { landDatasets, landFacets } from '../../src/source/datasets.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeClient } from './fake-client.js';
import { lastEntry, openLanding, reopenLanding } from './landing.js';

const DATASET = { id: 9007199254740993n, name: 'Prices', items: 5n, sites: 2, models: 1, healthyModels: 1 };

test('datasets are asked for once a run, and read from the journal as they came', async () => {
  const service = fakeClient(() => [{ ...DATASET, extra: 'x' }]);
  const [landing, io] = [await openLanding('asked'), createFakeIo()];
  const landed = await landDatasets(service.client, landing, io);
  expect(landed.datasets).toEqual([{ ...DATASET, extra: 'x' }]);
  expect(landed.readAt).toBe('2026-11-20T12:00:00.000Z');
  expect(landed.rows).toMatchObject([{ name: 'Prices', extra: 'x', items: 5 }]);
  expect(service.asked).toEqual([{ path: '/datasets', query: {} }]);
  expect(lastEntry(landing, 'datasets')).toMatchObject({
    answer: expect.stringContaining('"id":9007199254740993,'),
    calls: 1,
  });
  expect(io.events).toEqual([{ level: 'debug', event: 'landed', facts: { what: 'datasets' } }]);
  expect(await landDatasets(service.client, await reopenLanding(), io)).toEqual(landed);
  expect([service.asked.length, io.events.length]).toEqual([1, 1]);
});

test('datasets are dated by the clock of the service, as the times in them are', async () => {
  const service = fakeClient(() => [DATASET], new Date('2026-11-17T03:00:00Z'));
  const landed = await landDatasets(service.client, await openLanding('asked'), createFakeIo());
  expect(landed.readAt).toBe('2026-11-17T03:00:00.000Z');
});

test('of a dataset the service may leave out what is null, and nothing else', async () => {
  const io = createFakeIo();
  const { items: _items, ...lacking } = DATASET;
  const refused = landDatasets(fakeClient(() => [lacking]).client, await openLanding('asked'), io);
  await expect(refused).rejects.toThrow('items');
  const nulls = { description: null, newestScrapeAt: null, oldestScrapeAt: null };
  const landed = await landDatasets(
    fakeClient(() => [{ ...DATASET, ...nulls }]).client,
    await openLanding('asked'),
    io,
  );
  expect(landed.datasets).toEqual([{ ...DATASET, ...nulls }]);
  expect((await landDatasets(fakeClient(() => []).client, await openLanding('asked'), io)).datasets).toEqual([]);
});

test('facets are asked for once a run, and their answer is kept as text', async () => {
  const service = fakeClient(() => ({ categories: [], currencies: [], sites: [], more: 9007199254740993n }));
  const [landing, io] = [await openLanding('asked'), createFakeIo()];
  const answer = await landFacets(service.client, landing, io);
  expect(answer).toBe('{"categories":[],"currencies":[],"sites":[],"more":9007199254740993}');
  expect(service.asked).toEqual([{ path: '/facets', query: {} }]);
  expect(lastEntry(landing, 'facets')).toEqual({ type: 'facets', answer, calls: 1 });
  expect(io.events).toEqual([{ level: 'debug', event: 'landed', facts: { what: 'facets' } }]);
  expect(await landFacets(service.client, landing, io)).toBe(answer);
  expect(service.asked).toHaveLength(1);
});
