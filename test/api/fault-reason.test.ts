import { expect, test } from 'vitest';
import { createCleaner } from '../../src/api/clean-text.js';
import { explainFault } from '../../src/api/fault-reason.js';
import { DEFAULT_TIMEOUTS } from '../../src/api/transport.js';

const fault = (message: string, code?: unknown, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), code === undefined ? {} : { code });
const explain = (error: unknown) => explainFault(error, DEFAULT_TIMEOUTS, createCleaner('secret'));

test.each([
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection within 10 s'],
  ['UND_ERR_HEADERS_TIMEOUT', 'no response within 120 s'],
  ['UND_ERR_BODY_TIMEOUT', 'no data for 60 s'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the response headers are larger than 16 KiB'],
  ['UND_ERR_SOCKET', 'the connection closed early'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the connection closed early'],
  ['Z_BUF_ERROR', 'the gzip body ends early'],
  ['Z_DATA_ERROR', 'the gzip body is damaged'],
  ['ECONNRESET', 'ECONNRESET'],
  ['ENOTFOUND', 'host not found: ENOTFOUND'],
  ['EAI_AGAIN', "the DNS server doesn't respond (EAI_AGAIN)"],
  ['ECONNREFUSED', 'connection refused: ECONNREFUSED'],
])('%s is explained as "%s" and counts as temporary', (code, reason) => {
  expect(explain(fault('x', code))).toMatchObject({ reason, passing: true, cause: { message: 'x', code } });
});

test('the code may belong to a nested cause', () => {
  expect(explain(fault('fetch failed', undefined, fault('x', 7, fault('y', 'ENOTFOUND'))))).toMatchObject({
    reason: 'host not found: ENOTFOUND',
    cause: { message: 'fetch failed', code: 'ENOTFOUND' },
  });
});

test.each([
  ['CERT_HAS_EXPIRED'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['SELF_SIGNED_CERT_IN_CHAIN'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['ERR_SSL_WRONG_VERSION_NUMBER'],
])('%s counts as permanent', (code) => {
  expect(explain(fault('x', code)).passing).toBe(false);
});

test('an error without a code is explained by its message, with the key removed', () => {
  const { reason, passing, cause } = explain(fault('a secret\nbroke'));
  expect([reason, passing, cause.message]).toEqual(['a [key] broke', true, 'a [key] broke']);
  expect(cause).not.toHaveProperty('code');
  expect(explain('broke').reason).toBe('broke');
});
