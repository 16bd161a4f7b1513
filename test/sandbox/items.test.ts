import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorBody, historyEntry, item, itemPage } from '../../src/api/contract.js';
import { parse, Service } from './service.js';

type Item = z.infer<typeof item>;
let service: Service;
let all: Item[];
beforeAll(async () => {
  service = await Service.start();
  all = (await service.sandbox.dump()).items.map((line) => parse(line, item));
});
afterAll(() => service.close());

async function readPages(query: string, size: number): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 0; ; page++) {
    const answer = await service.read(`/items?size=${size}&page=${page}${query}`, itemPage);
    expect(answer).toMatchObject({ page, size, totalPages: Math.ceil(Number(answer.totalElements) / size) });
    items.push(...answer.content);
    if (page + 1 >= answer.totalPages) return items;
  }
}

const ids = (items: Item[]) => items.map(({ id }) => id).sort();

describe('GET /items', () => {
  it('pages through every listed item once, the last changed first', async () => {
    const items = await readPages('', 97);
    expect(ids(items)).toEqual(ids(all.filter(({ removedAt }) => removedAt === null)));
    const times = items.map(({ lastChangedAt }) => lastChangedAt.replace('Z', ''));
    expect(times).toEqual([...times].sort().reverse());
  });

  it('filters by status: listed, no longer listed, all', async () => {
    expect(ids(await readPages('&status=all', 500))).toEqual(ids(all));
    const removed = await readPages('&status=removed', 500);
    expect(removed.length).toBeGreaterThan(10);
    expect(removed.every(({ removedAt }) => removedAt !== null)).toBe(true);
  });

  it('filters by website, currency, price and last change', async () => {
    const listed = all.filter(({ removedAt }) => removedAt === null);
    const site = listed[0]?.site.id;
    expect(ids(await readPages(`&site=${site}`, 500))).toEqual(ids(listed.filter((one) => one.site.id === site)));
    expect(ids(await readPages('&currency=pln', 500))).toEqual(ids(listed.filter((one) => one.currency === 'PLN')));
    const inRange = listed.filter(({ price }) => price !== null && price >= 9.99 && price <= 20);
    expect(ids(await readPages('&minPrice=9.99&maxPrice=20', 500))).toEqual(ids(inRange));
    const [since] = listed.map(({ lastChangedAt }) => lastChangedAt).sort();
    expect(ids(await readPages(`&changedSince=${since}`, 500))).toEqual(
      ids(listed.filter(({ lastChangedAt }) => lastChangedAt !== since)),
    );
  });

  it('takes a time with an offset for changedSince', async () => {
    const utc = await readPages('&changedSince=2026-11-01T00:00:00Z', 500);
    expect(ids(await readPages('&changedSince=2026-11-01T02:00:00%2B02:00', 500))).toEqual(ids(utc));
  });

  it('finds words in any order and parts of words', async () => {
    const found = await readPages('&q=noten+ko%C5%99', 500);
    const forward = await readPages('&q=kov%C3%A1%C5%99%20audio', 500);
    expect(forward.length).toBeGreaterThan(0);
    expect(ids(await readPages('&q=AUDIO%20ov%C3%A1', 500))).toEqual(ids(forward));
    expect(found).toEqual([]);
  });

  it('finds a GTIN in every shop, leading zeros or not', async () => {
    const padded = all.find(({ gtin, removedAt }) => gtin?.startsWith('00') && removedAt === null);
    const bare = padded?.gtin?.replace(/^0+/, '') ?? '';
    const found = await readPages(`&gtin=${bare}`, 500);
    expect(ids(found)).toContain(padded?.id);
    expect(ids(await readPages(`&gtin=${bare.padStart(14, '0')}`, 500))).toEqual(ids(found));
  });

  it('sorts by price either way, the items without a price last', async () => {
    for (const [sort, sign] of [
      ['price', 1],
      ['-price', -1],
    ] as const) {
      const prices = (await readPages(`&sort=${sort}&status=all`, 500)).map(({ price }) => price);
      const known = prices.filter((price) => price !== null);
      expect(known).toEqual([...known].sort((a, b) => sign * (a - b)));
      expect(prices.slice(known.length).every((price) => price === null)).toBe(true);
    }
  });

  it.each([
    ['size=501', 'size'],
    ['size=0', 'size'],
    ['page=-1', 'page'],
    ['page=x', 'page'],
    ['sort=cheapest', 'sort'],
    ['status=gone', 'status'],
    ['minPrice=free', 'minPrice'],
    ['maxPrice=1,5', 'maxPrice'],
    ['currency=EURO', 'currency'],
    ['changedSince=2026-11-20', 'changedSince'],
    ['gtin=abc', 'gtin'],
    ['site=1.5', 'site'],
    ['dataset=9223372036854775808', 'dataset'],
    ['dataset=4711', 'dataset'],
  ])('answers 400 for %s and names the parameter', async (query, name) => {
    const answer = await service.get(`/items?${query}`);
    expect(answer.status).toBe(400);
    expect(parse(answer.text, errorBody)).toMatchObject({ status: 400, error: 'Bad Request' });
    expect(answer.text).toContain(`'${name}'`);
  });
});

