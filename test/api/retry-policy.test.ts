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
  ['backoff ends at the maximum', retryIn(15_000), [FAULT, 7, 0, 0.5]],
  ['backoff stays at the maximum', retryIn(15_000), [FAULT, 1000, 0, 0.5], 2000],
  ['jitter may leave no wait', retryIn(0), [FAULT, 3, 0, 0]],
  ['faults are retried', retryIn(1000), [FAULT, 2, 9, 1], 3],
  ['faults are retried until the attempts are used up', OVER, [FAULT, 3, 0, 1], 3],
  ['a call has 8 attempts that fail', retryIn(0), [FAULT, 7, 29, 0]],
  ['a call has no ninth attempt that fails', OVER, [FAULT, 8, 29, 0]],
  ['a call is answered 30 times that it comes too often', retryIn(0), [LIMITED, 7, 29, 0]],
  ['a call is not answered so a 31st time', OVER, [LIMITED, 0, 30, 0.5]],
  ['a rate limit waits as long as the service says', retryIn(3000), [{ ...LIMITED, retryAfterMs: 3000 }, 8, 20, 0.9]],
  ['a rate limit without a time backs off by its own attempts', retryIn(250), [LIMITED, 8, 1, 0.5]],
  ['a rate limit that asks for no wait backs off', retryIn(1000), [{ ...LIMITED, retryAfterMs: 0 }, 0, 3, 0.5]],
  ['the longest wait is waited for', retryIn(120_000), [{ ...LIMITED, retryAfterMs: 120_000 }, 1, 1, 0]],
  ['the longest wait of a 5xx is, too', retryIn(120_000), [{ ...FAULT, retryAfterMs: 120_000 }, 1, 1, 0]],
  [
    'a wait that is too long ends the call',
    { retry: false, because: 'wait_too_long', waitMs: 120_001 },
    [{ ...LIMITED, retryAfterMs: 120_001 }, 0, 1, 0],
  ],
  ['the Retry-After of a 5xx is the least wait', retryIn(2000), [{ ...FAULT, retryAfterMs: 2000 }, 1, 0, 0.5]],
  ['backoff may be longer than a Retry-After', retryIn(4000), [{ ...FAULT, retryAfterMs: 2000 }, 5, 0, 0.5]],
  [
    'what may be paid for twice is not repeated',
    { retry: false, because: 'unrepeatable' },
    [{ kind: 'fault', repeatable: false }, 1, 0, 0],
  ],
])('%s', (_what, decision, [setback, faults, rateLimited, random], attempts = DEFAULT_ATTEMPTS) => {
  expect(decideRetry(setback, { faults, rateLimited }, attempts, random)).toEqual(decision);
});
