import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  changePage,
  facets,
  historyEntry,
  item,
  itemPage,
  productDetail,
  productPage,
} from '../../../src/api/contract.js';
import { micros, Service } from '../service.js';

type Json = Record<string, unknown>;
const service = await Service.start({ items: 2200 });
const { items, changes } = await service.readTruth();
afterAll(() => service.close());

const readJson = async (path: string) => JSON.parse((await service.get(path)).text);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const PATHS = ['/datasets', '/facets', '/items', '/changes', '/changes/recent', '/products', '/plan'];

describe('§1 What the service does', () => {
  it('every response is application/json, except a successful export', async () => {
    for (const path of [...PATHS, '/items/1', '/items?size=0', '/export?format=xml']) {
      expect((await service.get(path)).headers.get('content-type')).toMatch(/^application\/json/);
    }
    expect((await service.get('/export')).headers.get('content-type')).toMatch(/^text\/csv/);
    expect((await service.get('/export?format=ndjson')).headers.get('content-type')).toBe('application/x-ndjson');
  });

  it('field names are camelCase, and timestamps are ISO 8601 in UTC', async () => {
    const visit = (value: unknown, name: string): void => {
      if (Array.isArray(value)) for (const entry of value) visit(entry, name);
      else if (typeof value === 'object' && value !== null && name !== 'attributes' && name !== 'changes map') {
        for (const [key, member] of Object.entries(value)) {
          expect(key).toMatch(/^[a-z][A-Za-z]*$/);
          visit(member, key === 'changes' && !Array.isArray(member) ? 'changes map' : key);
        }
      } else if (name.endsWith('At') && value !== null) expect(value).toMatch(INSTANT);
    };
    for (const path of PATHS) visit(await readJson(path), '');
  });

  it('products group the same product across shops: by GTIN, otherwise by brand and part number', async () => {
    const { content } = await service.read('/products?size=200&minShops=2', productPage);
    expect(content.some(({ gtin }) => gtin === null)).toBe(true);
    for (const { id, gtin } of content.slice(0, 10).concat(content.filter((one) => one.gtin === null).slice(0, 10))) {
      const { offers } = await service.read(`/products/${encodeURIComponent(id)}`, productDetail);
      const forms = offers.map((one) => (gtin === null ? one.gtin : one.gtin?.replace(/^0+/, '')));
      expect(new Set(forms)).toEqual(new Set([gtin === null ? null : id]));
    }
  });
});

describe('§2 Item', () => {
  it('gtin has 8, 13 or 14 digits, or is null when the shop does not name it', () => {
    const lengths = new Set(
      items.map(({ gtin }) => (gtin === null ? null : /^\d+$/.test(gtin) ? gtin.length : 'letters')),
    );
    expect(lengths).toEqual(new Set([null, 8, 13, 14]));
  });

  it('title, brand, mpn, price, url, image and category may be null', () => {
    for (const name of ['title', 'brand', 'mpn', 'price', 'url', 'image', 'category'] as const) {
      expect(items.some((one) => one[name] === null)).toBe(true);
      expect(items.some((one) => one[name] !== null)).toBe(true);
    }
  });

  it('previousPrice and priceChangedAt are null if the price never changed', () => {
    const moved = new Set(changes.flatMap(({ changes: map, item: one }) => ('price' in map ? (one?.id ?? []) : [])));
    for (const { id, previousPrice, priceChangedAt } of items) {
      expect(priceChangedAt !== null).toBe(moved.has(id));
      if (!moved.has(id)) expect(previousPrice).toBeNull();
    }
    expect(moved.size).toBeGreaterThan(0);
  });

  it('currency is an ISO 4217 code', () => {
    for (const { currency } of items) if (currency !== null) expect(currency).toMatch(/^[A-Z]{3}$/);
  });

  it('attributes are values of any type by name', () => {
    const values = items.flatMap(({ attributes }) => Object.values(attributes));
    const types = new Set(
      values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)),
    );
    expect([...types]).toEqual(expect.arrayContaining(['number', 'string', 'boolean', 'null', 'array', 'object']));
  });

  it('datasets are names of the caller’s datasets', async () => {
    const names = new Set((await readJson('/datasets')).map(({ name }: Json) => name));
    for (const { datasets } of items) {
      expect(datasets.length).toBeGreaterThan(0);
      for (const name of datasets) expect(names).toContain(name);
    }
  });

  it('firstSeenAt ≤ lastChangedAt, removedAt is null while listed, and lastSeenAt is not after removedAt', () => {
    for (const { firstSeenAt, lastSeenAt, lastChangedAt, removedAt } of items) {
      expect(micros(firstSeenAt) <= micros(lastChangedAt)).toBe(true);
      expect(micros(firstSeenAt) <= micros(lastSeenAt)).toBe(true);
      if (removedAt === null) continue;
      expect(micros(removedAt) <= micros(lastChangedAt)).toBe(true);
      expect(micros(lastSeenAt) <= micros(removedAt)).toBe(true);
    }
  });

  it('an item stays readable by id after its removal', async () => {
    const gone = items.find(({ removedAt }) => removedAt !== null);
    expect(await service.read(`/items/${gone?.id}`, item)).toEqual(gone);
  });
});

