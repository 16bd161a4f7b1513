import { afterAll, describe, expect, it } from 'vitest';
import { change, item, itemPage, productDetail, productPage } from '../../../src/api/contract.js';
import { parse, Service } from '../service.js';

type Json = Record<string, unknown>;
const service = await Service.start({ items: 2200 });
const dump = await service.sandbox.dump();
const texts = dump.items;
const items = texts.map((line) => parse(line, item));
const changes = dump.changes.map((line) => parse(line, change));
afterAll(() => service.close());

const readJson = async (path: string) => JSON.parse((await service.get(path)).text);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const PATHS = ['/datasets', '/facets', '/items', '/changes', '/changes/recent', '/products', '/plan'];

describe('§1 What the service does', () => {
  it('every operation is HTTP GET', async () => {
    const headers = { authorization: `Bearer ${service.sandbox.keys.live}` };
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status } = await fetch(`${service.sandbox.baseUrl}/api/v1/items`, { method, headers });
      expect([404, 405]).toContain(status);
    }
  });

  it('every answer is application/json, except a successful export', async () => {
    for (const path of [...PATHS, '/items/1', '/items?size=0', '/export?format=xml']) {
      expect((await service.get(path)).headers.get('content-type')).toMatch(/^application\/json/);
    }
    expect((await service.get('/export')).headers.get('content-type')).toMatch(/^text\/csv/);
    expect((await service.get('/export?format=ndjson')).headers.get('content-type')).toBe('application/x-ndjson');
  });

  it('field names are camelCase, timestamps are ISO 8601 in UTC', async () => {
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
  it('has exactly the fields of the table', () => {
    for (const text of texts) {
      expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(item.shape));
    }
  });

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

  it('firstSeenAt ≤ lastChangedAt, removedAt is null while listed, and no scrape found it after that', () => {
    const micros = (text: string) => text.replace('Z', '').padEnd(26, '0');
    for (const { firstSeenAt, lastSeenAt, lastChangedAt, removedAt } of items) {
      expect(micros(firstSeenAt) <= micros(lastChangedAt)).toBe(true);
      expect(micros(firstSeenAt) <= micros(lastSeenAt)).toBe(true);
      if (removedAt === null) continue;
      expect(micros(removedAt) <= micros(lastChangedAt)).toBe(true);
      expect(micros(lastSeenAt) <= micros(removedAt)).toBe(true);
    }
  });

  it('stays readable by id after it is no longer listed', async () => {
    const gone = items.find(({ removedAt }) => removedAt !== null);
    expect(await service.read(`/items/${gone?.id}`, item)).toEqual(gone);
  });
});

describe('§2 CategoryRef, SiteRef, Source, Dataset', () => {
  it('a CategoryRef has name, path, slug and source, which is AI or MANUAL; the slug is the category filter', async () => {
    const refs = items.flatMap(({ category }) => category ?? []);
    for (const ref of refs) {
      expect(Object.keys(ref)).toEqual(['name', 'path', 'slug', 'source']);
      expect(ref.path === ref.name || ref.path.endsWith(` > ${ref.name}`)).toBe(true);
    }
    expect(new Set(refs.map(({ source }) => source))).toEqual(new Set(['AI', 'MANUAL']));
    const page = await service.read(`/items?category=${refs[0]?.slug}&size=5`, itemPage);
    expect(page.totalElements).toBeGreaterThan(0n);
  });

  it('a SiteRef has id, name, host and attribution: a text for open-data sources, else null', () => {
    for (const { site, datasets } of items) {
      expect(Object.keys(site)).toEqual(['id', 'name', 'host', 'attribution']);
      expect(site.attribution !== null).toBe(datasets.includes('Open prices'));
    }
  });

  it('a Source has modelId and name: one listing of one website', () => {
    const sites = new Map<bigint, bigint>();
    for (const { source, site } of items) {
      expect(Object.keys(source)).toEqual(['modelId', 'name']);
      expect(sites.get(source.modelId) ?? site.id).toBe(site.id);
      sites.set(source.modelId, site.id);
    }
    expect(sites.size).toBeGreaterThan(new Set(sites.values()).size);
  });

  it('a Dataset counts its items listed now, websites and sources, and tells when they were read', async () => {
    const datasets = await readJson('/datasets');
    for (const one of datasets) {
      const members = items.filter(({ datasets: names }) => names.includes(one.name));
      expect(Object.keys(one)).toEqual([
        ...[
          'id',
          'name',
          'description',
          'items',
          'sites',
          'models',
          'healthyModels',
          'newestScrapeAt',
          'oldestScrapeAt',
        ],
      ]);
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
