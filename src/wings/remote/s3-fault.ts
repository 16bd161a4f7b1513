import { hasSystemCode, PricelakeError } from '../../io/errors.js';

export const CHANGED_HINT =
  'The object was changed or damaged in the store. Restore it, or use a machine that has the lake.';

interface Facts {
  name?: unknown;
  $metadata?: { httpStatusCode?: number };
}

export function statusOf(error: unknown): number | undefined {
  return (error as Facts | null)?.$metadata?.httpStatusCode;
}

export function nameOf(error: unknown): string {
  const { name } = (error ?? {}) as Facts;
  return typeof name === 'string' && /^\w{1,60}$/.test(name) ? name : 'unknown fault';
}

/** True if a retry may help: the connection failed, the response was cut off, or the status is transient. */
export function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  if (nameOf(error) === 'CredentialsProviderError' || isCertificateFault(error)) return false;
  // An error in a response that was cut off has no name. It is retried, whatever its status.
  if (isNetworkFault(error)) return true;
  // The store has discarded the parts of the file that were already uploaded, so the file must be uploaded again.
  if (nameOf(error) === 'NoSuchUpload') return true;
  return status !== undefined && (status >= 500 || status === 429 || status === 409 || status < 300);
}

/** Returns true if the TLS connection failed because this machine doesn't trust the store's certificate. */
const isCertificateFault = (error: unknown): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(String((error as NodeJS.ErrnoException | null)?.code ?? ''));

const NETWORK = ['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'];

function isNetworkFault(error: unknown): boolean {
  return hasSystemCode(error, ...NETWORK) || ['TimeoutError', 'IncompleteBody', 'Error'].includes(nameOf(error));
}

/** Converts an error of the SDK. Doesn't quote the store's or the SDK's message, which may contain secrets. */
export function explainFault(error: unknown, url: string, what: string): unknown {
  if (error instanceof PricelakeError) return error;
  // Errors of the local disk are returned unchanged.
  if (hasSystemCode(error, 'ENOSPC', 'EDQUOT', 'ENOENT', 'EACCES', 'EROFS', 'EMFILE', 'ENFILE')) return error;
  const status = statusOf(error);
  const name = nameOf(error);
  const where = `${url}: ${what}: ${status === undefined ? name : `${status} ${name}`}`;
  if (name === 'CredentialsProviderError') {
    const hint = 'Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role.';
    return new PricelakeError('unauthorized', `${url}: the AWS SDK didn't find any credentials`, { hint });
  }
  if (isCertificateFault(error)) {
    const hint = 'Set NODE_EXTRA_CA_CERTS to the certificate file (PEM) of your certificate authority.';
    const { code } = error as NodeJS.ErrnoException;
    return new PricelakeError('config', `${url}: ${what}: this machine doesn't trust the certificate (${code})`, {
      hint,
    });
  }
  if (status === 401 || status === 403) {
    const hint =
      'The credentials need permission to list the bucket, and to get, put and delete objects under the prefix.';
    return new PricelakeError('unauthorized', where, { hint, status });
  }
  if (isPassing(error)) {
    const hint = 'Run the same command again to continue where it stopped.';
    return new PricelakeError('unavailable', where, { hint, ...(status === undefined ? {} : { status }) });
  }
  if (status === 404)
    return new PricelakeError('config', where, { hint: 'Create the bucket, or use another one.', status });
  return new PricelakeError('config', where, {
    hint: 'Check the bucket, endpoint, region and pathStyle in lake.remote.',
    ...(status === undefined ? {} : { status }),
  });
}
