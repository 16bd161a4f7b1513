import { type ErrorCode, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';

/** Errors that make a run skip an optional request. Other errors, such as a revoked key or a stop, end the run. */
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

/** Logs a warning that the sample was skipped. Rethrows errors that must end the run. */
export function skipSample(error: unknown, io: Io): undefined {
  const { code, message } = allowSkipping(error);
  io.log('warn', 'sample.skipped', { code, reason: message });
}

/** Returns the error of a request that the run can do without. Rethrows errors that must end the run. */
export function allowSkipping(error: unknown): PricelakeError {
  if (error instanceof PricelakeError && SKIPPED.includes(error.code)) return error;
  throw error;
}
