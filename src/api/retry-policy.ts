import { type ErrorFacts, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { RateBucket } from './rate-bucket.js';

/** The maximum number of attempts of a call after network errors or 5xx responses. */
export const DEFAULT_ATTEMPTS = 8;
/** The maximum number of attempts of a call after 429 responses from the rate limit (`ratePerSecond`). */
const RATE_LIMITED_ATTEMPTS = 30;
/** The maximum pause before the second attempt, in milliseconds. */
const BASE_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
/** The longest Retry-After time, in milliseconds, for which a call waits. If the time is longer, the call fails. */
const LONGEST_WAIT_MS = 120_000;

type Tries = { faults: number; rateLimited: number };

interface Setback {
  /** The kind of failure. `fault` is a network error or a 5xx response. */
  kind: 'fault' | 'rate_limited';
  /** The pause that the service has requested. */
  retryAfterMs?: number | undefined;
  /** False if a retry might be billed again. */
  repeatable: boolean;
}

type Decision =
  | { retry: true; waitMs: number }
  | { retry: false; because: 'unrepeatable' | 'attempts' }
  | { retry: false; because: 'wait_too_long'; waitMs: number };

/** Decides whether to retry a failed call, and how long to wait first. @param random a random number in [0, 1) */
export function decideRetry(setback: Setback, tries: Tries, attempts: number, random: number): Decision {
  if (!setback.repeatable) return { retry: false, because: 'unrepeatable' };
  const asked = setback.retryAfterMs ?? 0;
  // Checks the requested pause before the number of attempts, so that the error contains the time of the next attempt.
  if (asked > LONGEST_WAIT_MS) return { retry: false, because: 'wait_too_long', waitMs: asked };
  const limited = setback.kind === 'rate_limited';
  const [made, allowed] = limited ? [tries.rateLimited, RATE_LIMITED_ATTEMPTS] : [tries.faults, attempts];
  if (made >= allowed) return { retry: false, because: 'attempts' };
  // The pause is random (full jitter), between 0 and a limit that doubles with each failure.
  const backoff = Math.round(random * Math.min(LONGEST_BACKOFF_MS, BASE_MS * 2 ** (made - 1)));
  // After a 429, waits exactly as long as Retry-After requests, unless this is 0. After a 5xx, waits at least that
  // long. The random part prevents all clients from retrying at the same time.
  return { retry: true, waitMs: limited && asked > 0 ? asked : Math.max(asked, backoff) };
}

/** An attempt failed, and the call may be retried. Only src/api uses this error; callers get a PricelakeError. */
export class Trouble extends Error {
  readonly setback: Setback;
  readonly facts: ErrorFacts;

  constructor(setback: Setback, message: string, facts: ErrorFacts, options?: { cause?: unknown }) {
    super(message, options);
    this.setback = setback;
    this.facts = facts;
  }

  /** Returns the error to throw when no further attempt is made. */
  giveUp(decision: Decision & { retry: false }, attempts: number, now: Date): PricelakeError {
    const facts: ErrorFacts = { ...this.facts, attempts };
    let message = this.#tell(attempts);
    if (decision.because === 'wait_too_long') {
      facts.nextRunAt = new Date(now.getTime() + decision.waitMs);
      message += `; the service requests a retry at ${facts.nextRunAt.toISOString()}`;
    }
    return new PricelakeError('unavailable', message, facts, this.cause === undefined ? {} : { cause: this.cause });
  }

  /** Returns the error for an interrupted wait. Its message explains why the call waited, and what interrupted it. */
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
  /** The maximum number of attempts of a call after network errors or 5xx responses. */
  attempts: number;
  bucket: RateBucket;
  io: Io;
  signal: AbortSignal;
}

/**
 * Makes a call with retries. Each attempt takes a token. After a 429 or a response with Retry-After, all calls of the
 * client pause. After any other failure, only this call pauses. If the service requests a pause that is too long, this
 * call and all other calls of the client fail until that pause ends.
 * @throws PricelakeError `unavailable` after the last attempt; `deadline`, with the last failure, if a pause is too
 * long for the deadline
 */
export async function runWithRetries<T>(context: RetryContext, attempt: () => Promise<T>): Promise<T> {
  const { path, bucket, io, signal } = context;
  const tries: Tries = { faults: 0, rateLimited: 0 };
  let last: Trouble | undefined;
  /** Adds the last failure to a deadline error, because the call was waiting after this failure. */
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
