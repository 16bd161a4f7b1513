import { afterAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { errorBody } from '../../../src/api/account-contract.js';
import { facets, item, type product, productDetail, productPage } from '../../../src/api/contract.js';
import { parse, Service } from '../service.js';

type Product = z.infer<typeof product>;
const service = await Service.start({ items: 900, sites: 12 });
const lines = (await service.sandbox.dump()).items;
const listed = (await service.readTruth()).items.filter(({ removedAt }) => removedAt === null);
afterAll(() => service.close());

async function readAll(query = ''): Promise<Product[]> {
  const all = [];
  for (let page = 0; ; page++) {
    const answer = await service.read(`/products?size=200&page=${page}&${query}`, productPage);
    all.push(...answer.content);
    if (page + 1 >= answer.totalPages) return all;
  }
}

describe('§4 /products', () => {
  it('groups the listed offers by GTIN in any of its forms, else by brand and part number', async () => {
    const groups = new Map<string, number>();
    for (const { gtin } of listed) {
      const digits = gtin?.replace(/^0+/, '');
      if (digits !== undefined) groups.set(digits, (groups.get(digits) ?? 0) + 1);
    }
    const products = await readAll();
    const byGtin = products.filter(({ gtin }) => gtin !== null);
    expect(new Map(byGtin.map(({ id, offers }) => [id, Number(offers)]))).toEqual(groups);
    const others = products.filter(({ gtin }) => gtin === null);
    expect(others.length).toBeGreaterThan(0);
    expect(others.every(({ brand, mpn }) => brand !== null && mpn !== null)).toBe(true);
  });

  it('dataset: counts only offers in this dataset', async () => {
    const [one] = JSON.parse((await service.get('/datasets')).text) as { id: number; name: string }[];
    const within = listed.filter(({ datasets, gtin }) => datasets.includes(one?.name ?? '') && gtin !== null);
    const offers = (await readAll(`dataset=${one?.id}`)).filter(({ gtin }) => gtin !== null);
    expect(offers.reduce((sum, { offers: count }) => sum + Number(count), 0)).toBe(within.length);
  });

  it('q: the same word search as for items', async () => {
    const [top] = await readAll();
    const found = await readAll(`q=${encodeURIComponent((top?.brand ?? '').slice(1).toUpperCase())}`);
    expect(found.map(({ id }) => id)).toContain(top?.id);
  });

  it('category: a slug, with subcategories', async () => {
    const { categories } = await service.read('/facets', facets);
    const { slug, path } = categories.find(({ parentId }) => parentId === null) as (typeof categories)[number];
    const found = await readAll(`category=${slug}`);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ category }) => category === null || `${category.path} > `.startsWith(`${path} > `))).toBe(
      true,
    );
  });

  it('brand: as named by the shops', async () => {
    const brand = (await readAll()).find((one) => one.brand !== null)?.brand ?? '';
    const found = await readAll(`brand=${encodeURIComponent(brand)}`);
    for (const { id } of found.slice(0, 5)) {
      const { offers } = await service.read(`/products/${id}`, productDetail);
      expect(offers.some((offer) => offer.brand === brand)).toBe(true);
    }
  });

  it('gtin: leading zeros may be left out', async () => {
    const id = (await readAll()).find(({ gtin }) => gtin !== null)?.id ?? '';
    for (const form of [id, id.padStart(14, '0')])
      expect((await readAll(`gtin=${form}`)).map((one) => one.id)).toEqual([id]);
  });

  it('currency: only prices in this currency', async () => {
    const found = await readAll('currency=EUR');
    expect(found.every(({ prices }) => prices.every(({ currency }) => currency === 'EUR'))).toBe(true);
  });

  it('minShops: only products sold by at least this many websites, 1 by default', async () => {
    const all = await readAll();
    expect(await readAll('minShops=1')).toEqual(all);
    const compared = await readAll('minShops=2');
    expect(compared).toEqual(all.filter(({ shops }) => shops >= 2n));
    expect(compared.length).toBeGreaterThan(0);
  });

  it('sort: -offers by default, or -shops, price with the lowest first, or -price', async () => {
    const offers = (await readAll()).map((one) => Number(one.offers));
    expect(offers).toEqual([...offers].sort((a, b) => b - a));
    const shops = (await readAll('sort=-shops')).map((one) => Number(one.shops));
    expect(shops).toEqual([...shops].sort((a, b) => b - a));
    for (const [sort, sign] of [
      ['price', 1],
      ['-price', -1],
    ] as const) {
      const prices = (await readAll(`sort=${sort}&currency=EUR`)).flatMap(({ prices: [range] }) => range?.min ?? []);
      expect(prices).toEqual([...prices].sort((a, b) => sign * (a - b)));
    }
  });
});

