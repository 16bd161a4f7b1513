import { stringify } from 'lossless-json';
import { expect, test } from 'vitest';
import { facetsAnswer, landFacets } from '../../src/source/datasets.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeClient } from './fake-client.js';
import { lastEntry, openLanding, reopenLanding } from './landing.js';

const category = { id: 1, name: 'Toys', slug: 'toys', path: 'Toys', items: 3 };

test('facets of a service that leaves out what is null are read: a category without parentId is a top one', () => {
  const answer = facetsAnswer.parse({ categories: [category], currencies: [], sites: [] });
  expect(JSON.parse(stringify(answer) ?? '').categories).toEqual([category]);
  expect(() =>
    facetsAnswer.parse({ categories: [{ ...category, items: undefined }], currencies: [], sites: [] }),
  ).toThrow();
});

test('facets land as the service sent them, and what has landed is not asked for again', async () => {
  const facets = { categories: [category], currencies: [{ code: 'EUR', items: 3 }], sites: [], more: 7 };
  const { client, asked } = fakeClient(() => facets);
  const io = createFakeIo();
  const answer = await landFacets(client, await openLanding(), io);
  expect(JSON.parse(answer)).toEqual(facets);
  expect(asked).toEqual([{ path: '/facets', query: {} }]);
  expect(io.events).toEqual([{ level: 'debug', event: 'landed', facts: { what: 'facets' } }]);
  const landing = await reopenLanding();
  expect(lastEntry(landing, 'facets')).toEqual({ type: 'facets', answer, calls: 1 });
  expect(await landFacets(client, landing, io)).toBe(answer);
  expect(asked).toHaveLength(1);
});
