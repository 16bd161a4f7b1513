import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RUNS_FACTOR } from '../property-runs.js';
import { buildEvent, SECRET, Site } from './delivery.js';

/** Any JSON in the fields of an event, any bytes, and an event with bytes removed or inserted. */
const body = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
  fc
    .record({ id: fc.jsonValue(), type: fc.jsonValue(), cursor: fc.jsonValue(), changes: fc.jsonValue() })
    .map((facts) => Buffer.from(buildEvent('evt', facts as Record<string, unknown>))),
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 20 }), fc.nat(60), fc.string({ maxLength: 4 }))
    .map(([id, at, text]) => {
      const whole = buildEvent(id);
      return Buffer.from(whole.slice(0, at) + text + whole.slice(at + text.length));
    }),
);

test('any signed body is on disk, byte for byte, when it is accepted, and never delays later events', async () => {
  const site = await Site.open();
  await fc.assert(
    fc.asyncProperty(body, async (bytes) => {
      const before = site.logs.length;
      const status = await site.post(bytes);
      expect([202, 204]).toContain(status);
      const kept = [...(await site.read('events')), ...(await site.read('aside'))];
      const [logged] = site.logs.slice(before).filter(({ event }) => /landed|set_aside|ping|repeat/.test(event));
      expect(logged?.bytes).toBe(bytes.length);
      const isDue = ['webhook.landed', 'webhook.set_aside'].includes(logged?.event ?? '');
      if (isDue) expect(kept.some((one) => bytes.equals(one) || bytes.subarray(3).equals(one))).toBe(true);
    }),
    { seed: 2026, numRuns: 60 * RUNS_FACTOR },
  );
  expect(JSON.stringify(site.logs)).not.toContain(SECRET);
});

test('any forged signature header is refused, without logging a secret', async () => {
  const site = await Site.open();
  const header = fc.oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
    fc.stringMatching(/^t=\d{1,12},v1=[0-9a-f]{0,70}$/),
  );
  await fc.assert(
    fc.asyncProperty(header, async (signature) => {
      expect([400, 401]).toContain(await site.post(buildEvent('evt'), { signature }));
    }),
    { seed: 2026, numRuns: 60 * RUNS_FACTOR },
  );
  expect(await site.list('events')).toEqual([]);
  expect(JSON.stringify(site.logs)).not.toContain(SECRET);
});
