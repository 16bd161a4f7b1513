import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { item, type product, productDetail, productPage } from '../../src/api/contract.js';
import { parse, Service } from './service.js';

let service: Service;
let listed: z.infer<typeof item>[];
beforeAll(async () => {
  service = await Service.start();
  const { items } = await service.sandbox.dump();
  listed = items.map((line) => parse(line, item)).filter(({ removedAt }) => removedAt === null);
});
afterAll(() => service.close());

async function readAll(query: string): Promise<z.infer<typeof product>[]> {
  const all = [];
  for (let page = 0; ; page++) {
    const answer = await service.read(`/products?size=200&page=${page}${query}`, productPage);
    all.push(...answer.content);
    if (page + 1 >= answer.totalPages) return all;
  }
}

describe('GET /products', () => {
  it('groups listed offers by GTIN in any of its forms', async () => {
    const groups = new Map<string, number>();
    for (const { gtin } of listed) {
      if (gtin !== null) groups.set(gtin.replace(/^0+/, ''), (groups.get(gtin.replace(/^0+/, '')) ?? 0) + 1);
    }
    const products = await readAll('');
    const byGtin = products.filter(({ gtin }) => gtin !== null);
    expect(new Map(byGtin.map(({ id, offers }) => [id, Number(offers)]))).toEqual(groups);
    expect(new Set(products.map(({ id }) => id)).size).toBe(products.length);
    expect(products.some(({ gtin, brand, mpn }) => gtin === null && brand !== null && mpn !== null)).toBe(true);
  });

  it('sorts by offers, shops and lowest price', async () => {
    const offers = (await readAll('')).map((one) => Number(one.offers));
    expect(offers).toEqual([...offers].sort((a, b) => b - a));
    const shops = (await readAll('&sort=-shops')).map((one) => Number(one.shops));
    expect(shops).toEqual([...shops].sort((a, b) => b - a));
    const prices = (await readAll('&sort=price&currency=EUR')).flatMap(({ prices }) => prices[0]?.min ?? []);
    expect(prices).toEqual([...prices].sort((a, b) => a - b));
  });

  it('keeps to products that enough websites sell, in one currency if asked', async () => {
    const compared = await readAll('&minShops=2&currency=EUR');
    expect(compared.length).toBeGreaterThan(5);
    for (const { shops, prices } of compared) {
      expect(Number(shops)).toBeGreaterThanOrEqual(2);
      expect(prices.map(({ currency }) => currency)).toEqual(['EUR']);
    }
  });

  it('finds products by words, category and brand', async () => {
    const brand = 'Lumax';
    const found = await readAll(`&brand=${brand}`);
    expect(found.length).toBeGreaterThan(0);
    expect((await readAll(`&q=${brand.toLowerCase()}`)).length).toBeGreaterThanOrEqual(found.length);
    const books = await readAll('&category=books-media');
    expect(books.every(({ category }) => category === null || category.path.startsWith('Books & Media'))).toBe(true);
  });

  it.each([
    ['size=201', 'size'],
    ['minShops=two', 'minShops'],
    ['sort=title', 'sort'],
    ['gtin=1x', 'gtin'],
  ])('answers 400 for %s and names the parameter', async (query, name) => {
    const answer = await service.get(`/products?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`'${name}'`);
  });
});

describe('GET /products/{id}', () => {
  it('answers with all visible offers, the cheapest first, for each form of a GTIN', async () => {
    const [top] = await readAll('&minShops=2');
    const id = top?.id ?? '';
    const detail = await service.read(`/products/${id}`, productDetail);
    expect(detail.product).toEqual(top);
    expect(BigInt(detail.offers.length)).toBe(top?.offers);
    const known = detail.offers.flatMap(({ price }) => price ?? []);
    expect(known).toEqual([...known].sort((a, b) => a - b));
    expect(await service.read(`/products/${id.padStart(14, '0')}`, productDetail)).toEqual(detail);
    const euros = await service.read(`/products/${id}?currency=EUR`, productDetail);
    expect(euros.offers).toEqual(detail.offers.filter(({ currency }) => currency === 'EUR'));
  });

  it('answers by the key of brand and part number', async () => {
    const unnumbered = (await readAll('')).find(({ gtin }) => gtin === null);
    const detail = await service.read(`/products/${encodeURIComponent(unnumbered?.id ?? '')}`, productDetail);
    expect(detail.product).toEqual(unnumbered);
    expect(detail.offers.every(({ gtin }) => gtin === null)).toBe(true);
  });

  it('answers 404 for a product that nobody offers', async () => {
    for (const path of ['/products/4006381333931', '/products/no-such', '/products/1?dataset=77']) {
      expect((await service.get(path)).status).toBe(404);
    }
  });
});
