import { expect } from 'vitest';
import type { PricelakeError } from '../src/io/errors.js';

/** Returns the error of work that must fail. */
export function failure(work: Promise<unknown>): Promise<PricelakeError> {
  return work.then(
    () => expect.unreachable('it should have failed'),
    (error: PricelakeError) => error,
  );
}

/** Returns the error of work that may fail. */
export function faultOf(work: Promise<unknown>): Promise<PricelakeError | undefined> {
  return work.then(
    () => undefined,
    (error: PricelakeError) => error,
  );
}
