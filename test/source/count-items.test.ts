import { expect, test } from 'vitest';
import { countListed } from '../../src/source/datasets.js';
import { fakeClient } from './fake-client.js';

/** Counts of websites, and how many items are listed in each look. */
const serve = (...looks: bigint[]) =>
  fakeClient((path, _query, count) => {
    if (path === '/facets')
      return {
        sites: [
          { id: 1n, items: 2n },
          { id: 2n, items: 3n },
        ],
      };
    return { totalElements: looks[count / 2 - 1] };
  });
const sites = [
  { id: 1n, items: 2n },
  { id: 2n, items: 3n },
];

test('listed items are counted in all and by website', async () => {
  const { client, asked } = serve(5n);
  expect(await countListed(client)).toEqual({ items: 5n, sites });
  expect(asked).toEqual([
    { path: '/facets', query: {} },
    { path: '/items', query: { status: 'active', size: 1 } },
  ]);
});

test('counts that differ are looked at again, three times at most', async () => {
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
])('answers without counts are refused: %o, %o', async (facets, page) => {
  const { client } = fakeClient((path) => (path === '/facets' ? facets : page));
  await expect(countListed(client)).rejects.toMatchObject({ name: 'ZodError' });
});