describe('§2 CategoryRef, SiteRef, Source, Dataset', () => {
  it('a CategoryRef has name, path, slug and source, which is AI or MANUAL; the slug is the category filter', async () => {
    const refs = items.flatMap(({ category }) => category ?? []);
    for (const ref of refs) {
      expect(ref.path === ref.name || ref.path.endsWith(` > ${ref.name}`)).toBe(true);
    }
    expect(new Set(refs.map(({ source }) => source))).toEqual(new Set(['AI', 'MANUAL']));
    const page = await service.read(`/items?category=${refs[0]?.slug}&size=5`, itemPage);
    expect(page.totalElements).toBeGreaterThan(0n);
  });

  it('a SiteRef has id, name, host and attribution: a text for open-data sources, else null', () => {
    for (const { site, datasets } of items) {
      expect(site.attribution !== null).toBe(datasets.includes('Open prices'));
    }
  });

  it('a Source has modelId and name, and belongs to one website', () => {
    const sites = new Map<bigint, bigint>();
    for (const { source, site } of items) {
      expect(sites.get(source.modelId) ?? site.id).toBe(site.id);
      sites.set(source.modelId, site.id);
    }
    expect(sites.size).toBeGreaterThan(new Set(sites.values()).size);
  });

  it('a Dataset has the counts of its listed items, websites and sources, and its oldest and newest scrape times', async () => {
    const datasets = await readJson('/datasets');
    for (const one of datasets) {
      const members = items.filter(({ datasets: names }) => names.includes(one.name));
      expect(one.items).toBe(members.filter(({ removedAt }) => removedAt === null).length);
      expect(one.sites).toBe(new Set(members.map(({ site }) => site.id)).size);
      expect(one.models).toBe(new Set(members.map(({ source }) => source.modelId)).size);
      expect(one.healthyModels <= one.models).toBe(true);
      expect(one.oldestScrapeAt <= one.newestScrapeAt).toBe(true);
    }
    expect(datasets.some(({ healthyModels, models }: Json) => healthyModels !== models)).toBe(true);
    expect(datasets.some(({ description }: Json) => description === null)).toBe(true);
  });

  it('newestScrapeAt and oldestScrapeAt are null before the first read', async () => {
    const tiny = await Service.start({ items: 1 });
    const empty = JSON.parse((await tiny.get('/datasets')).text).filter(({ models }: Json) => models === 0);
    expect(empty.length).toBeGreaterThan(0);
    for (const one of empty) expect(one).toMatchObject({ newestScrapeAt: null, oldestScrapeAt: null, items: 0 });
    await tiny.close();
  });
});

describe('§2 Change and HistoryEntry', () => {
  it('previousPrice is set when the price changed; changes maps a name to [old, new]', () => {
    for (const { price, previousPrice, changes: map } of changes) {
      if ('price' in map) expect(map.price).toEqual([previousPrice, price]);
      else expect(previousPrice).toBeNull();
      for (const [old, now] of Object.values(map)) expect(old).not.toEqual(now);
    }
    const names = new Set(changes.flatMap(({ changes: map }) => Object.keys(map)));
    expect([...names]).toEqual(expect.arrayContaining(['price', 'stock', 'title']));
  });

  it('item is null if the item is no longer in the caller’s data', () => {
    expect(changes.some((one) => one.item === null)).toBe(true);
  });

  it('a HistoryEntry is a Change without its item', async () => {
    const id = items.find(({ previousPrice }) => previousPrice !== null)?.id;
    const entries = await service.read(`/items/${id}/history`, z.array(historyEntry));
    const own = changes.filter((one) => one.item?.id === id).map(({ item: _, ...rest }) => rest);
    expect(entries).toEqual(own);
  });
});

describe('§2 Facets, Product, PriceRange, ProductDetail', () => {
  it('Facets have categories, currencies and sites, with counts of the listed items', async () => {
    const found = await readJson('/facets');
    const listed = items.filter(({ removedAt }) => removedAt === null);
    for (const { code, items: count } of found.currencies) {
      expect(listed.filter(({ currency }) => currency === code)).toHaveLength(count);
    }
    for (const { id, items: count, host } of found.sites) {
      expect(listed.filter(({ site }) => site.id === BigInt(id) && site.host === host)).toHaveLength(count);
    }
  });

  it('the count of a FacetCategory includes its subcategories, and parentId is null for a top category', async () => {
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

  it('a Product’s id is its GTIN, or else its key of brand and part number, and its figures follow from its offers', async () => {
    const { content } = await service.read('/products?size=200', productPage);
    for (const one of content.slice(0, 30)) {
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
  it('nextCursor continues the feed, and hasMore says whether more changes are waiting', async () => {
    const first = await service.read('/changes?limit=10', changePage);
    expect(first).toMatchObject({ hasMore: true, nextCursor: first.changes.at(-1)?.id });
    const last = await service.read(`/changes?after=${changes.at(-11)?.id}&limit=10`, changePage);
    expect(last).toMatchObject({ hasMore: false, nextCursor: changes.at(-1)?.id });
  });
});
