import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Query } from '../../src/api/client.js';
import { PricelakeError } from '../../src/io/errors.js';
import type { Progress } from '../../src/io/io.js';
import { choosePage, landProducts } from '../../src/wings/products/land-products.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeClient } from './fake-client.js';
import { lastEntry, listEntries, openLanding, readLanded, reopenLanding } from './landing.js';

/** Serves this many products in pages of the requested size. */
function page(total: number, { page, size }: Query) {
  const [from, rows] = [Number(page) * Number(size), Number(size)];
  const content = Array.from({ length: Math.max(0, Math.min(rows, total - from)) }, (_, n) => ({ id: from + n }));
  return { content, totalElements: total, totalPages: Math.ceil(total / rows) };
}
const pagesOf = ({ asked }: ReturnType<typeof fakeClient>) => asked.map(({ query }) => query.page);

test('all products are read page by page, those with most offers first, once per run', async () => {
  const service = fakeClient((_path, query) => page(450, query));
  const landing = await openLanding();
  const told: Progress[] = [];
  const io = { ...createFakeIo(), progress: (update: Progress) => told.push(update) };
  const files = await landProducts(service.client, landing, undefined, io);
  expect(service.asked).toEqual(
    [0, 1, 2].map((number) => ({ path: '/products', query: { sort: '-offers', size: 200, page: number } })),
  );
  expect(files).toMatchObject([{ path: path.join(landing.folder, 'products-00001.ndjson'), rows: 450 }]);
  expect(await readLanded(landing, 'products-00001.ndjson')).toHaveLength(450);
  expect(told.map(({ part, rows, totalRows, done }) => [part, rows, totalRows, done])).toEqual([
    ['products', 200n, 450n, false],
    ['products', 400n, 450n, false],
    ['products', 450n, 450n, true],
  ]);
  expect(lastEntry(landing, 'products.done')).toEqual({ type: 'products.done', whole: true, calls: 3 });
  expect(await landProducts(service.client, landing, undefined, io)).toEqual(files);
  expect(service.asked).toHaveLength(3);
});

test('a sample is one page', async () => {
  const service = fakeClient((_path, query) => page(1000, query));
  const landing = await openLanding();
  expect(await landProducts(service.client, landing, 3, createFakeIo())).toMatchObject([{ rows: 200 }]);
  expect(pagesOf(service)).toEqual([3]);
  expect(lastEntry(landing, 'products.done')).toMatchObject({ whole: false });
});

test("a sample that landed before an interruption isn't requested again", async () => {
  const service = fakeClient((_path, query) => page(1000, query));
  const cut = await openLanding();
  await landProducts(service.client, cut, 3, createFakeIo());
  const journal = path.join(cut.folder, 'journal.ndjson');
  const [done = '', ...before] = readFileSync(journal, 'utf8').trimEnd().split('\n').reverse();
  expect(done).toContain('products.done');
  writeFileSync(journal, `${before.reverse().join('\n')}\n`);
  const landing = await reopenLanding();
  expect(await landProducts(service.client, landing, 3, createFakeIo())).toMatchObject([{ rows: 200 }]);
  expect(pagesOf(service)).toEqual([3]);
});

test('an empty page is the last one, whatever is announced; an invalid page is refused by its number', async () => {
  const endless = fakeClient((_path, query) => ({ ...page(0, query), totalPages: 9 }));
  await landProducts(endless.client, await openLanding(), undefined, createFakeIo());
  expect(pagesOf(endless)).toEqual([0]);
  const wrong = fakeClient(() => ({ content: 7 }));
  await expect(landProducts(wrong.client, await openLanding(), 4, createFakeIo())).rejects.toMatchObject({
    code: 'contract',
    message: expect.stringContaining("/products?page=4: the response doesn't match the page format"),
  });
});

test('without products, no file is written', async () => {
  const service = fakeClient((_path, query) => page(0, query));
  const landing = await openLanding();
  expect(await landProducts(service.client, landing, undefined, createFakeIo())).toEqual([]);
  expect([pagesOf(service), listEntries(landing, 'products.page')]).toEqual([[0], []]);
});

test('an interrupted run continues at the page that it reached', async () => {
  const stopped = new PricelakeError('stopped', 'stopped');
  const broken = fakeClient((_path, query, count) => {
    if (count === 3) throw stopped;
    return page(450, query);
  });
  await expect(landProducts(broken.client, await openLanding(), undefined, createFakeIo())).rejects.toBe(stopped);
  const landing = await reopenLanding();
  const service = fakeClient((_path, query) => page(450, query));
  const told: Progress[] = [];
  const io = { ...createFakeIo(), progress: (update: Progress) => told.push(update) };
  const files = await landProducts(service.client, landing, undefined, io);
  expect(pagesOf(service)).toEqual([2]);
  expect(files.map(({ rows }) => rows)).toEqual([400, 50]);
  expect(told.map(({ rows }) => rows)).toEqual([450n]);
});

test("successive samples go through all pages of the lake's products", () => {
  expect([0n, 1n, 200n].map((products) => choosePage(products, 5n))).toEqual([0, 0, 0]);
  expect([0n, 1n, 2n, 3n].map((seed) => choosePage(201n, seed))).toEqual([0, 1, 0, 1]);
  const pages = Array.from({ length: 7 }, (_, seed) => choosePage(1201n, BigInt(seed)));
  expect(pages.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(choosePage(1200n, 1n)).toBe(7919 % 6);
});
