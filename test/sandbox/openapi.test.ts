import { afterAll, describe, expect, it } from 'vitest';
import { writeOpenApi } from '../../schemas/openapi.js';
import { AnswerCheck, type OpenApiDocument } from './answer-check.js';
import { Service } from './service.js';

const document = JSON.parse(writeOpenApi()) as OpenApiDocument;
const check = new AnswerCheck(document);
const service = await Service.start({ items: 2500 });
afterAll(() => service.close());

async function expectFit(path: string, key?: string | null, from = service): Promise<number> {
  const answer = await from.get(path, key);
  expect(check.findFaults(`/api/v1${path}`, answer), path).toEqual([]);
  return answer.status;
}

describe('GET /openapi.json', () => {
  it('returns the document without a key', async () => {
    const answer = await fetch(`${service.sandbox.baseUrl}/openapi.json`);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toEqual(document);
  });
});

describe('rules that no schema expresses', () => {
  it('answers 405 to every method but GET, with the allowed ones', async () => {
    const headers = { authorization: `Bearer ${service.sandbox.keys.live}` };
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await fetch(`${service.sandbox.baseUrl}/api/v1/items`, { method, headers });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('GET, HEAD');
      expect(await answer.json()).toMatchObject({ status: 405, error: 'Method Not Allowed' });
    }
  });

  it('accepts numbers up to the limits of their types, and GTINs that are all zeros', async () => {
    const ends = '&site=-9223372036854775808&minPrice=-1e300&maxPrice=1.5e%2B200&gtin=000';
    expect((await service.get(`/items?size=1${ends}`)).status).toBe(200);
    const cheap = JSON.parse((await service.get('/items?maxPrice=2.5e1&size=1')).text);
    expect(cheap.totalElements).toBe(JSON.parse((await service.get('/items?maxPrice=25&size=1')).text).totalElements);
    expect((await service.get('/items?site=-9223372036854775809')).status).toBe(400);
    expect((await service.get('/products?minShops=0')).status).toBe(200);
  });
});

describe('every response fits the OpenAPI document and has no additional field', () => {
  it('of each endpoint', async () => {
    const { items } = await service.sandbox.dump();
    const id = /\d+/.exec(items[0] ?? '')?.[0];
    const products = JSON.parse((await service.get('/products?minShops=2&size=5')).text);
    const paths = [
      ...['/datasets', '/facets', '/facets?dataset=11', '/plan', `/items/${id}`, `/items/${id}/history`],
      ...['/items?status=all&size=500', '/items?status=removed', '/items?q=a&sort=price&currency=EUR'],
      ...['/changes?limit=1000', '/changes/recent?limit=200', '/changes/recent?kind=PRICE_DROP'],
      ...['/products?size=200', '/products?sort=-price&minShops=2'],
      ...products.content.map((one: { id: string }) => `/products/${encodeURIComponent(one.id)}`),
      ...['/export', '/export?format=ndjson&status=all'],
    ];
    for (const path of paths) expect(await expectFit(path), path).toBe(200);
    const rows = (await service.get('/export?format=ndjson&status=all')).text.trimEnd().split('\n');
    for (const row of rows) expect(check.check({ $ref: '#/components/schemas/Item' }, JSON.parse(row))).toEqual([]);
  });

  it('of each error 400, 401 and 404', async () => {
    for (const path of ['/items?size=0', '/changes/recent?kind=SOLD', '/products?sort=up', '/export?format=xml']) {
      expect(await expectFit(path)).toBe(400);
    }
    for (const path of ['/facets?dataset=5', '/items/5', '/items/5/history', '/products/00000017']) {
      expect(await expectFit(path)).toBe(404);
    }
    for (const path of ['/changes?limit=0', '/facets?dataset=x', '/products/4?currency=x']) {
      expect(await expectFit(path)).toBe(400);
    }
    expect(await expectFit('/plan', 'wrong')).toBe(401);
  });

  it('of each limit error 402 and 429, and of a truncated export', async () => {
    const free = await Service.start({
      items: 60,
      plan: 'free',
      limits: { apiCallsPerMonth: 4, exportRowsPerMonth: 5 },
    });
    expect(await expectFit('/changes', undefined, free)).toBe(402);
    expect(await expectFit('/items?dataset=14', undefined, free)).toBe(402);
    expect(await expectFit('/export', undefined, free)).toBe(200);
    expect(await expectFit('/plan', undefined, free)).toBe(200);
    expect(await expectFit('/plan', undefined, free)).toBe(429);
    await free.close();
  });

  it('and the tests above request every endpoint of schemas/endpoints.ts', () => {
    const asked = new Set([...check.seen].map((entry) => entry.split(' ')[0]));
    expect([...asked].sort()).toEqual(Object.keys(document.paths).sort());
  });
});