describe('§4 /products/{id}', () => {
  it('returns all visible offers, cheapest first, for a GTIN in any of its forms', async () => {
    const top = (await readAll('minShops=2')).find(({ gtin }) => gtin !== null) as Product;
    const detail = await service.read(`/products/${top.id}`, productDetail);
    expect(detail.product).toEqual(top);
    expect(detail.offers.map(({ id }) => id).sort()).toEqual(
      listed
        .filter(({ gtin }) => gtin?.replace(/^0+/, '') === top.id)
        .map(({ id }) => id)
        .sort(),
    );
    const prices = detail.offers.flatMap(({ price }) => price ?? []);
    expect(prices).toEqual([...prices].sort((a, b) => a - b));
    expect(await service.read(`/products/${top.id.padStart(14, '0')}`, productDetail)).toEqual(detail);
  });

  it('returns the offers for a key of brand and part number', async () => {
    const one = (await readAll()).find(({ gtin }) => gtin === null) as Product;
    const detail = await service.read(`/products/${encodeURIComponent(one.id)}`, productDetail);
    expect(detail.offers.every(({ gtin, brand, mpn }) => gtin === null && brand !== null && mpn !== null)).toBe(true);
  });

  it('currency: only offers in this currency; dataset: only offers in this dataset', async () => {
    const [top] = await readAll('currency=EUR&minShops=2');
    const all = await service.read(`/products/${top?.id}`, productDetail);
    const euros = await service.read(`/products/${top?.id}?currency=EUR`, productDetail);
    expect(euros.offers).toEqual(all.offers.filter(({ currency }) => currency === 'EUR'));
    const datasets = JSON.parse((await service.get('/datasets')).text) as { id: number; name: string }[];
    const { id, name } = datasets.find((one) => all.offers[0]?.datasets.includes(one.name)) ?? {};
    const within = await service.read(`/products/${top?.id}?dataset=${id}`, productDetail);
    expect(within.offers).toEqual(all.offers.filter((one) => one.datasets.includes(name ?? '')));
  });

  it('404: for a product without visible offers', async () => {
    for (const path of ['/products/4006381333931', '/products/no-such', '/products/1?dataset=77']) {
      expect(parse((await service.get(path)).text, errorBody).status).toBe(404);
    }
  });
});

describe('§4 /facets', () => {
  it('404: for a dataset that the caller can not see', async () => {
    expect(parse((await service.get('/facets?dataset=99')).text, errorBody).status).toBe(404);
  });

  it('dataset: counts only items in this dataset', async () => {
    for (const { id, items } of JSON.parse((await service.get('/datasets')).text) as { id: number; items: number }[]) {
      const { sites } = await service.read(`/facets?dataset=${id}`, facets);
      expect(sites.reduce((sum, one) => sum + Number(one.items), 0)).toBe(items);
    }
  });
});

describe('§4 /export', () => {
  it('ndjson: one JSON object per line, one line per matching item', async () => {
    const { text, headers } = await service.get('/export?format=ndjson&status=all');
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    expect(text).toBe(lines.map((line) => `${line}\n`).join(''));
  });

  it('csv by default: UTF-8 with one header row', async () => {
    const { text, headers } = await service.get('/export');
    expect(headers.get('content-type')).toMatch(/^text\/csv; *charset=utf-8$/);
    expect(text).toBe((await service.get('/export?format=csv')).text);
    expect(text.split('\n')[0]).toMatch(/^id,title,/);
  });

  it('X-Export-Rows is the number of rows in this export; X-Export-Rows-Remaining is what remains this month', async () => {
    const first = await service.get('/export?format=ndjson');
    const rows = Number(first.headers.get('x-export-rows'));
    expect(rows).toBe(listed.length);
    const second = await service.get('/export?format=ndjson');
    const left = ({ headers }: typeof first) => Number(headers.get('x-export-rows-remaining'));
    expect(left(first) - left(second)).toBe(rows);
    for (const name of ['x-export-overage', 'x-export-truncated', 'x-export-matching']) {
      expect(first.headers.has(name)).toBe(false);
    }
  });

  it.each([
    ...['', 'dataset=11', 'site=10', 'category=books-media', 'q=a', 'minPrice=20&maxPrice=90', 'currency=EUR'],
    ...['status=removed', 'status=all', 'changedSince=2026-11-10T00:00:00Z'],
  ])('accepts the filters of /items with the same rules (%s)', async (query) => {
    const ids = (text: string) => [...text.matchAll(/"id":(\d{16}),"title"/g)].map(([, id]) => id).sort();
    const exported = ids((await service.get(`/export?format=ndjson&${query}`)).text);
    const paged = [];
    for (let page = 0; page < 3; page++)
      paged.push(...ids((await service.get(`/items?size=500&page=${page}&${query}`)).text));
    expect(exported).toEqual(paged.sort());
    expect(exported.length).toBeGreaterThan(0);
  });

  it('accepts a GTIN without its leading zeros, as /items does', async () => {
    const { gtin } = listed.find((one) => one.gtin?.startsWith('0')) as (typeof listed)[number];
    const digits = gtin?.replace(/^0+/, '');
    const rows = (await service.get(`/export?format=ndjson&gtin=${digits}`)).text.trimEnd().split('\n');
    const wanted = listed.filter((one) => one.gtin?.replace(/^0+/, '') === digits);
    expect(rows.map((row) => parse(row, item).id)).toEqual(wanted.map(({ id }) => id));
  });

  it('sort, page and size have no effect on this endpoint', async () => {
    const plain = await service.get('/export?format=ndjson');
    expect((await service.get('/export?format=ndjson&sort=cheapest&page=-1&size=1')).text).toBe(plain.text);
  });
});
