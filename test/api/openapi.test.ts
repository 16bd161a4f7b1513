import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { writeOpenApi } from '../../schemas/openapi.js';
import type { OpenApiDocument } from '../sandbox/answer-check.js';

const document = JSON.parse(writeOpenApi()) as OpenApiDocument;

describe('the OpenAPI document', () => {
  it('passes an independent validator of OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate({ ...document });
    expect(result.errors ?? []).toEqual([]);
    expect(validator.version).toBe('3.1');
  });

  it('has the endpoints of section 4 with the responses of section 7', () => {
    const { paths } = document;
    const statuses = Object.entries(paths).map(([path, { get }]) => `${path} ${Object.keys(get.responses).join(' ')}`);
    expect(statuses).toEqual([
      '/api/v1/datasets 200 401 402 429',
      '/api/v1/facets 200 401 402 404 429 default',
      '/api/v1/items 200 400 401 402 429',
      '/api/v1/items/{id} 200 401 402 404 429 default',
      '/api/v1/items/{id}/history 200 401 402 404 429 default',
      '/api/v1/changes 200 401 402 429 default',
      '/api/v1/changes/recent 200 400 401 402 429',
      '/api/v1/products 200 400 401 402 429',
      '/api/v1/products/{id} 200 401 402 404 429 default',
      '/api/v1/export 200 400 401 402 429',
      '/api/v1/plan 200 401 402 429',
    ]);
  });

  it('bounds page sizes as section 8 does', () => {
    const found = Object.entries(document.paths).flatMap(([path, { get }]) =>
      (get.parameters ?? [])
        .filter(({ name }) => name === 'size' || name === 'limit')
        .map(({ schema }) => `${path} ${schema.minimum} to ${schema.maximum}, default ${schema.default}`),
    );
    expect(found).toEqual([
      '/api/v1/items 1 to 500, default 50',
      '/api/v1/changes 1 to 1000, default 500',
      '/api/v1/changes/recent 1 to 200, default 50',
      '/api/v1/products 1 to 200, default 50',
    ]);
  });

  it('declares the type and format of each number', () => {
    const { Item, PageDtoItem } = document.components.schemas;
    expect(Item?.properties).toMatchObject({
      id: { type: 'integer', format: 'int64' },
      price: { type: ['number', 'null'] },
      priceChangedAt: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
    });
    expect(PageDtoItem?.properties).toMatchObject({
      page: { type: 'integer', format: 'int32' },
      totalElements: { type: 'integer', format: 'int64' },
    });
  });

  it('describes each operation and uses every tag', () => {
    const { tags, paths, webhooks } = document;
    const operations = [...Object.values(paths).map(({ get }) => get), ...Object.values(webhooks).map((w) => w.post)];
    for (const { description, summary } of operations) expect(description.length + summary.length).toBeGreaterThan(40);
    const used = new Set(operations.flatMap((operation) => operation.tags));
    expect([...used].sort()).toEqual(tags.map(({ name }) => name));
  });

  it('describes a pair in `changes` as an array of two, old and new, in a form that every tool reads', () => {
    const { Change } = document.components.schemas;
    const pair = {
      type: 'array',
      prefixItems: ['Old value', 'New value'].map((description) => ({ description })),
      items: {},
      minItems: 2,
      maxItems: 2,
    };
    expect(Change?.properties?.changes?.additionalProperties).toEqual(pair);
  });

  it('describes every resource and every field', () => {
    const { schemas } = document.components;
    expect(Object.keys(schemas).length).toBe(24);
    for (const [name, { description, properties = {} }] of Object.entries(schemas)) {
      const fields = Object.entries(properties).map(([field, { description: text }]) => [`${name}.${field}`, text]);
      for (const described of [[name, description], ...fields])
        expect(described).toEqual([described[0], expect.any(String)]);
    }
  });

  it("contains no header name that the API document doesn't show", () => {
    expect(JSON.stringify(document)).not.toMatch(/"(RateLimit|X-Quota)-[\w-]+"/);
  });
});
