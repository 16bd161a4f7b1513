import { type ErrorFacts, PricelakeError } from '../io/errors.js';
import type { Cleaner } from './clean-text.js';
import { parseExactJson } from './exact-json.js';
import { Trouble } from './retry-policy.js';
import { parseRetryAfter } from './service-clock.js';
import type { Answer } from './transport.js';

type RefusedAnswer = Omit<Answer, 'body'> & { body: Buffer };

/** The facts that are read from an error response (API §7). */
interface ErrorBody {
  /** False if the API hasn't sent the response, for example if it is a proxy's error page. */
  genuine: boolean;
  said: string;
  limit: string | undefined;
  facts: ErrorFacts;
}

/**
 * Converts an error response (API §7) to an error. Returns Trouble, which may be retried, for a 5xx, and for a 429 from
 * the rate limit. Returns a PricelakeError for any other response.
 */
export function explainRefusal(
  answer: RefusedAnswer,
  where: string,
  cleaner: Cleaner,
  now: Date,
): PricelakeError | Trouble {
  const { status } = answer;
  const body = readErrorBody(answer, cleaner);
  const message = `${where} returned ${status}${body.said}`;
  const retryAfterMs = parseRetryAfter(answer.headers['retry-after'], now);
  if (status === 429) return explainTooMany(retryAfterMs, body, message, now);
  if (status >= 500) return new Trouble({ kind: 'fault', retryAfterMs, repeatable: true }, message, body.facts);
  const hint = HINTS[status];
  const code = CODES[status];
  // A 404 from a proxy or another server doesn't mean that the item is missing.
  if (code === undefined || (code === 'not_found' && !body.genuine)) {
    return new PricelakeError('contract', `${message}, which the API document doesn't allow`, {
      ...body.facts,
      hint: "Check that source.baseUrl is the service's address, and check any proxy in between.",
    });
  }
  return new PricelakeError(code, message, { ...body.facts, ...(hint === undefined ? {} : { hint }) });
}

const CODES: Partial<Record<number, 'bad_request' | 'unauthorized' | 'plan_refuses' | 'not_found'>> = {
  400: 'bad_request',
  401: 'unauthorized',
  402: 'plan_refuses',
  404: 'not_found',
};

const HINTS: Partial<Record<number, string>> = {
  401: 'Check source.apiKey: it may be mistyped or revoked, or belong to another service.',
  402: "See the plans at upgradeUrl, or stop using features that the plan doesn't include.",
};

/** Explains a 429. If the response doesn't name the limit, assumes the rate limit, which needs only a short wait. */
function explainTooMany(
  retryAfterMs: number | undefined,
  body: ErrorBody,
  message: string,
  now: Date,
): PricelakeError | Trouble {
  if (body.limit !== 'apiCallsPerMonth' && body.limit !== 'exportRowsPerMonth') {
    return new Trouble({ kind: 'rate_limited', retryAfterMs, repeatable: true }, message, body.facts);
  }
  const nextRunAt = retryAfterMs === undefined ? startOfNextMonth(now) : new Date(now.getTime() + retryAfterMs);
  const hint = `Run again after ${nextRunAt.toISOString()}, or see the plans at upgradeUrl.`;
  return new PricelakeError('quota', message, { ...body.facts, nextRunAt, hint });
}

/** Returns the time at which the monthly counters reset: the first of the next month, 00:00 UTC (API §8). */
function startOfNextMonth(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}

function readErrorBody(answer: RefusedAnswer, cleaner: Cleaner): ErrorBody {
  const facts: ErrorFacts = { status: answer.status };
  const fields = parseObject(answer.body);
  if (fields === undefined) return { genuine: false, said: '', limit: undefined, facts };
  const readText = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' ? cleaner.text(value) : undefined;
  };
  for (const name of ['docsUrl', 'upgradeUrl'] as const) {
    const url = cleaner.url(fields[name]);
    if (url !== undefined) facts[name] = url;
  }
  const limit = readText('limit');
  const plan = readText('plan');
  if (limit !== undefined) facts.limit = limit;
  if (plan !== undefined) facts.plan = plan;
  const { allowed } = fields;
  if (typeof allowed === 'number' || typeof allowed === 'boolean') facts.allowed = allowed;
  const message = readText('message');
  return { genuine: message !== undefined, said: message ? `: ${message}` : '', limit, facts };
}

function parseObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value = parseExactJson(body.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
