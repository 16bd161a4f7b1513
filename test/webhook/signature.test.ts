import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signBody } from '../../src/sandbox/webhooks/signing-secrets.js';
import { isSignedBy, judgeAge, parseSignature } from '../../src/wings/webhook/signature.js';
import { NOW, SECRET, sign } from './delivery.js';

const HEX = 'ab'.repeat(32);
const BODY = Buffer.from('{"id":"evt_1"}');

describe('the header Service-Signature', () => {
  test.each([
    [`t=1763640000,v1=${HEX}`, 1],
    [`t=1763640000,v1=${HEX},v1=${HEX.toUpperCase()}`, 2],
    [` v1=${HEX} , t=1763640000 `, 1],
    [`t=1763640000,v0=x,v1=${HEX},v2=y`, 1],
    [`t=1763640000,v1=short,v1=${HEX}`, 1],
  ])('is parsed: %s', (header, values) => {
    expect(parseSignature(header)).toMatchObject({ t: '1763640000', values: { length: values } });
  });

  test.each([
    undefined,
    '',
    't=1763640000',
    `v1=${HEX}`,
    `t=,v1=${HEX}`,
    `t=1e9,v1=${HEX}`,
    `t=-5,v1=${HEX}`,
    `t=1763640000,t=1763640001,v1=${HEX}`,
    `t=1763640000,v1=${HEX.slice(2)}`,
    `t=1763640000,v1=${HEX}00`,
    `t=1763640000,v1=${'zz'.repeat(32)}`,
    `t=1763640000;v1=${HEX}`,
  ])('is invalid: %s', (header) => {
    expect(parseSignature(header)).toBeUndefined();
  });

  test('never throws for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => void parseSignature(text)),
      { seed: 2026 },
    );
  });
});

describe('a body', () => {
  const isSigned = (header: string, body = BODY, secrets = [SECRET]) => {
    const signature = parseSignature(header);
    return signature !== undefined && isSignedBy(secrets, signature, body);
  };

  test('is accepted with any of the secrets and any of the signatures', () => {
    expect(isSigned(sign(BODY))).toBe(true);
    expect(isSigned(sign(BODY, { secrets: ['whsec_next', SECRET] }))).toBe(true);
    expect(isSigned(sign(BODY, { secrets: [SECRET, 'whsec_old'] }), BODY, ['whsec_next', 'whsec_old'])).toBe(true);
  });

  test('is rejected with another secret, time or byte, or without a secret', () => {
    expect(isSigned(sign(BODY, { secrets: ['whsec_other'] }))).toBe(false);
    expect(isSigned(sign(BODY), BODY, [])).toBe(false);
    expect(isSigned(sign(BODY).replace(/^t=\d/, 't=2'))).toBe(false);
    for (let at = 0; at < BODY.length; at++) {
      const other = Buffer.from(BODY);
      other[at] = (other[at] as number) ^ 1;
      expect(isSigned(sign(BODY), other)).toBe(false);
    }
  });

  test('with any bytes is signed by the sandbox in the way that the receiver accepts', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ minLength: 1 }), fc.nat(), (bytes, secret, t) => {
        expect(isSigned(signBody([secret], t, bytes), Buffer.from(bytes), [secret])).toBe(true);
      }),
      { seed: 2026 },
    );
  });
});

test('the age of a signature is judged to the second, on both sides', () => {
  const limits = { maxAgeMs: 60_000, maxSkewMs: 10_000 };
  const judge = (seconds: number) => judgeAge({ t: String(NOW.getTime() / 1000 - seconds), values: [] }, NOW, limits);
  expect([60, 61, 0, -10, -11].map(judge)).toEqual(['good', 'too old', 'good', 'good', 'ahead']);
});
