import { type ErrorCode, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';

/** Errors that only make a run skip a proof. Other errors, such as a revoked key or a stop, end the run. */
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

/** Warns that the run has no sample. Throws errors that end a run. */
export function skipSample(error: unknown, io: Io): undefined {
  const { code, message } = allowSkipping(error);
  io.log('warn', 'sample.skipped', { code, reason: message });
}

/** Returns the error of a call that the run can do without. Throws errors that end a run. */
export function allowSkipping(error: unknown): PricelakeError {
  if (error instanceof PricelakeError && SKIPPED.includes(error.code)) return error;
  throw error;
}
