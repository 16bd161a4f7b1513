import { expect, test } from 'vitest';
import type { z } from 'zod';
import * as account from '../../src/api/account-contract.js';
import * as listings from '../../src/api/contract.js';
import { parseExactJson } from '../../src/api/exact-json.js';
import * as webhook from '../../src/api/webhook-contract.js';
import { dateTime, decimal, int64 } from '../../src/api/wire-types.js';

const { planLimits } = account;

const accepts = (schema: z.ZodType, json: string) => schema.safeParse(parseExactJson(json)).success;

test('an int64 is exact at both limits, and a decimal of any length is a number', () => {
  expect(int64.parse(parseExactJson('9223372036854775807'))).toBe(9223372036854775807n);
  expect(int64.parse(parseExactJson('-9223372036854775808'))).toBe(-9223372036854775808n);
  expect(int64.parse(parseExactJson('7'))).toBe(7n);
  expect(decimal.parse(parseExactJson('0.12345678901234567891'))).toBe(0.12345678901234568);
  expect(decimal.parse(parseExactJson('9007199254740993'))).toBe(9007199254740992);
});

const DAY = '2026-11-20T12:00';
const DATE_TIMES = ['Z', ':00Z', ':00.1Z', ':00.123456Z', ':00+00:00', ':00+0000', ':00-00:00', ':00'];
const NO_DATE_TIMES = ['', '2026', 'Tuesday 7', '2026-11-20', '2026-13-20T12:00:00Z', `${DAY}:00+02:00`, `${DAY}:00z`];

test.each<[type: string, schema: z.ZodType, right: string[], wrong: string[]]>([
  [
    'int64',
    int64,
    ['0', '-1'],
    ['9223372036854775808', '-9223372036854775809', '1.5', '"7"', 'true', 'null', '9007199254740993.0'],
  ],
  ['decimal', decimal, ['19.99', '-0.0'], ['"19.99"', 'true', 'null', '1e400']],
  [
    'date-time in UTC',
    dateTime,
    DATE_TIMES.map((end) => `"${DAY}${end}"`),
    [...NO_DATE_TIMES, '+002026-11-20T12:00:00Z'].map((text) => `"${text}"`),
  ],
])('%s accepts every valid value and refuses every other one', (_, schema, right, wrong) => {
  expect(right.filter((json) => !accepts(schema, json))).toEqual([]);
  expect(wrong.filter((json) => accepts(schema, json))).toEqual([]);
});

test('an invalid int64 or date-time has a clear message, and an unsafe JavaScript integer is no int64', () => {
  const tell = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message;
  expect(tell(int64, 2n ** 63n)).toBe('outside of int64');
  expect(tell(dateTime, 'Tuesday')).toBe('not a date-time in UTC');
  expect([Number.MAX_SAFE_INTEGER, 2 ** 53].map((value) => int64.safeParse(value).success)).toEqual([true, false]);
});

test('limits may be null, absent, unknown, or as large as an int64', () => {
  expect(accepts(planLimits, '{"ratePerSecond":null,"apiCallsPerMonth":9223372036854775807,"moons":2}')).toBe(true);
  expect(accepts(planLimits, '{"ratePerSecond":-1}')).toBe(false);
});

const PAGE = { page: 'integer', size: 'integer', totalElements: 'integer', totalPages: 'integer' };
const ERROR = { status: 'integer', error: 'string', message: 'string', docsUrl: 'string' };
const IDENTITY = { title: 'string|null', brand: 'string|null', mpn: 'string|null', gtin: 'string|null' };
const HISTORY_ENTRY = {
  id: 'integer',
  kind: 'NEW or CHANGED or REMOVED or RELISTED',
  observedAt: 'date-time',
  price: 'number|null',
  previousPrice: 'number|null',
  changes: 'pairs',
};

