import { adviseSpark } from '../analyze/on-spark.js';
import { PricelakeError } from '../io/errors.js';
import { isOutOfMemory } from '../lake/faults.js';

/** Marks the error of a question that took too long. */
export const LATE = 'isLate';

/** Adds to the error of a question that is too large for this process where it can run. */
export function explainTooLarge(error: unknown, analysis: string): unknown {
  const elsewhere = adviseSpark(analysis);
  if (elsewhere === undefined) return error;
  if (isOutOfMemory(error)) {
    const [message = ''] = error.message.split('\n', 1);
    return new PricelakeError('query', message, { hint: `Query less at once, or ${elsewhere}.` }, { cause: error });
  }
  if (!(error instanceof PricelakeError) || error.facts[LATE] !== true) return error;
  const hint = `${error.facts.hint?.replace(/\.$/u, '')}, or ${elsewhere}.`;
  return new PricelakeError(error.code, error.message, { ...error.facts, hint }, { cause: error });
}
