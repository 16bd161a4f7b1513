import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ApiClient } from '../../src/api/client.js';
import { PricelakeError } from '../../src/io/errors.js';
import { listParts, listSelectedParts } from '../../src/source/dataset-client.js';
import { fakeClient } from './fake-client.js';

test('a dataset is passed to every endpoint that accepts it, and to no other endpoint', async () => {
  const { client, asked } = fakeClient(() => ({}));
  const stream = async (path: string, query: object) => asked.push({ path, query: query as never });
  const [part] = listParts({ ...client, stream } as unknown as ApiClient, [5n]);
  const paths = ['/facets', '/items', '/changes', '/changes/recent', '/products', '/export', '/datasets', '/items/7'];
  for (const path of paths) {
    await part?.client.json(path, { size: 1 }, z.unknown());
    await part?.client.bytes(path, { size: 2 });
    await part?.client.stream(path, { size: 3 });
  }
  const narrowed = asked.filter(({ query }) => query.dataset === 5n);
  expect(narrowed.map(({ path, query }) => [path, query.size])).toEqual(
    paths.slice(0, 6).flatMap((path) => [
      [path, 1],
      [path, 2],
      [path, 3],
    ]),
  );
  expect(asked.filter(({ query }) => !('dataset' in query)).map(({ query }) => query)).toEqual(
    [1, 2, 3, 1, 2, 3].map((size) => ({ size })),
  );
});

test('the client itself is used for everything that the key can read', () => {
  const { client } = fakeClient(() => ({}));
  expect(listParts(client, [undefined])).toEqual([{ dataset: undefined, client }]);
  expect(listSelectedParts(client, 'all')).toEqual([{ dataset: undefined, client }]);
  expect(listSelectedParts(client, [3n, 4n]).map(({ dataset }) => dataset)).toEqual([3n, 4n]);
});

test("a refusal names the dataset that the plan doesn't include, and other errors stay unchanged", async () => {
  const refusals = [
    new PricelakeError('plan_refuses', 'no', { limit: 'datasets', hint: 'h' }),
    new PricelakeError('quota', 'no', { limit: 'apiCallsPerMonth' }),
    Object.assign(new Error('else'), { facts: { limit: 'datasets' } }),
  ];
  for (const [index, refusal] of refusals.entries()) {
    const refuse = () => {
      throw refusal;
    };
    const { client } = fakeClient(refuse);
    const stream = async () => refuse();
    const [part] = listParts({ ...client, stream } as unknown as ApiClient, [5n]);
    const calls = [
      part?.client.json('/items', {}, z.unknown()),
      part?.client.bytes('/items', {}),
      part?.client.stream('/export', {}),
    ];
    for (const call of calls) {
      const error = await call?.catch((error: unknown) => error);
      if (index > 0) expect(error).toBe(refusal);
      else {
        expect(error).toMatchObject({
          code: 'plan_refuses',
          message: "the plan doesn't include dataset 5: no",
          facts: { limit: 'datasets', hint: 'h', dataset: '5' },
          cause: refusal,
        });
      }
    }
  }
});
