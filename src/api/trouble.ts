import { type ErrorFacts, PricelakeError } from '../errors/errors.js';
import type { Decision, Setback } from './retry-policy.js';

/** An attempt failed in a way that another may mend. Never leaves src/api. */
export class Trouble extends Error {
  readonly setback: Setback;
  readonly facts: ErrorFacts;

  constructor(setback: Setback, message: string, facts: ErrorFacts, options?: { cause?: unknown }) {
    super(message, options);
    this.setback = setback;
    this.facts = facts;
  }

  /** The error that callers see once it is decided not to try again. */
  giveUp(decision: Decision & { retry: false }, attempts: number, now: Date): PricelakeError {
    const facts: ErrorFacts = { ...this.facts, attempts };
    let message = this.#tell(attempts);
    if (decision.because === 'wait_too_long') {
      facts.nextRunAt = new Date(now.getTime() + decision.waitMs);
      message += `; the service asks to come back at ${facts.nextRunAt.toISOString()}`;
    }
    return new PricelakeError('unavailable', message, facts, this.cause === undefined ? {} : { cause: this.cause });
  }

  /** The error of a wait for another attempt that ended first: why the run waited, and what ended the wait. */
  endBy({ code, message, facts }: PricelakeError, attempts: number): PricelakeError {
    const told = `${this.#tell(attempts)}; ${message}`;
    return new PricelakeError(code, told, { ...facts, ...this.facts, attempts }, { cause: this.cause });
  }

  #tell(attempts: number): string {
    return attempts > 1 ? `${this.message}, after ${attempts} attempts` : this.message;
  }
}