describe('GET /items/{id} and its history', () => {
  it('reads an item by id exactly, also one that is no longer listed', async () => {
    for (const wanted of [all[0], all.find(({ removedAt }) => removedAt !== null)]) {
      expect(wanted?.id).toBeGreaterThan(2n ** 53n);
      expect(await service.read(`/items/${wanted?.id}`, item)).toEqual(wanted);
    }
  });

  it('tells an item’s history oldest first, ending where the item stands', async () => {
    const changed = all.filter(({ previousPrice }) => previousPrice !== null).slice(0, 20);
    for (const wanted of changed) {
      const history = await service.read(`/items/${wanted.id}/history`, z.array(historyEntry));
      expect(history[0]).toMatchObject({ kind: 'NEW', observedAt: wanted.firstSeenAt, previousPrice: null });
      expect(history.at(-1)).toMatchObject({ observedAt: wanted.lastChangedAt, price: wanted.price });
      expect(history.every((entry) => !('item' in entry))).toBe(true);
    }
  });

  it('answers 404 for an id that nobody has', async () => {
    for (const path of ['/items/1', '/items/1/history', '/items/nine', '/items/99999999999999999999']) {
      const answer = await service.get(path);
      expect(parse(answer.text, errorBody).status).toBe(404);
    }
  });
});

describe('the world', () => {
  it('holds what makes real data hard', () => {
    const titles = all.map(({ title }) => title ?? '').join('\u0000');
    for (const hard of ['=SUM(', '🎁', 'סט', '<b>', '\n', '"', '\\', 'ř']) expect(titles).toContain(hard);
    expect(all.some(({ title }) => title === null)).toBe(true);
    expect(all.some(({ price }) => price === null)).toBe(true);
    expect(all.some(({ category }) => category === null)).toBe(true);
    expect(all.some(({ site }) => site.attribution !== null)).toBe(true);
    expect(all.some(({ datasets }) => datasets.length > 1)).toBe(true);
    expect(new Set(all.map(({ gtin }) => gtin?.length))).toEqual(new Set([undefined, 8, 13, 14]));
  });

  it('writes right check digits, and a few wrong ones', () => {
    const isRight = (gtin: string) => {
      const sum = [...gtin].reverse().reduce((total, digit, k) => total + Number(digit) * (k % 2 === 0 ? 1 : 3), 0);
      return sum % 10 === 0;
    };
    const gtins = all.flatMap(({ gtin }) => gtin ?? []);
    const wrong = gtins.filter((gtin) => !isRight(gtin)).length;
    expect(wrong).toBeGreaterThan(0);
    expect(wrong).toBeLessThan(gtins.length / 50);
  });
});
