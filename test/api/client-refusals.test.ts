import { expect, test } from 'vitest';
import { z } from 'zod';
import { catchError, KEY, startAnswers } from './local-service.js';

const LIMIT_BODY = {
  status: 429,
  error: 'Too Many Requests',
  message: 'Month used up',
  docsUrl: 'https://docs.example.com/errors#429',
  limit: 'apiCallsPerMonth',
  allowed: 1000,
  plan: 'free',
  upgradeUrl: 'https://example.com/plans',
};

function errorBody(status: number, message: string, more = {}) {
  return { status, error: 'Error', message, docsUrl: 'https://docs.example.com/errors', ...more };
}

test.each([
  [400, 'bad_request', 'minPrice is not a number'],
  [401, 'unauthorized', 'The key is revoked'],
  [402, 'plan_refuses', 'Payment overdue'],
  [404, 'not_found', 'No such item'],
])(
  "status %i is the error code %s with the service's message and help page, and is not retried",
  async (status, code, message) => {
    const { client, urls } = await startAnswers([[status, errorBody(status, message)]]);
    const error = await catchError(client.bytes('/items/1', {}));
    expect(error.code).toBe(code);
    expect(error.message).toBe(`GET /api/v1/items/1 returned ${status}: ${message}`);
    expect(error.facts).toMatchObject({ status, docsUrl: 'https://docs.example.com/errors' });
    expect(urls).toHaveLength(1);
  },
);

test.each(['datasets', 'changeFeed', 'paymentOverdue'])(
  'a 402 error names the limit %s, the plan and where to upgrade',
  async (limit) => {
    const { client } = await startAnswers([[402, { ...LIMIT_BODY, status: 402, limit, allowed: false }]]);
    const error = await catchError(client.bytes('/changes', {}));
    expect(error.code).toBe('plan_refuses');
    expect(error.facts).toMatchObject({ limit, allowed: false, plan: 'free', upgradeUrl: 'https://example.com/plans' });
  },
);

test('a used-up month fails without a retry and reports when the next run can start', async () => {
  const { client, io, urls } = await startAnswers([[429, LIMIT_BODY, { 'retry-after': '3600' }]]);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.code).toBe('quota');
  expect(error.facts).toMatchObject({
    limit: 'apiCallsPerMonth',
    allowed: 1000,
    nextRunAt: new Date('2026-11-20T13:00:00Z'),
    upgradeUrl: 'https://example.com/plans',
    docsUrl: 'https://docs.example.com/errors#429',
  });
  expect(urls).toHaveLength(1);
  expect(io.slept).toEqual([]);
});

test('used-up export rows are a quota error too', async () => {
  const { client } = await startAnswers([[429, { ...LIMIT_BODY, limit: 'exportRowsPerMonth' }]]);
  expect((await catchError(client.stream('/export', {}))).code).toBe('quota');
});

test("the service's message is cleaned and shortened, and the API key removed", async () => {
  const message = `\u001b[2JYour key ${KEY}\r\nis bad ${'x'.repeat(5000)}`;
  const { client } = await startAnswers([[401, errorBody(401, message, { docsUrl: 'javascript:alert(1)' })]]);
  const error = await catchError(client.bytes('/items', {}));
  expect(error.message).toContain('Your key [key] is bad xxx');
  expect(error.message.length).toBeLessThan(400);
  expect(error.facts.docsUrl).toBeUndefined();
});

test.each([204, 206, 304, 403, 405, 418])(
  "status %i, which the API document doesn't list, is a contract error",
  async (status) => {
    const { client, urls } = await startAnswers([[status, '']]);
    const error = await catchError(client.json('/plan', {}, z.unknown()));
    expect(error.code).toBe('contract');
    expect(error.facts.status).toBe(status);
    expect(urls).toHaveLength(1);
  },
);
