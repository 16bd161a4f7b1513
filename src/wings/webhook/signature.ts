import { createHmac, timingSafeEqual } from 'node:crypto';

/** The parsed Service-Signature header (API §6). */
export interface Signature {
  /** The Unix time in seconds, as the exact text from the header, because the signature covers this text. */
  t: string;
  /** The `v1` values, each of which has 32 bytes. While a secret is being replaced, there are two values. */
  values: Buffer[];
}

/** Limits, in ms, on a signature's age and on how far it is ahead of our clock. The API document has none. */
export interface AgeLimits {
  maxAgeMs: number;
  maxSkewMs: number;
}

const SECONDS = /^\d{1,12}$/;
const SHA256_HEX = /^[0-9a-f]{64}$/i;

/** Parses `t=<unix seconds>,v1=<hex>[,v1=<hex>]`, ignoring other names. Returns undefined for an invalid header. */
export function parseSignature(header: string | undefined): Signature | undefined {
  const pairs = (header ?? '').split(',').map((part) => part.trim().split('=', 2));
  const valuesOf = (name: string) => pairs.filter(([key]) => key === name).map(([, value = '']) => value);
  const [t = '', ...others] = valuesOf('t');
  const values = valuesOf('v1').filter((value) => SHA256_HEX.test(value));
  if (!SECONDS.test(t) || others.length > 0 || values.length === 0) return undefined;
  return { t, values: values.map((value) => Buffer.from(value, 'hex')) };
}

/** True if a `v1` value is the HMAC-SHA256 of `<t>.<body>` with one of the secrets. Compares in constant time. */
export function isSignedBy(secrets: readonly string[], { t, values }: Signature, body: Buffer): boolean {
  let isSigned = false;
  for (const secret of secrets) {
    const expected = sign(secret, t, body);
    for (const value of values) if (timingSafeEqual(expected, value)) isSigned = true;
  }
  return isSigned;
}

export function judgeAge({ t }: Signature, now: Date, limits: AgeLimits): 'good' | 'too old' | 'ahead' {
  const age = now.getTime() - Number(t) * 1000;
  if (age > limits.maxAgeMs) return 'too old';
  return age < -limits.maxSkewMs ? 'ahead' : 'good';
}

/** Builds the signature header for a body that this program sends. @param t the Unix time in seconds */
export function writeSignature(secret: string, t: number, body: Buffer): string {
  return `t=${t},v1=${sign(secret, String(t), body).toString('hex')}`;
}

function sign(secret: string, t: string, body: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest();
}
