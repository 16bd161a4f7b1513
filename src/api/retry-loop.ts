import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import type { RateBucket } from './rate-bucket.js';
import { decideRetry, type RetryPolicy, type Tries } from './retry-policy.js';
import { Trouble } from './trouble.js';

export interface RetryContext {
  /** For the log. */
  path: string;
  policy: RetryPolicy;
  bucket: RateBucket;
  io: Io;
  signal: AbortSignal;
}

/**
 * Runs attempts, each with its own token, until one succeeds or the policy says stop. A rate limit, and whatever
 * comes with Retry-After, is the word of the whole service and pauses every call of the client; a fault only this
 * one. A pause that the policy finds too long ends every call that it would hold.
 *
 * @throws what an attempt throws, a Trouble turned into PricelakeError `unavailable`; `deadline` with the trouble before it.
 */
export async function runWithRetries<T>(context: RetryContext, attempt: () => Promise<T>): Promise<T> {
  const { path, policy, bucket, io, signal } = context;
  const tries: Tries = { faults: 0, rateLimited: 0 };
  let last: Trouble | undefined;
  /** The error that ends a wait does not say why the run waited. */
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
      const decision = decideRetry(error.setback, tries, policy, io.random());
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
