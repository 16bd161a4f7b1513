import { createHmac } from 'node:crypto';

/**
 * The header Service-Signature (section 6): HMAC-SHA256 over `<t>.<body>` in hex, a `v1` for each valid secret.
 * @param t unix seconds
 * @param body the raw request body
 */
export function signBody(secrets: readonly string[], t: number, body: Uint8Array): string {
  const values = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`,
  );
  return [`t=${t}`, ...values].join(',');
}
