import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorBody } from '../../../src/api/account-contract.js';
import { facets, historyEntry, item, itemPage } from '../../../src/api/contract.js';
import { micros, parse, Service } from '../service.js';

type Item = z.infer<typeof item>;
const service = await Service.start({ items: 1200 });
const { items: all } = await service.readTruth();
const listed = all.filter(({ removedAt }) => removedAt === null);
afterAll(() => service.close());

async function readPages(query: string, size = 500): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 0; ; page++) {
    const answer = await service.read(`/items?size=${size}&page=${page}&${query}`, itemPage);
    expect(answer).toMatchObject({ page, size, totalPages: Math.ceil(Number(answer.totalElements) / size) });
    items.push(...answer.content);
    if (page + 1 >= answer.totalPages) return items;
  }
}

const ids = (items: Item[]) => items.map(({ id }) => id).sort();
/** The items that a query finds are exactly these. */
async function expectFound(query: string, expected: Item[]): Promise<void> {
  expect(expected.length).toBeGreaterThan(0);
  expect(ids(await readPages(query))).toEqual(ids(expected));
}

describe('§4 /items: a page of items, filtered and sorted', () => {
  it('page starts at 0, which is the default, and a page after the last one is empty', async () => {
    const first = await service.read('/items?size=20', itemPage);
    expect(first.page).toBe(0);
    expect(await service.read('/items?size=20&page=0', itemPage)).toEqual(first);
    const behind = await service.read('/items?size=20&page=1000', itemPage);
    expect(behind).toMatchObject({ content: [], page: 1000, totalElements: first.totalElements });
  });

  it('the pages contain every item exactly once', async () => {
    const items = await readPages('', 97);
    expect(ids(items)).toEqual(ids(listed));
  });

  it('dataset: only items in this dataset, which must be visible; without it, items of all visible ones', async () => {
    const datasets = JSON.parse((await service.get('/datasets')).text) as { id: number; name: string }[];
    for (const { id, name } of datasets.slice(0, 3)) {
      await expectFound(
        `dataset=${id}`,
        listed.filter((one) => one.datasets.includes(name)),
      );
    }
    await expectFound('', listed);
  });

  it('site: only items of this website, with its id from /facets', async () => {
    const { sites } = await service.read('/facets', facets);
    for (const { id } of sites.slice(0, 3))
      await expectFound(
        `site=${id}`,
        listed.filter(({ site }) => site.id === id),
      );
  });

  it('category: a slug, including its subcategories', async () => {
    const { categories } = await service.read('/facets', facets);
    for (const { slug, path } of categories.slice(0, 6)) {
      await expectFound(
        `category=${slug}`,
        listed.filter(({ category }) => `${category?.path} > `.startsWith(`${path} > `)),
      );
    }
    expect(await readPages('category=no-such')).toEqual([]);
  });

  it('q: all words must occur, in any order, also as parts of words', async () => {
    const holds = (one: Item, word: string) => JSON.stringify(Object.values(one), plain).toLowerCase().includes(word);
    const one = listed.find(({ title, brand }) => title !== null && brand !== null) as Item;
    const words = [one.brand?.slice(1, 5) ?? '', (one.mpn ?? one.title ?? '').slice(0, 4)].map((word) =>
      word.toLowerCase(),
    );
    const found = await readPages(`q=${encodeURIComponent(words.join(' '))}`);
    expect(ids(found)).toContain(one.id);
    expect(ids(await readPages(`q=${encodeURIComponent(words.reverse().join('  ').toUpperCase())}`))).toEqual(
      ids(found),
    );
    for (const hit of found) for (const word of words) expect(holds(hit, word)).toBe(true);
    expect(await readPages(`q=${encodeURIComponent(`${words[0]} nowhere`)}`)).toEqual([]);
  });

  it('q searches title, brand, codes and other values', async () => {
    const one = listed.find(({ gtin, mpn }) => gtin !== null && mpn !== null) as Item;
    for (const word of [one.brand, one.mpn, one.gtin]) {
      expect(ids(await readPages(`q=${encodeURIComponent(word ?? '')}`))).toContain(one.id);
    }
    await expectFound(
      'q=m%C3%B6glich',
      listed.filter(({ attributes }) => 'delivery' in attributes),
    );
  });

  it.each<[what: string, query: string, isFound: (one: Item) => boolean]>([
    [
      'minPrice and maxPrice: lowest and highest price, in the item’s currency',
      'minPrice=9.99&maxPrice=20',
      ({ price, removedAt }) => removedAt === null && price !== null && price >= 9.99 && price <= 20,
    ],
    ['minPrice alone', 'minPrice=500', ({ price, removedAt }) => removedAt === null && (price ?? 0) >= 500],
    ['maxPrice alone', 'maxPrice=5', ({ price, removedAt }) => removedAt === null && (price ?? 6) <= 5],
    ['currency: an ISO 4217 code', 'currency=PLN', (one) => one.removedAt === null && one.currency === 'PLN'],
    ['status active is the default', 'status=active', ({ removedAt }) => removedAt === null],
    ['status: removed is no longer listed', 'status=removed', ({ removedAt }) => removedAt !== null],
    ['status: all is both', 'status=all', () => true],
    [
      'filters add up',
      'currency=EUR&minPrice=10&status=all&changedSince=2026-10-01T00:00:00Z',
      (one) => one.currency === 'EUR' && (one.price ?? 0) >= 10 && one.lastChangedAt > '2026-10-01',
    ],
  ])('%s', (_, query, isFound) => expectFound(query, all.filter(isFound)));

  it('changedSince: only items with a change after this time', async () => {
    const times = listed.map(({ lastChangedAt }) => lastChangedAt).sort();
    const since = times[Math.floor(times.length / 2)] as string;
    await expectFound(
      `changedSince=${since}`,
      listed.filter((one) => micros(one.lastChangedAt) > micros(since)),
    );
    const [utc, offset] = ['2026-11-01T00:00:00Z', '2026-11-01T02:00:00%2B02:00'];
    expect(ids(await readPages(`changedSince=${offset}`))).toEqual(ids(await readPages(`changedSince=${utc}`)));
  });

  it('gtin: the same product in every shop; leading zeros may be left out', async () => {
    const bare = (one: Item) => one.gtin?.replace(/^0+/, '');
    const padded = listed.find((one) => one.gtin !== bare(one) && one.gtin !== null) as Item;
    const digits = bare(padded) as string;
    const offers = listed.filter((one) => bare(one) === digits);
    await expectFound(`gtin=${digits}`, offers);
    await expectFound(`gtin=${digits.padStart(14, '0')}`, offers);
  });

  it.each([
    ['-lastChanged', 'lastChangedAt'],
    ['-lastSeen', 'lastSeenAt'],
    ['-firstSeen', 'firstSeenAt'],
  ] as const)('sort %s: the newest first', async (sort, field) => {
    const times = (await readPages(`sort=${sort}&status=all`)).map((one) => micros(one[field]));
    expect(times).toEqual([...times].sort().reverse());
  });

  it('sort is -lastChanged by default', async () => {
    expect(await readPages('')).toEqual(await readPages('sort=-lastChanged'));
  });

  it('sort price is lowest first, -price highest first', async () => {
    for (const [sort, sign] of [
      ['price', 1],
      ['-price', -1],
    ] as const) {
      const prices = (await readPages(`sort=${sort}`)).flatMap(({ price }) => price ?? []);
      expect(prices).toEqual([...prices].sort((a, b) => sign * (a - b)));
    }
  });

  it('sort title: by title', async () => {
    const titles = (await readPages('sort=title')).flatMap(({ title }) => title ?? []);
    expect(titles).toEqual([...titles].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  });
});

describe('§4 /items/{id} and /items/{id}/history', () => {
  it('returns the current item, even if it is no longer listed', async () => {
    for (const one of [listed[0], all.find(({ removedAt }) => removedAt !== null)]) {
      expect(one?.id).toBeGreaterThan(2n ** 53n);
      expect(await service.read(`/items/${one?.id}`, item)).toEqual(one);
    }
  });

  it('history: every change within the plan’s history, oldest first, up to the current state', async () => {
    for (const one of all.filter(({ previousPrice }) => previousPrice !== null).slice(0, 20)) {
      const history = await service.read(`/items/${one.id}/history`, z.array(historyEntry));
      expect(history[0]).toMatchObject({ kind: 'NEW', observedAt: one.firstSeenAt, previousPrice: null });
      expect(history.at(-1)).toMatchObject({ observedAt: one.lastChangedAt, price: one.price });
      const times = history.map(({ observedAt }) => micros(observedAt));
      expect(times).toEqual([...times].sort());
    }
  });

  it('404: for items that the caller can not see', async () => {
    const visible = new Set(
      (await service.read('/items?status=all&size=500', itemPage, service.sandbox.keys.test)).content.map(
        ({ id }) => id,
      ),
    );
    const hidden = all.find(({ id }) => !visible.has(id))?.id;
    for (const path of ['/items/1', '/items/1/history', '/items/nine', '/items/99999999999999999999']) {
      expect(parse((await service.get(path)).text, errorBody)).toMatchObject({ status: 404, error: 'Not Found' });
    }
    for (const path of [`/items/${hidden}`, `/items/${hidden}/history`]) {
      expect((await service.get(path, service.sandbox.keys.test)).status).toBe(404);
    }
  });
});

function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
