import { PricelakeError } from '../io/errors.js';

/**
 * Converts a DuckDB error to a PricelakeError `query` with a one-line message. DuckDB's error also quotes the part of
 * the statement with the mistake and marks the mistake with a caret. That excerpt becomes `facts.excerpt`. Returns an
 * error that isn't from DuckDB unchanged.
 */
export function explainSqlError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof PricelakeError) return error;
  const text = error.message.replace(/^Failed to extract statements: /u, '');
  if (!/^[A-Z][A-Za-z ]+ Error: /u.test(text) || /^(INTERRUPT|IO) Error/u.test(text)) return error;
  const [message = '', excerpt] = text.split(/\n\s*(?=LINE \d+:)/u);
  const facts = { ...findHint(message), ...(excerpt === undefined ? {} : { excerpt: excerpt.trimEnd() }) };
  return new PricelakeError('query', message.trim(), facts, { cause: error });
}

function findHint(message: string): { hint?: string } {
  if (message.startsWith('Out of Memory')) {
    return { hint: 'Raise the limit with --memory, or select fewer rows.' };
  }
  if (/Table with name (?:weights|tree) does not exist/u.test(message)) {
    return {
      hint: 'Pass weights with --weights: a CSV file with the columns category (or shop, product …) and weight.',
    };
  }
  if (!message.includes('Table with name rates does not exist')) return {};
  return { hint: 'Pass exchange rates with --fx: a CSV file with the columns date,currency,rate.' };
}
