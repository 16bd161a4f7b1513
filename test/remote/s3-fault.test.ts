import { expect, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import { explainFault, isPassing, nameOf, statusOf } from '../../src/wings/remote/s3-fault.js';

const URL = 's3://bucket/lake';
const fault = (name: string | undefined, status?: number, code?: string) =>
  Object.assign(new Error('a secret'), { name, code, $metadata: { httpStatusCode: status } });

test.each([
  ['CredentialsProviderError', undefined, undefined, false],
  ['CredentialsProviderError', 503, 'ECONNRESET', false],
  ['TimeoutError', undefined, undefined, true],
  ['IncompleteBody', 403, undefined, true],
  ['Error', 404, undefined, true],
  ...['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'].map(
    (code) => ['Other', undefined, code, true] as const,
  ),
  ['Other', undefined, 'ENOSPC', false],
  ['Error', undefined, 'SELF_SIGNED_CERT_IN_CHAIN', false],
  ['Error', undefined, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', false],
  ['Other', undefined, undefined, false],
  ['Other', 200, undefined, true],
  ['Other', 299, undefined, true],
  ['Other', 300, undefined, false],
  ['Other', 403, undefined, false],
  ['Other', 404, undefined, false],
  ['NoSuchUpload', 404, undefined, true],
  ['Other', 409, undefined, true],
  ['Other', 412, undefined, false],
  ['Other', 429, undefined, true],
  ['Other', 499, undefined, false],
  ['Other', 500, undefined, true],
  ['Other', 503, undefined, true],
] as const)('%s with status %s and code %s counts as temporary: %s', (name, status, code, isWorthIt) => {
  expect(isPassing(fault(name, status, code))).toBe(isWorthIt);
});

test("a fault has the store's name and status, if any", () => {
  expect(nameOf(fault('NoSuchKey', 404))).toBe('NoSuchKey');
  for (const error of [null, undefined, {}, { name: 7 }, { name: '' }, { name: 'a b' }, { name: 'x'.repeat(61) }])
    expect(nameOf(error)).toBe('unknown fault');
  expect([null, {}, { $metadata: {} }, fault('a', 404)].map(statusOf)).toEqual([undefined, undefined, undefined, 404]);
});

test.each([
  [
    fault('CredentialsProviderError'),
    'unauthorized',
    ": the AWS SDK didn't find any credentials",
    'Set AWS_PROFILE',
    undefined,
  ],
  [fault('AccessDenied', 403), 'unauthorized', ': read key: 403 AccessDenied', 'The credentials need', 403],
  [fault('Expired', 401), 'unauthorized', ': read key: 401 Expired', 'The credentials need', 401],
  [fault('NoSuchBucket', 404), 'config', ': read key: 404 NoSuchBucket', 'Create the bucket', 404],
  [fault('NoSuchUpload', 404), 'unavailable', ': read key: 404 NoSuchUpload', 'Run the same command again', 404],
  [fault('SlowDown', 503), 'unavailable', ': read key: 503 SlowDown', 'Run the same command again', 503],
  [fault('TimeoutError'), 'unavailable', ': read key: TimeoutError', 'Run the same command again', undefined],
  [fault('PermanentRedirect', 301), 'config', ': read key: 301 PermanentRedirect', 'Check the bucket', 301],
  [fault('a secret name'), 'config', ': read key: unknown fault', 'Check the bucket', undefined],
])('%s is explained as %s%s', (error, code, message, hint, status) => {
  const told = explainFault(error, URL, 'read key') as PricelakeError;
  expect(told).toMatchObject({ code, message: `${URL}${message}`, facts: { hint: expect.stringContaining(hint) } });
  expect(told.facts.status).toBe(status);
  expect('status' in told.facts).toBe(status !== undefined);
  expect(told.cause).toBeUndefined();
});

test('faults of the disk and our own errors are passed on unchanged', () => {
  const own = new PricelakeError('usage', 'own');
  const codes = ['ENOSPC', 'EDQUOT', 'ENOENT', 'EACCES', 'EROFS', 'EMFILE', 'ENFILE'];
  for (const error of [own, ...codes.map((code) => fault('Error', undefined, code))])
    expect(explainFault(error, URL, 'read key')).toBe(error);
});

test('an untrusted certificate is a permanent error that mentions NODE_EXTRA_CA_CERTS', () => {
  const explained = explainFault(fault('Error', undefined, 'SELF_SIGNED_CERT_IN_CHAIN'), URL, 'put items/1');
  expect(explained).toMatchObject({
    code: 'config',
    message: "s3://bucket/lake: put items/1: this machine doesn't trust the certificate (SELF_SIGNED_CERT_IN_CHAIN)",
    facts: { hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') },
  });
});
