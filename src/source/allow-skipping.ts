import { type ErrorCode, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';

/** The errors after which a run skips an optional request. Any other error, such as a revoked key, ends the run. */
const SKIPPED: ErrorCode[] = [
  'quota',
  'budget',
  'unavailable',
  'offline',
  'contract',
  'not_found',
  'bad_request',
  'plan_refuses',
];

/** Logs a warning that `error` caused a sample to be skipped. Rethrows an error that must not be ignored. */
export function skipSample(error: unknown, io: Io): undefined {
  const { code, message } = allowSkipping(error);
  io.log('warn', 'sample.skipped', { code, reason: message });
}

/** Returns the error of an optional request if a run may skip the request. Otherwise rethrows the error. */
export function allowSkipping(error: unknown): PricelakeError {
  if (error instanceof PricelakeError && SKIPPED.includes(error.code)) return error;
  throw error;
}
