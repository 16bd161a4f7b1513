import { expect, test } from 'vitest';
import { createCleaner } from '../../src/api/clean-text.js';
import { explainRefusal } from '../../src/api/refusal.js';

const NOW = new Date('2026-12-20T12:00:00Z');
const docsUrl = 'https://docs.example.com/errors';

function explain(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = { status, headers, body: Buffer.from(text) };
  return explainRefusal(answer, 'GET /api/v1/items', createCleaner('secret'), NOW);
}

test('the facts are exactly the fields of the body that have a valid type', () => {
  const whole = { limit: 'datasets', plan: 'free', allowed: 3, upgradeUrl: docsUrl, docsUrl };
  const { message: _said, ...named } = { message: 'no', ...whole };
  expect(explain(400, { message: 'no', ...whole, more: 1 }).facts).toStrictEqual({ status: 400, ...named });
  const odd = { message: '', limit: 7, plan: null, allowed: 'many', docsUrl: 'ftp://x' };
  expect(explain(400, odd).facts).toStrictEqual({ status: 400 });
  expect(explain(400, odd).message).toBe('GET /api/v1/items returned 400');
  expect(explain(400, { message: 'no', allowed: false }).facts).toStrictEqual({ status: 400, allowed: false });
});

test.each(['null', '7', '"no"', '[]', '{}', '<html>', ''])(
  'the unusable body %j leaves only the status as a fact',
  (body) => {
    const refusal = explain(402, body);
    expect(refusal).toMatchObject({ code: 'plan_refuses', message: 'GET /api/v1/items returned 402' });
    expect(refusal.facts).toStrictEqual({ status: 402, hint: expect.stringContaining('upgradeUrl') });
    const strange = explain(404, body);
    expect(strange).toMatchObject({
      code: 'contract',
      message: "GET /api/v1/items returned 404, which the API document doesn't allow",
    });
    expect(strange.facts.hint).toContain('source.baseUrl');
    expect(explain(401, body)).toMatchObject({ code: 'unauthorized' });
    expect(explain(401, body).facts.hint).toContain('source.apiKey');
  },
);

test('a used-up month reports the first day of the next month, in December too', () => {
  const refusal = explain(429, { limit: 'apiCallsPerMonth' });
  expect(refusal).toMatchObject({ code: 'quota', facts: { nextRunAt: new Date('2027-01-01T00:00:00Z') } });
  expect(refusal.facts.hint).toContain('2027-01-01T00:00:00.000Z');
});
