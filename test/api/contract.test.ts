import { expect, test } from 'vitest';
import type { z } from 'zod';
import { changePage, dateTime, decimal, int64, planInfo, planLimits } from '../../src/api/contract.js';
import { parseExactJson } from '../../src/api/exact-json.js';

const accepts = (schema: z.ZodType, json: string) => schema.safeParse(parseExactJson(json)).success;

test('an int64 is exact to both its ends', () => {
  expect(int64.parse(parseExactJson('9223372036854775807'))).toBe(9223372036854775807n);
  expect(int64.parse(parseExactJson('-9223372036854775808'))).toBe(-9223372036854775808n);
  expect(int64.parse(parseExactJson('7'))).toBe(7n);
});

test.each(['9223372036854775808', '1.5', '"7"', 'true', 'null', '9007199254740993.0'])('%s is no int64', (json) => {
  expect(accepts(int64, json)).toBe(false);
});

test('a decimal of any length is a number, and nothing else is', () => {
  expect(decimal.parse(parseExactJson('0.12345678901234567891'))).toBe(0.12345678901234568);
  expect(decimal.parse(parseExactJson('9007199254740993'))).toBe(9007199254740992);
  for (const json of ['"19.99"', 'true', 'null', '1e400']) expect(accepts(decimal, json)).toBe(false);
});

test.each(['2026-11-20T12:00:00Z', '2026-11-20T12:00:00.123456Z', '2026-11-20T12:00:00+00:00', '2026-11-20T12:00Z'])(
  '%s is a date-time in UTC',
  (text) => {
    expect(dateTime.safeParse(text).success).toBe(true);
  },
);

test.each(['', '2026', 'Tuesday 7', '2026-11-20', '2026-13-20T12:00:00Z', '2026-11-20T12:00:00+02:00'])(
  '%j is none',
  (text) => {
    expect(dateTime.safeParse(text).success).toBe(false);
  },
);

test('a change needs both its old and its new value', () => {
  const page = (values: string) =>
    `{"changes":[{"id":1,"kind":"CHANGED","observedAt":"2026-11-20T12:00:00Z","price":null,"previousPrice":null,"changes":{"title":${values}},"item":null}],"hasMore":false,"nextCursor":1}`;
  expect(accepts(changePage, page('[null,"new"]'))).toBe(true);
  expect(accepts(changePage, page('["old"]'))).toBe(false);
  expect(accepts(changePage, page('["a","b","c"]'))).toBe(false);
});

test('limits may be null, absent, unknown, or as large as an int64', () => {
  expect(accepts(planLimits, '{"ratePerSecond":null,"apiCallsPerMonth":9223372036854775807,"moons":2}')).toBe(true);
  expect(accepts(planLimits, '{"ratePerSecond":-1}')).toBe(false);
});

test('an operator has no usage', () => {
  const plan = {
    plan: 'op',
    name: 'Operator',
    status: null,
    trialEndsAt: null,
    limits: {},
    lockedDatasets: 0,
    upgradeUrl: '',
    usage: null,
  };
  expect(planInfo.parse(plan).usage).toBeNull();
});
