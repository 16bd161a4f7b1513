/** How long to keep trying. Times in milliseconds. */
export interface RetryPolicy {
  /** Attempts of one call that may end in a network fault or a 5xx, the first included. Default 8. */
  attempts: number;
  /** Attempts of one call that may be answered 429 `ratePerSecond`. Default 30. */
  rateLimitedAttempts: number;
  /** Backoff before the second attempt lies between 0 and this. Default 500. */
  baseMs: number;
  /** Longest backoff. Default 30,000. */
  maxMs: number;
  /** Longest wait the service may ask for; a longer one ends the call with its time. Default 120,000. */
  maxWaitMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 8,
  rateLimitedAttempts: 30,
  baseMs: 500,
  maxMs: 30_000,
  maxWaitMs: 120_000,
};

export type TroubleKind = 'fault' | 'server_error' | 'rate_limited';

/** How one call has fared so far, the attempt just ended included. */
export interface Tries {
  faults: number;
  rateLimited: number;
}

export interface Setback {
  kind: TroubleKind;
  /** Wait the service asked for. */
  retryAfterMs?: number | undefined;
  /** False where another attempt might be paid for twice. */
  repeatable: boolean;
}

export type Decision =
  | { retry: true; waitMs: number }
  | { retry: false; because: 'unrepeatable' | 'attempts' }
  | { retry: false; because: 'wait_too_long'; waitMs: number };

/** Decides after a failed attempt. `random` is uniform in [0, 1). */
export function decideRetry(setback: Setback, tries: Tries, policy: RetryPolicy, random: number): Decision {
  if (!setback.repeatable) return { retry: false, because: 'unrepeatable' };
  const asked = setback.retryAfterMs ?? 0;
  // Told before the attempts are counted: the caller learns when to come back.
  if (asked > policy.maxWaitMs) return { retry: false, because: 'wait_too_long', waitMs: asked };
  const limited = setback.kind === 'rate_limited';
  const [made, allowed] = limited ? [tries.rateLimited, policy.rateLimitedAttempts] : [tries.faults, policy.attempts];
  if (made >= allowed) return { retry: false, because: 'attempts' };
  const backoff = computeBackoff(made, policy, random);
  // A 429's Retry-After is exact, unless it is no wait at all; a 5xx's is the least: only jitter keeps clients apart.
  return { retry: true, waitMs: limited && asked > 0 ? asked : Math.max(asked, backoff) };
}

/** Full jitter: uniform between 0 and baseMs · 2^(failures - 1), at most maxMs. */
function computeBackoff(failures: number, policy: RetryPolicy, random: number): number {
  return Math.round(random * Math.min(policy.maxMs, policy.baseMs * 2 ** (failures - 1)));
}
