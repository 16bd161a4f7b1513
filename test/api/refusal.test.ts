import { expect, test } from 'vitest';
import { createCleaner } from '../../src/api/clean-text.js';
import { explainRefusal } from '../../src/api/refusal.js';
import { Trouble } from '../../src/api/retry-policy.js';

const NOW = new Date('2026-12-20T12:00:00Z');
const docsUrl = 'https://docs.example.com/errors';

function explain(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const context = { where: 'GET /api/v1/items', cleaner: createCleaner('secret'), now: NOW };
  return explainRefusal({ status, headers, body: Buffer.from(text) }, context);
}

test('an answer of 500 and more may be tried again, at the time that it names', () => {
  for (const status of [500, 503, 599]) {
    const trouble = explain(status, { message: 'Maintenance', docsUrl }, { 'retry-after': '7' });
    expect(trouble).toBeInstanceOf(Trouble);
    expect(trouble).toMatchObject({
      message: `GET /api/v1/items was answered ${status}: Maintenance`,
      setback: { kind: 'server_error', retryAfterMs: 7000, repeatable: true },
      facts: { status, docsUrl },
    });
  }
});

test('the facts are those that the body names, in their types, and no others', () => {
  const whole = { limit: 'datasets', plan: 'free', allowed: 3, upgradeUrl: docsUrl, docsUrl };
  const { message: _said, ...named } = { message: 'no', ...whole };
  expect(explain(400, { message: 'no', ...whole, more: 1 }).facts).toStrictEqual({ status: 400, ...named });
  const odd = { message: '', limit: 7, plan: null, allowed: 'many', docsUrl: 'ftp://x' };
  expect(explain(400, odd).facts).toStrictEqual({ status: 400 });
  expect(explain(400, odd).message).toBe('GET /api/v1/items was answered 400');
  expect(explain(400, { message: 'no', allowed: false }).facts).toStrictEqual({ status: 400, allowed: false });
});

test.each(['null', '7', '"no"', '[]', '{}', '<html>', ''])('the body %j says nothing but the status', (body) => {
  const refusal = explain(402, body);
  expect(refusal).toMatchObject({ code: 'plan_refuses', message: 'GET /api/v1/items was answered 402' });
  expect(refusal.facts).toStrictEqual({ status: 402, hint: expect.stringContaining('upgradeUrl') });
  expect(explain(404, body)).toMatchObject({
    code: 'contract',
    message: 'GET /api/v1/items was answered 404; the API document does not allow that',
  });
});

test('a refused key and a plan that refuses say what to do', () => {
  expect(explain(401, {}).facts.hint).toContain('source.apiKey');
  expect(explain(402, {}).facts.hint).toContain('upgradeUrl');
});

test('a month that is used up ends with it, in December too, and says when', () => {
  const refusal = explain(429, { limit: 'apiCallsPerMonth' });
  expect(refusal).toMatchObject({ code: 'quota', facts: { nextRunAt: new Date('2027-01-01T00:00:00Z') } });
  expect(refusal.facts.hint).toContain('2027-01-01T00:00:00.000Z');
});
