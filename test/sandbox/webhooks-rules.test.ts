import { describe, expect, it } from 'vitest';
import { hasFailedTooLong, planNextAttempt } from '../../src/sandbox/webhooks/retry-schedule.js';
import { SigningSecrets, signBody } from '../../src/sandbox/webhooks/signing-secrets.js';
import { checkEndpointUrl } from '../../src/sandbox/webhooks/webhook.js';

describe('Service-Signature', () => {
  const body = Buffer.from('{"id":"evt_1","título":"ü"}');
  // Computed with Python's hmac module.
  const NEW = 'v1=e28bc280370f0b1d130d3cd20862be842cd5333153b8139b2d417f7c7bf9976d';
  const OLD = 'v1=030ccaf4e404833897fd8757e2e0c9bd18906f6586422e93a3e795e7c9a29c20';

  it('is the HMAC-SHA256 of `<t>.<body>` in hex', () => {
    expect(signBody(['whsec_new'], 1763640000, body)).toBe(`t=1763640000,${NEW}`);
  });

  it('has a second v1 while a rolled secret is valid', () => {
    expect(signBody(['whsec_new', 'whsec_old'], 1763640000, body)).toBe(`t=1763640000,${NEW},${OLD}`);
  });

  it('generates the same secrets for the same seed', () => {
    const [one, two] = [new SigningSecrets(7), new SigningSecrets(7)];
    one.set([]);
    two.set([]);
    expect(one.current).toMatch(/^sandbox_secret_[0-9a-f]{32}$/);
    expect(two.current).toBe(one.current);
  });
});

describe('retries', () => {
  const MINUTE = 60_000;
  const DAY = 24 * 60 * MINUTE;

  it('happen after 1, 5, 15 and 30 minutes, 1 and 2 hours, then every 4 hours, and end after 24 hours', () => {
    const waits: number[] = [];
    let now = 0;
    for (let attempt = 1; !hasFailedTooLong(now, 0); attempt++) {
      const next = planNextAttempt(attempt, now, 0);
      waits.push((next - now) / MINUTE);
      now = next;
    }
    expect(now).toBe(DAY);
    expect(waits.pop()).toBeLessThan(240);
    expect(waits).toEqual([1, 5, 15, 30, 60, 120, 240, 240, 240, 240, 240]);
  });

  it('are counted from the first failure, not from the first attempt', () => {
    expect(planNextAttempt(9, 5 * DAY, 5 * DAY)).toBe(5 * DAY + 240 * MINUTE);
  });
});

describe('an endpoint', () => {
  it.each(['http://127.0.0.1:8700/hook', 'http://localhost/', 'https://[::1]:1/', 'http://127.9.9.9/'])(
    'on this machine is accepted: %s',
    (url) => {
      expect(checkEndpointUrl(url, false)).toBe(url);
    },
  );

  it.each([
    'http://192.168.1.7/',
    'https://example.com/',
    'http://127.0.0.1.example.com/',
    'http://localhost.example/',
  ])('on another machine is refused unless any host is allowed: %s', (url) => {
    expect(() => checkEndpointUrl(url, false)).toThrow('not on this machine');
    expect(checkEndpointUrl(url, true)).toBe(url);
  });

  it.each(['nonsense', 'ftp://127.0.0.1/', 'http://user:pass@127.0.0.1/'])(
    'is refused if its URL is invalid: %s',
    (url) => {
      expect(() => checkEndpointUrl(url, true)).toThrow(/webhook endpoint/);
    },
  );
});
