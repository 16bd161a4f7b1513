import { expect, test } from 'vitest';
import { DEFAULT_RETRY, decideRetry, Trouble } from '../../src/api/retry-policy.js';

const FAULT = { kind: 'fault', repeatable: true } as const;
const LIMITED = { kind: 'rate_limited', repeatable: true } as const;

test('backoff doubles under full jitter and ends at the maximum', () => {
  const policy = { ...DEFAULT_RETRY, attempts: 2000 };
  const wait = (faults: number, random: number) => decideRetry(FAULT, { faults, rateLimited: 0 }, policy, random);
  const waits = [1, 2, 3, 7, 8, 1000].map((faults) => wait(faults, 0.5));
  expect(waits).toEqual([250, 500, 1000, 15_000, 15_000, 15_000].map((waitMs) => ({ retry: true, waitMs })));
  expect(wait(3, 0)).toEqual({ retry: true, waitMs: 0 });
});

test('faults are retried until the attempts are used up', () => {
  const policy = { ...DEFAULT_RETRY, attempts: 3 };
  expect(decideRetry(FAULT, { faults: 2, rateLimited: 9 }, policy, 1)).toEqual({ retry: true, waitMs: 1000 });
  expect(decideRetry(FAULT, { faults: 3, rateLimited: 0 }, policy, 1)).toEqual({ retry: false, because: 'attempts' });
});

test('by default a call has 8 attempts that fail, and is answered 30 times that it comes too often', () => {
  const isRetried = (setback: typeof FAULT | typeof LIMITED, faults: number, rateLimited: number) =>
    decideRetry(setback, { faults, rateLimited }, DEFAULT_RETRY, 0).retry;
  expect([7, 8].map((faults) => isRetried(FAULT, faults, 29))).toEqual([true, false]);
  expect([29, 30].map((rateLimited) => isRetried(LIMITED, 7, rateLimited))).toEqual([true, false]);
});

test('a rate limit waits as long as the service says, and its attempts are counted apart', () => {
  const tries = { faults: 8, rateLimited: 1 };
  expect(decideRetry({ ...LIMITED, retryAfterMs: 3000 }, tries, DEFAULT_RETRY, 0.9)).toEqual({
    retry: true,
    waitMs: 3000,
  });
  const often = { ...tries, rateLimited: 20 };
  expect(decideRetry({ ...LIMITED, retryAfterMs: 3000 }, often, DEFAULT_RETRY, 0.9)).toEqual({
    retry: true,
    waitMs: 3000,
  });
  expect(decideRetry(LIMITED, tries, DEFAULT_RETRY, 0.5)).toEqual({ retry: true, waitMs: 250 });
  expect(decideRetry(LIMITED, { faults: 0, rateLimited: 30 }, DEFAULT_RETRY, 0.5)).toEqual({
    retry: false,
    because: 'attempts',
  });
});

test('a wait that is too long ends the call, however many attempts are left', () => {
  const decision = decideRetry({ ...LIMITED, retryAfterMs: 120_001 }, { faults: 0, rateLimited: 1 }, DEFAULT_RETRY, 0);
  expect(decision).toEqual({ retry: false, because: 'wait_too_long', waitMs: 120_001 });
});

test('a wait of exactly the longest is still waited for', () => {
  const tries = { faults: 1, rateLimited: 1 };
  for (const kind of ['rate_limited', 'server_error'] as const) {
    const setback = { kind, repeatable: true, retryAfterMs: 120_000 };
    expect(decideRetry(setback, tries, DEFAULT_RETRY, 0)).toEqual({ retry: true, waitMs: 120_000 });
  }
});

test('a rate limit that asks for no wait at all backs off all the same', () => {
  const tries = { faults: 0, rateLimited: 3 };
  expect(decideRetry({ ...LIMITED, retryAfterMs: 0 }, tries, DEFAULT_RETRY, 0.5)).toEqual({
    retry: true,
    waitMs: 1000,
  });
});

test('the Retry-After of a 5xx is the least wait', () => {
  const setback = { kind: 'server_error', repeatable: true, retryAfterMs: 2000 } as const;
  expect(decideRetry(setback, { faults: 1, rateLimited: 0 }, DEFAULT_RETRY, 0.5)).toEqual({
    retry: true,
    waitMs: 2000,
  });
  expect(decideRetry(setback, { faults: 5, rateLimited: 0 }, DEFAULT_RETRY, 0.5)).toEqual({
    retry: true,
    waitMs: 4000,
  });
});

test('what may be paid for twice is not repeated', () => {
  const decision = decideRetry({ kind: 'fault', repeatable: false }, { faults: 1, rateLimited: 0 }, DEFAULT_RETRY, 0);
  expect(decision).toEqual({ retry: false, because: 'unrepeatable' });
});

const NOW = new Date('2026-11-20T12:00:00Z');
const setback = { kind: 'fault', repeatable: true } as const;

test('the error that callers see says how often was tried, and keeps facts and cause', () => {
  const cause = new Error('reset');
  const trouble = new Trouble(setback, 'no answer', { host: 'h' }, { cause });
  const error = trouble.giveUp({ retry: false, because: 'attempts' }, 3, NOW);
  expect(error).toMatchObject({ code: 'unavailable', message: 'no answer, after 3 attempts', cause });
  expect(error.facts).toStrictEqual({ host: 'h', attempts: 3 });
});

test('one attempt needs no count, and no cause is no cause', () => {
  const error = new Trouble(setback, 'no answer', {}).giveUp({ retry: false, because: 'attempts' }, 1, NOW);
  expect(error.message).toBe('no answer');
  expect(error).not.toHaveProperty('cause');
});

test('a wait that is too long is an end that says when to come back', () => {
  const decision = { retry: false, because: 'wait_too_long', waitMs: 600_000 } as const;
  const error = new Trouble(setback, 'busy', {}).giveUp(decision, 1, NOW);
  expect(error.message).toBe('busy; the service asks to come back at 2026-11-20T12:10:00.000Z');
  expect(error.facts.nextRunAt).toEqual(new Date('2026-11-20T12:10:00Z'));
});