/** Sections 2, 6 and 7 in their own words: each field with its type; `?` is one that may be absent. */
const DOCUMENT: Record<string, Record<string, string>> = {
  categoryRef: { name: 'string', path: 'string', slug: 'string', source: 'AI or MANUAL' },
  siteRef: { id: 'integer', name: 'string', host: 'string', attribution: 'string|null' },
  source: { modelId: 'integer', name: 'string' },
  item: {
    id: 'integer',
    ...IDENTITY,
    price: 'number|null',
    previousPrice: 'number|null',
    priceChangedAt: 'date-time|null',
    currency: 'string|null',
    url: 'string|null',
    image: 'string|null',
    attributes: 'object',
    category: 'categoryRef|null',
    datasets: 'string[]',
    site: 'siteRef',
    source: 'source',
    firstSeenAt: 'date-time',
    lastSeenAt: 'date-time',
    lastChangedAt: 'date-time',
    removedAt: 'date-time|null',
  },
  dataset: {
    id: 'integer',
    name: 'string',
    description: 'string|null',
    items: 'integer',
    sites: 'integer',
    models: 'integer',
    healthyModels: 'integer',
    newestScrapeAt: 'date-time|null',
    oldestScrapeAt: 'date-time|null',
  },
  changeItem: { id: 'integer', title: 'string', url: 'string|null', currency: 'string|null', site: 'siteRef' },
  historyEntry: HISTORY_ENTRY,
  change: { ...HISTORY_ENTRY, item: 'changeItem|null' },
  changePage: { changes: 'change[]', hasMore: 'boolean', nextCursor: 'integer' },
  facetCategory: {
    id: 'integer',
    name: 'string',
    slug: 'string',
    path: 'string',
    parentId: 'integer|null',
    items: 'integer',
  },
  facetCurrency: { code: 'string', items: 'integer' },
  facetSite: { id: 'integer', name: 'string', host: 'string', items: 'integer' },
  facets: { categories: 'facetCategory[]', currencies: 'facetCurrency[]', sites: 'facetSite[]' },
  priceRange: { currency: 'string', min: 'number', max: 'number', offers: 'integer' },
  product: {
    id: 'string',
    ...IDENTITY,
    category: 'categoryRef|null',
    offers: 'integer',
    shops: 'integer',
    prices: 'priceRange[]',
  },
  productDetail: { product: 'product', offers: 'item[]' },
  itemPage: { content: 'item[]', ...PAGE },
  productPage: { content: 'product[]', ...PAGE },
  planLimits: {
    datasets: 'number|null?',
    apiCallsPerMonth: 'number|null?',
    ratePerSecond: 'number|null?',
    exportRowsPerMonth: 'number|null?',
    historyDays: 'number|null?',
    changeFeed: 'boolean|null?',
    webhooks: 'boolean|null?',
    delayHours: 'number|null?',
  },
  planUsage: { apiCalls: 'integer', exportRows: 'integer', resetsAt: 'date-time' },
  planInfo: {
    plan: 'string',
    name: 'string',
    status: 'TRIALING or ACTIVE or PAST_DUE or CANCELED|null',
    trialEndsAt: 'date-time|null',
    limits: 'planLimits',
    lockedDatasets: 'integer',
    upgradeUrl: 'string',
    usage: 'planUsage|null',
  },
  webhookEvent: {
    id: 'string',
    type: 'changes or ping',
    createdAt: 'date-time',
    cursor: 'integer|null',
    changes: 'change[]|null?',
  },
  errorBody: ERROR,
  limitErrorBody: {
    ...ERROR,
    limit: 'datasets or changeFeed or apiCallsPerMonth or ratePerSecond or exportRowsPerMonth or paymentOverdue',
    allowed: 'any|null',
    plan: 'string',
    upgradeUrl: 'string',
  },
};

const schemas: Record<string, unknown> = { ...listings, ...account, ...webhook };

/** Valid and invalid values of a type in the API document. */
const VALUES: Record<string, { right: unknown[]; wrong: unknown[] }> = {
  string: { right: ['', 'x'], wrong: [7, {}] },
  integer: { right: [0, 7], wrong: [1.5, '7', true] },
  number: { right: [0, 19.99], wrong: ['7', true] },
  boolean: { right: [true, false], wrong: [0, 'true'] },
  'date-time': { right: ['2026-11-20T12:00:00Z'], wrong: ['yesterday', 7] },
  any: { right: [7, 'x', false, {}], wrong: [] },
  object: { right: [{}, { stock: 7 }], wrong: [7, 'x', []] },
  pairs: { right: [{}, { price: [1, null] }], wrong: [7, { price: [1] }, { price: [1, 2, 3] }, { price: 1 }] },
};

function listValues(type: string): { right: unknown[]; wrong: unknown[] } {
  if (type.endsWith('[]')) {
    const { right, wrong } = listValues(type.slice(0, -2));
    return { right: [[], right], wrong: [{}, 'x', wrong.slice(0, 1)] };
  }
  if (type.includes(' or ')) return { right: type.split(' or '), wrong: ['other', '', 7] };
  return VALUES[type] ?? { right: [makeSample(type)], wrong: ['x', 7] };
}

function makeSample(name: string): Record<string, unknown> {
  const fields = Object.entries(DOCUMENT[name] as Record<string, string>);
  return Object.fromEntries(fields.map(([field, type]) => [field, listValues(type.replace(/\|.*/, '')).right[0]]));
}

test.each(Object.entries(DOCUMENT))('%s requires each field of the API document in its type', (name, fields) => {
  const sample = makeSample(name);
  const schema = schemas[name] as z.ZodType;
  const takes = (answer: object) => schema.safeParse(answer).success;
  expect(takes({ ...sample, more: 1 })).toBe(true);
  for (const [field, type] of Object.entries(fields)) {
    const { right, wrong } = listValues(type.replace(/\|.*/, ''));
    for (const value of [...right, ...wrong, null]) {
      const isTaken = value === null ? type.includes('|null') : right.includes(value);
      expect([field, value, takes({ ...sample, [field]: value })]).toEqual([field, value, isTaken]);
    }
    const { [field]: _absent, ...others } = sample;
    expect([field, takes(others)]).toEqual([field, type.endsWith('?')]);
  }
});
