import { hasSystemCode, PricelakeError } from '../errors/errors.js';

/** Hint for a store that does not hold what was put there. */
export const CHANGED_HINT =
  'The object was changed or damaged in the store: restore it there, or use a machine that has the lake.';

interface Facts {
  name?: unknown;
  $metadata?: { httpStatusCode?: number };
}

/** HTTP status of an answer of the store; undefined where there was none. */
export function statusOf(error: unknown): number | undefined {
  return (error as Facts | null)?.$metadata?.httpStatusCode;
}

/** Name of a fault, as the store or the SDK gives it. */
export function nameOf(error: unknown): string {
  const { name } = (error ?? {}) as Facts;
  return typeof name === 'string' && /^\w{1,60}$/.test(name) ? name : 'unknown fault';
}

/** What may be gone when the same is asked again: no answer, an answer that broke off, or one that says so. */
export function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  if (nameOf(error) === 'CredentialsProviderError') return false;
  // Also of a refusal: without its body it has no name.
  if (isNetworkFault(error)) return true;
  return status !== undefined && (status >= 500 || status === 429 || status === 409 || status < 300);
}

const NETWORK = ['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'];

function isNetworkFault(error: unknown): boolean {
  return hasSystemCode(error, ...NETWORK) || ['TimeoutError', 'IncompleteBody', 'Error'].includes(nameOf(error));
}

/**
 * A fault of the store in words. The store's own text and the SDK's error stay out: a signature, a key or an address
 * with a token may be in them.
 */
export function explainFault(error: unknown, url: string, what: string): unknown {
  if (error instanceof PricelakeError) return error;
  // Faults of the local disk are reported as such.
  if (hasSystemCode(error, 'ENOSPC', 'EDQUOT', 'ENOENT', 'EACCES', 'EROFS', 'EMFILE', 'ENFILE')) return error;
  const status = statusOf(error);
  const name = nameOf(error);
  const where = `${url}: ${what}: ${status === undefined ? name : `${status} ${name}`}`;
  if (name === 'CredentialsProviderError') {
    const hint = 'Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role.';
    return new PricelakeError('unauthorized', `${url}: the AWS SDK found no credentials`, { hint });
  }
  if (status === 401 || status === 403) {
    const hint = 'The credentials need to list the bucket, and to get, put and delete objects below the prefix.';
    return new PricelakeError('unauthorized', where, { hint, status });
  }
  if (status === 404)
    return new PricelakeError('config', where, { hint: 'Create the bucket, or name another one.', status });
  if (isPassing(error)) {
    const hint = 'Run the same command again; it continues where it stopped.';
    return new PricelakeError('unavailable', where, { hint, ...(status === undefined ? {} : { status }) });
  }
  return new PricelakeError('config', where, {
    hint: 'Check lake.remote: bucket, endpoint, region and pathStyle.',
    ...(status === undefined ? {} : { status }),
  });
}
