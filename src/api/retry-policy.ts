import { type ErrorFacts, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { RateBucket } from './rate-bucket.js';

/** The most attempts of a call that end in network faults or 5xx. */
export const DEFAULT_ATTEMPTS = 8;
/** The most attempts of a call that end in 429 `ratePerSecond`. */
const RATE_LIMITED_ATTEMPTS = 30;
/** The pause before the second attempt is at most this long. */
const BASE_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
/** The longest wait that the service may ask for. A longer one ends the call. */
const LONGEST_WAIT_MS = 120_000;

type Tries = { faults: number; rateLimited: number };

interface Setback {
  /** A 5xx is a `fault`. */
  kind: 'fault' | 'rate_limited';
  /** The wait that the service asked for. */
  retryAfterMs?: number | undefined;
  /** False if another attempt might be paid for twice. */
  repeatable: boolean;
}

type Decision =
  | { retry: true; waitMs: number }
  | { retry: false; because: 'unrepeatable' | 'attempts' }
  | { retry: false; because: 'wait_too_long'; waitMs: number };

/** @param random uniform in [0, 1) */
export function decideRetry(setback: Setback, tries: Tries, attempts: number, random: number): Decision {
  if (!setback.repeatable) return { retry: false, because: 'unrepeatable' };
  const asked = setback.retryAfterMs ?? 0;
  // This comes before the count of attempts, so that the caller learns when to try again.
  if (asked > LONGEST_WAIT_MS) return { retry: false, because: 'wait_too_long', waitMs: asked };
  const limited = setback.kind === 'rate_limited';
  const [made, allowed] = limited ? [tries.rateLimited, RATE_LIMITED_ATTEMPTS] : [tries.faults, attempts];
  if (made >= allowed) return { retry: false, because: 'attempts' };
  // Full jitter: uniform between 0 and a ceiling that doubles with each failure.
  const backoff = Math.round(random * Math.min(LONGEST_BACKOFF_MS, BASE_MS * 2 ** (made - 1)));
  // Retry-After of a 429 is exact unless it is 0. That of a 5xx is a minimum, because only jitter keeps clients from
  // retrying at the same time.
  return { retry: true, waitMs: limited && asked > 0 ? asked : Math.max(asked, backoff) };
}

/** A failed attempt that may be retried. Never leaves src/api. */
export class Trouble extends Error {
  readonly setback: Setback;
  readonly facts: ErrorFacts;

  constructor(setback: Setback, message: string, facts: ErrorFacts, options?: { cause?: unknown }) {
    super(message, options);
    this.setback = setback;
    this.facts = facts;
  }

  /** The error for callers when there is no further attempt. */
  giveUp(decision: Decision & { retry: false }, attempts: number, now: Date): PricelakeError {
    const facts: ErrorFacts = { ...this.facts, attempts };
    let message = this.#tell(attempts);
    if (decision.because === 'wait_too_long') {
      facts.nextRunAt = new Date(now.getTime() + decision.waitMs);
      message += `; the service asks for a retry at ${facts.nextRunAt.toISOString()}`;
    }
    return new PricelakeError('unavailable', message, facts, this.cause === undefined ? {} : { cause: this.cause });
  }

  /** The error for a wait that was ended early: why the run waited, and what ended the wait. */
  endBy({ code, message, facts }: PricelakeError, attempts: number): PricelakeError {
    const summary = `${this.#tell(attempts)}; ${message}`;
    return new PricelakeError(code, summary, { ...facts, ...this.facts, attempts }, { cause: this.cause });
  }

  #tell(attempts: number): string {
    return attempts > 1 ? `${this.message}, after ${attempts} attempts` : this.message;
  }
}

interface RetryContext {
  path: string;
  /** The most attempts of a call that end in network faults or 5xx. */
  attempts: number;
  bucket: RateBucket;
  io: Io;
  signal: AbortSignal;
}

/**
 * Runs a call with retries. Each attempt takes a token. A rate limit or Retry-After applies to the whole service and
 * pauses every call; a fault pauses only this one. A pause that is too long ends every call that it would delay.
 * @throws PricelakeError: `unavailable` in place of Trouble, and `deadline` with the trouble before it
 */
export async function runWithRetries<T>(context: RetryContext, attempt: () => Promise<T>): Promise<T> {
  const { path, bucket, io, signal } = context;
  const tries: Tries = { faults: 0, rateLimited: 0 };
  let last: Trouble | undefined;
  /** The error that ends a wait does not say why the run waited, so that is added. */
  const waitFor = (wait: Promise<void>) =>
    wait.catch((error: unknown) => {
      const isLate = error instanceof PricelakeError && error.code === 'deadline';
      throw isLate && last !== undefined ? last.endBy(error, tries.faults + tries.rateLimited) : error;
    });
  for (;;) {
    await waitFor(bucket.take(signal));
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Trouble) || signal.aborted) throw error;
      last = error;
      const limited = error.setback.kind === 'rate_limited';
      tries[limited ? 'rateLimited' : 'faults'] += 1;
      const attempts = tries.faults + tries.rateLimited;
      const decision = decideRetry(error.setback, tries, context.attempts, io.random());
      if (!decision.retry) {
        const failure = error.giveUp(decision, attempts, io.now());
        if (decision.because === 'wait_too_long') bucket.close(decision.waitMs, failure);
        throw failure;
      }
      const { waitMs } = decision;
      io.log('warn', limited ? 'api.rate_limited' : 'api.retry', {
        path,
        attempt: attempts,
        waitMs,
        reason: error.message,
      });
      if (limited || error.setback.retryAfterMs !== undefined) bucket.pause(waitMs);
      else await waitFor(io.sleep(waitMs, signal));
    }
  }
}
