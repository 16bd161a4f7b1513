import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  change,
  changePage,
  facets,
  historyEntry,
  item,
  productDetail,
  productPage,
} from '../../../src/api/contract.js';
import { parse, Service } from '../service.js';

const service = await Service.start({ items: 2200 });
const dump = await service.sandbox.dump();
const items = dump.items.map((line) => parse(line, item));
const changes = dump.changes.map((line) => parse(line, change));
afterAll(() => service.close());

const readJson = async (path: string) => JSON.parse((await service.get(path)).text);

describe('§2 Change, HistoryEntry and their pages', () => {
  it('a Change has exactly the fields of the table, its item those of ChangeItem', async () => {
    const page = await readJson('/changes?limit=1000');
    expect(Object.keys(page)).toEqual(['changes', 'hasMore', 'nextCursor']);
    for (const one of page.changes) {
      expect(Object.keys(one)).toEqual(['id', 'kind', 'observedAt', 'price', 'previousPrice', 'changes', 'item']);
      if (one.item === null) continue;
      expect(Object.keys(one.item)).toEqual(['id', 'title', 'url', 'currency', 'site']);
      expect(Object.keys(one.item.site)).toEqual(['id', 'name', 'host', 'attribution']);
    }
  });

  it('previousPrice is set when the price changed; changes maps a name to [old, new]', () => {
    for (const { price, previousPrice, changes: map } of changes) {
      if ('price' in map) expect(map.price).toEqual([previousPrice, price]);
      else expect(previousPrice).toBeNull();
      for (const [old, now] of Object.values(map)) expect(old).not.toEqual(now);
    }
    const names = new Set(changes.flatMap(({ changes: map }) => Object.keys(map)));
    expect([...names]).toEqual(expect.arrayContaining(['price', 'stock', 'title']));
  });

  it('item is null if the item is gone from the caller’s data meanwhile', () => {
    expect(changes.some((one) => one.item === null)).toBe(true);
  });

  it('a HistoryEntry is a Change without its item', async () => {
    const id = items.find(({ previousPrice }) => previousPrice !== null)?.id;
    const entries = await service.read(`/items/${id}/history`, z.array(historyEntry));
    for (const entry of entries) {
      expect(Object.keys(entry)).toEqual(['id', 'kind', 'observedAt', 'price', 'previousPrice', 'changes']);
    }
    const own = changes.filter((one) => one.item?.id === id).map(({ item: _, ...rest }) => rest);
    expect(entries).toEqual(own);
  });

  it('page wrappers have content, page from 0, size, totalElements and totalPages', async () => {
    for (const path of ['/items?size=7', '/products?size=7']) {
      const page = await readJson(path);
      expect(Object.keys(page)).toEqual(['content', 'page', 'size', 'totalElements', 'totalPages']);
      expect(page).toMatchObject({ page: 0, size: 7, totalPages: Math.ceil(page.totalElements / 7) });
      expect(page.content).toHaveLength(7);
    }
  });
});

describe('§2 Facets, Product, PriceRange, ProductDetail', () => {
  it('Facets have categories, currencies and sites, with counts of the items listed now', async () => {
    const found = await readJson('/facets');
    const listed = items.filter(({ removedAt }) => removedAt === null);
    expect(Object.keys(found)).toEqual(['categories', 'currencies', 'sites']);
    expect(Object.keys(found.categories[0])).toEqual(['id', 'name', 'slug', 'path', 'parentId', 'items']);
    for (const { code, items: count } of found.currencies) {
      expect(listed.filter(({ currency }) => currency === code)).toHaveLength(count);
    }
    for (const { id, items: count, host } of found.sites) {
      expect(listed.filter(({ site }) => site.id === BigInt(id) && site.host === host)).toHaveLength(count);
    }
  });

  it('a FacetCategory counts its subcategories in; parentId is null for a top category', async () => {
    const { categories } = await service.read('/facets', facets);
    const listed = items.filter(({ removedAt }) => removedAt === null);
    for (const { path, name, parentId, items: count } of categories) {
      const parent = categories.find(({ id }) => id === parentId);
      expect(path).toBe(parent === undefined ? name : `${parent.path} > ${name}`);
      const within = listed.filter(({ category }) => `${category?.path} > `.startsWith(`${path} > `));
      expect(BigInt(within.length)).toBe(count);
      expect(parentId === null).toBe(!path.includes(' > '));
    }
  });

  it('a Product’s id is its GTIN, else its brand-part-number key; offers, shops and prices are those of its offers', async () => {
    const { content } = await service.read('/products?size=200', productPage);
    for (const one of content.slice(0, 30)) {
      expect(Object.keys(one)).toEqual([
        ...['id', 'title', 'brand', 'mpn', 'gtin', 'category', 'offers', 'shops', 'prices'],
      ]);
      const { offers, product } = await service.read(`/products/${one.id}`, productDetail);
      expect(product).toEqual(one);
      expect(one.gtin === null ? offers[0]?.mpn : one.gtin?.replace(/^0+/, '')).toBe(
        one.gtin === null ? one.mpn : one.id,
      );
      expect(one.offers).toBe(BigInt(offers.length));
      expect(one.shops).toBe(BigInt(new Set(offers.map(({ site }) => site.id)).size));
      const priced = offers.filter(({ price, currency }) => price !== null && currency !== null);
      expect(one.prices.map(({ currency }) => currency).sort()).toEqual(
        [...new Set(priced.map(({ currency }) => currency as string))].sort(),
      );
      for (const { currency, min, max, offers: count } of one.prices) {
        const prices = priced.flatMap((offer) => (offer.currency === currency ? (offer.price as number) : []));
        expect({ min, max, count }).toEqual({
          min: Math.min(...prices),
          max: Math.max(...prices),
          count: BigInt(prices.length),
        });
      }
    }
  });
});

describe('§2 ChangePage', () => {
  it('nextCursor continues, hasMore says that more changes are waiting now', async () => {
    const first = await service.read('/changes?limit=10', changePage);
    expect(first).toMatchObject({ hasMore: true, nextCursor: first.changes.at(-1)?.id });
    const last = await service.read(`/changes?after=${changes.at(-11)?.id}&limit=10`, changePage);
    expect(last).toMatchObject({ hasMore: false, nextCursor: changes.at(-1)?.id });
  });
});
