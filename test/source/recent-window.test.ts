import { expect, test } from 'vitest';
import { findRecentWindow } from '../../src/source/watermark.js';
import { fakeClient } from './fake-client.js';

const NEWEST = Date.UTC(2026, 10, 20, 12);

/** A client of changes `minutes` old, the newest first, pages of two; ids fall by ten from 1000. */
function serve(minutes: (number | undefined)[], pageSize = 2) {
  const changes = minutes.map((age, index) => ({
    id: 1000n - BigInt(index) * 10n,
    ...(age === undefined ? {} : { observedAt: new Date(NEWEST - age * 60_000).toISOString() }),
  }));
  return fakeClient((_path, { before }) => {
    const left = changes.filter(({ id }) => before === undefined || id < Number(before));
    return { changes: left.slice(0, pageSize), hasMore: left.length > pageSize };
  });
}

test('the window begins behind the newest change that is more than an hour older than the newest', async () => {
  const { asked, client } = serve([0, 20, 59, 61, 90, 300]);
  expect(await findRecentWindow(client)).toEqual({ newest: 1000n, from: 970n });
  expect(asked).toEqual([
    { path: '/changes/recent', query: { limit: 200 } },
    { path: '/changes/recent', query: { limit: 200, before: 990n } },
  ]);
});

test('a change that is an hour older to the millisecond is in the window', async () => {
  expect(await findRecentWindow(serve([0, 60, 60.001]).client)).toEqual({ newest: 1000n, from: 980n });
});

test('where nothing is older, it begins before the first change', async () => {
  const { asked, client } = serve([0, 20, 40]);
  expect(await findRecentWindow(client)).toEqual({ newest: 1000n, from: 979n });
  expect(asked).toHaveLength(2);
});

test('without changes it is empty', async () => {
  expect(await findRecentWindow(serve([]).client)).toEqual({ newest: 0n, from: 0n });
});

test('it ends after 25 pages, and where a service repeats a page', async () => {
  const busy = serve(Array.from({ length: 200 }, () => 0));
  expect(await findRecentWindow(busy.client)).toEqual({ newest: 1000n, from: 1000n - 490n });
  expect(busy.asked).toHaveLength(25);
  const page = { changes: [{ id: 5n, observedAt: new Date(NEWEST).toISOString() }], hasMore: true };
  expect(await findRecentWindow(fakeClient(() => page).client)).toEqual({ newest: 5n, from: 4n });
  const empty = fakeClient((_path, _query, count) => (count === 1 ? page : { changes: [], hasMore: true }));
  expect(await findRecentWindow(empty.client)).toEqual({ newest: 5n, from: 4n });
});

test.each([{}, { changes: [{ id: '5' }] }, { changes: [{ id: 5n, observedAt: 7 }] }])(
  '%o is no answer',
  async (page) => {
    await expect(findRecentWindow(fakeClient(() => page).client)).rejects.toMatchObject({ name: 'ZodError' });
  },
);

test('changes without a time that can be read count as recent', async () => {
  expect(await findRecentWindow(serve([0, undefined, undefined]).client)).toEqual({ newest: 1000n, from: 979n });
});
