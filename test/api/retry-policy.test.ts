import { expect, test } from 'vitest';
import { DEFAULT_ATTEMPTS, decideRetry } from '../../src/api/retry-policy.js';

const FAULT = { kind: 'fault', repeatable: true } as const;
const LIMITED = { kind: 'rate_limited', repeatable: true } as const;

const retryIn = (waitMs: number) => ({ retry: true, waitMs });
const OVER = { retry: false, because: 'attempts' };

test.each<
  [
    string,
    object,
    [setback: Parameters<typeof decideRetry>[0], faults: number, rateLimited: number, random: number],
    number?,
  ]
>([
  ['backoff begins with half a second under full jitter', retryIn(250), [FAULT, 1, 0, 0.5]],
  ['backoff doubles', retryIn(1000), [FAULT, 3, 0, 0.5]],
  ['backoff reaches the maximum', retryIn(15_000), [FAULT, 7, 0, 0.5]],
  ['backoff stays at the maximum', retryIn(15_000), [FAULT, 1000, 0, 0.5], 2000],
  ['jitter may reduce the wait to zero', retryIn(0), [FAULT, 3, 0, 0]],
  ['faults are retried', retryIn(1000), [FAULT, 2, 9, 1], 3],
  ['faults are retried until the attempts are used up', OVER, [FAULT, 3, 0, 1], 3],
  ['a call is retried after 7 failed attempts', retryIn(0), [FAULT, 7, 29, 0]],
  ['a call ends after 8 failed attempts', OVER, [FAULT, 8, 29, 0]],
  ['a call is retried after 29 rate limits', retryIn(0), [LIMITED, 7, 29, 0]],
  ['a call ends after 30 rate limits', OVER, [LIMITED, 0, 30, 0.5]],
  ['a rate limit waits for its Retry-After', retryIn(3000), [{ ...LIMITED, retryAfterMs: 3000 }, 8, 20, 0.9]],
  ['a rate limit without Retry-After backs off by the number of rate limits', retryIn(250), [LIMITED, 8, 1, 0.5]],
  ['a rate limit with a Retry-After of zero backs off', retryIn(1000), [{ ...LIMITED, retryAfterMs: 0 }, 0, 3, 0.5]],
  ['a rate limit may wait for the maximum', retryIn(120_000), [{ ...LIMITED, retryAfterMs: 120_000 }, 1, 1, 0]],
  ['a 5xx may wait for the maximum', retryIn(120_000), [{ ...FAULT, retryAfterMs: 120_000 }, 1, 1, 0]],
  [
    'a wait beyond the maximum ends the call',
    { retry: false, because: 'wait_too_long', waitMs: 120_001 },
    [{ ...LIMITED, retryAfterMs: 120_001 }, 0, 1, 0],
  ],
  ['a 5xx waits at least for its Retry-After', retryIn(2000), [{ ...FAULT, retryAfterMs: 2000 }, 1, 0, 0.5]],
  ['backoff may exceed the Retry-After of a 5xx', retryIn(4000), [{ ...FAULT, retryAfterMs: 2000 }, 5, 0, 0.5]],
  [
    'a call that could be billed twice is not retried',
    { retry: false, because: 'unrepeatable' },
    [{ kind: 'fault', repeatable: false }, 1, 0, 0],
  ],
])('%s', (_what, decision, [setback, faults, rateLimited, random], attempts = DEFAULT_ATTEMPTS) => {
  expect(decideRetry(setback, { faults, rateLimited }, attempts, random)).toEqual(decision);
});
