import { afterAll, describe, expect, it } from 'vitest';
import { errorBody } from '../../../src/api/account-contract.js';
import { parse, Service } from '../service.js';

const service = await Service.start({ items: 1500 });
afterAll(() => service.close());

describe('§8 Paging bounds', () => {
  it.each([
    ['/items', 'size', 500, 50],
    ['/products', 'size', 200, 50],
    ['/changes', 'limit', 1000, 500],
    ['/changes/recent', 'limit', 200, 50],
  ])('%s: %s is 1 to %i, default %i', async (path, name, most, byDefault) => {
    const count = async (query: string) => {
      const page = JSON.parse((await service.get(path + query)).text);
      return (page.content ?? page.changes).length;
    };
    expect(await count('')).toBe(byDefault);
    for (const size of [1, most]) expect(await count(`?${name}=${size}`)).toBe(size);
  });
});

describe('§7 400: a parameter is not valid', () => {
  const ANYWHERE = ['dataset=x', 'dataset=4711', 'dataset=9223372036854775808'];
  const FILTERS = [
    ...['minPrice=free', 'maxPrice=1,5', 'minPrice=1e', 'minPrice=.5', 'minPrice=0x10', 'minPrice=1e9999999999'],
    ...['currency=EURO', 'gtin=abc', 'site=1.5', 'site=-9223372036854775809', 'status=gone'],
    ...['changedSince=now', 'changedSince=2026-11-20', 'changedSince=2026-02-30T00:00:00Z'],
    ...['changedSince=2026-11-20T00:00Z', 'changedSince=2026-13-01T00:00:00Z', 'changedSince=2026-11-20T06:00:60Z'],
    ...['changedSince=2026-11-20T06:00:00%2B0200', 'changedSince=2026-11-20T06:00:00'],
  ];
  const REFUSED = {
    '/items': [
      ...ANYWHERE,
      ...FILTERS,
      'size=0',
      'size=-1',
      'size=501',
      'size=x',
      'page=-1',
      'page=x',
      'sort=cheapest',
    ],
    '/export': [...ANYWHERE, ...FILTERS, 'format=xml'],
    '/products': [...ANYWHERE, 'size=0', 'size=201', 'page=-1', 'sort=title', 'gtin=1x', 'minShops=x'],
    '/changes': ['dataset=x', 'limit=0', 'limit=1001', 'limit=x', 'after=x'],
    '/changes/recent': ['dataset=x', 'kind=SOLD', 'limit=0', 'limit=201', 'before=x'],
  };

  it.each(Object.entries(REFUSED))('%s: the message names the invalid parameter', async (path, queries) => {
    for (const query of queries) {
      const { status, text } = await service.get(`${path}?${query}`);
      expect([query, status]).toEqual([query, 400]);
      const { error, message } = parse(text, errorBody);
      expect(error).toBe('Bad Request');
      expect(message).toContain(`'${query.split('=')[0]}'`);
      expect(message).not.toMatch(/cast|TIMESTAMP|LINE/);
    }
  });
});
