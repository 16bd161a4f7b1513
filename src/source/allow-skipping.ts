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

/** Logs a warning that a sample was skipped. Throws errors that must end the run. */
export function skipSample(error: unknown, io: Io): undefined {
  const { code, message } = allowSkipping(error);
  io.log('warn', 'sample.skipped', { code, reason: message });
}

/** Returns the error of an optional request. Throws it if it must end the run. */
export function allowSkipping(error: unknown): PricelakeError {
  if (error instanceof PricelakeError && SKIPPED.includes(error.code)) return error;
  throw error;
}
