import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeOpenApi } from '../../schemas/openapi.js';
import { webhookEvent } from '../../src/api/webhook-contract.js';
import type { SandboxOptions } from '../../src/sandbox/start.js';
import { AnswerCheck } from './answer-check.js';
import { DeliveryClock } from './delivery-clock.js';
import { parse, Service } from './service.js';
import { type Received, Receiver } from './webhook-receiver.js';

const SECRET = 'whsec_test';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
let time: DeliveryClock;
let receiver: Receiver;
let service: Service | undefined;
beforeEach(async () => {
  time = new DeliveryClock();
  receiver = await Receiver.start();
});
afterEach(async () => {
  await service?.close();
  await receiver.close();
});

async function start(options: SandboxOptions = {}): Promise<Service> {
  const webhook = { url: receiver.url, secrets: [SECRET], time };
  service = await Service.start({ items: 300, webhook, ...options });
  return service;
}

const read = ({ body }: Received) => parse(body.toString(), webhookEvent);
const arrived = (count: number) => time.passUntil(() => receiver.received.length >= count);

function sign(secret: string, { headers, body }: Received): string {
  const t = /^t=(\d+)/.exec(String(headers['service-signature']))?.[1];
  return createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
}

async function control(path: string, body?: object, method = 'POST'): Promise<Record<string, unknown>> {
  const init = method === 'GET' ? { method } : { method, body: JSON.stringify(body ?? {}) };
  const answer = await fetch(`${service?.sandbox.baseUrl}/sandbox/webhook${path}`, init);
  return { httpStatus: answer.status, ...((await answer.json()) as object) };
}

describe('events', () => {
  it('carry all changes in the order of the feed, up to 100 each, signed', async () => {
    const { sandbox, readFeed } = await start();
    const before = sandbox.webhook.status.cursor;
    await sandbox.advance({ hours: 1, changes: 250 });
    await arrived(3);
    const feed = await readFeed.call(service, before);
    const events = receiver.received.map(read);
    expect(events.map(({ changes }) => changes?.length)).toEqual([100, 100, 50]);
    expect(events.flatMap(({ changes }) => changes)).toEqual(feed);
    expect(events.map(({ cursor }) => cursor)).toEqual([feed[99]?.id, feed[199]?.id, feed[249]?.id]);
    const check = new AnswerCheck(JSON.parse(writeOpenApi()));
    for (const [k, one] of receiver.received.entries()) {
      expect(one.headers).toMatchObject({
        'content-type': 'application/json',
        'service-event-id': events[k]?.id,
        'service-event-type': 'changes',
        'service-delivery-attempt': '1',
        'service-signature': expect.stringMatching(`^t=\\d+,v1=${sign(SECRET, one)}$`),
      });
      const age = Date.now() / 1000 - Number(/\d+/.exec(String(one.headers['service-signature']))?.[0]);
      expect(Math.abs(age)).toBeLessThan(3600); // seconds, by the wall
      expect(check.check({ $ref: '#/components/schemas/WebhookEvent' }, JSON.parse(one.body.toString()))).toEqual([]);
    }
  });

  it('start with new changes, or after the given cursor', async () => {
    const { sandbox } = await start();
    await sandbox.advance({ hours: 1, changes: 5 });
    await arrived(1);
    expect(receiver.received.map((one) => read(one).changes?.length)).toEqual([5]);
    const [first] = await (service as Service).readFeed();
    await sandbox.webhook.set({ url: receiver.url, after: (first?.id ?? 0n) - 1n });
    await arrived(2);
    expect(read(receiver.received[1] as Received).changes?.[0]).toEqual(first);
  });

  it('are not sent on a plan without webhooks', async () => {
    const { sandbox } = await start({ limits: { webhooks: false } });
    await sandbox.advance({ hours: 1, changes: 5 });
    await time.passUntil(() => time.now() >= MINUTE_MS);
    expect(receiver.received).toHaveLength(0);
    expect(sandbox.webhook.status).toMatchObject({ state: 'active', inPlan: false });
    sandbox.changeAccount({ limits: { webhooks: true } });
    await arrived(1);
  });
});

describe('a failed delivery', () => {
  it('is retried after 1 and 5 minutes with the same id and body, and later changes wait', async () => {
    const { sandbox } = await start();
    const times: number[] = [];
    receiver.answer = (k) => {
      times.push(time.now());
      return [500, 302][k - 1] ?? 200;
    };
    await sandbox.advance({ hours: 1, changes: 10 });
    await arrived(1);
    await sandbox.advance({ hours: 1, changes: 20 });
    await time.passUntil(() => sandbox.webhook.status.deliveries.length === 4);
    const [one, two, three, four] = receiver.received as [Received, Received, Received, Received];
    expect([one, two, three, four].map(({ headers }) => headers['service-delivery-attempt'])).toEqual([
      '1',
      '2',
      '3',
      '1',
    ]);
    for (const again of [two, three]) {
      expect(again.headers['service-event-id']).toBe(one.headers['service-event-id']);
      expect(again.body.equals(one.body)).toBe(true);
    }
    expect(read(four).changes).toHaveLength(20);
    const [first = 0, second = 0, third = 0] = times;
    expect([second - first, third - second]).toEqual([MINUTE_MS, 5 * MINUTE_MS]);
    expect(sandbox.webhook.status.deliveries.map(({ status }) => status)).toEqual([500, 302, 200, 200]);
  });

  it('includes one without a response in time', async () => {
    const { sandbox } = await start({ webhook: { url: receiver.url, time, answerWithinMs: 250 } });
    receiver.answer = () => null;
    await sandbox.advance({ hours: 1, changes: 3 });
    await arrived(2);
    receiver.answer = () => 200;
    await time.passUntil(() => sandbox.webhook.status.pending === null);
    const { deliveries } = sandbox.webhook.status;
    expect(deliveries[0]).toMatchObject({ ok: false, status: null, error: 'no answer in 0.25 seconds' });
    expect(deliveries.at(-1)).toMatchObject({ ok: true, status: 200, eventId: deliveries[0]?.eventId });
  });

  it('turns the endpoint off after 24 hours, and an endpoint set up again gets the same event', async () => {
    const { sandbox } = await start();
    receiver.answer = () => 503;
    await sandbox.advance({ hours: 1, changes: 7 });
    await arrived(1);
    const failingSince = time.now();
    await time.passUntil(() => sandbox.webhook.status.state === 'off');
    expect(time.now() - failingSince).toBe(DAY_MS);
    const attempts = receiver.received.length;
    expect(attempts).toBe(12);
    expect(new Set(receiver.received.map(({ headers }) => headers['service-event-id'])).size).toBe(1);
    receiver.answer = () => 200;
    await control('', { url: receiver.url });
    await arrived(attempts + 1);
    const last = receiver.received[attempts] as Received;
    expect(last.headers).toMatchObject({ 'service-delivery-attempt': String(attempts + 1) });
    expect(read(last).changes).toHaveLength(7);
    await time.passUntil(() => sandbox.webhook.status.pending === null);
  });
});

describe('an endpoint that is turned off', () => {
  it('gets no attempt after 24 hours, even if timers are late', async () => {
    const { sandbox } = await start();
    time.lateness = 50_000;
    const times: number[] = [];
    receiver.answer = () => {
      times.push(time.now());
      return 503;
    };
    await sandbox.advance({ hours: 1, changes: 3 });
    await time.passUntil(() => sandbox.webhook.status.state === 'off');
    const [first = 0] = times;
    expect(Math.max(...times) - first).toBeLessThan(DAY_MS);
    expect(times.length).toBeGreaterThan(8);
    expect(time.now() - first).toBeGreaterThan(DAY_MS);
  });

  it('causes an e-mail to the team, which appears as a log line and in the control endpoint', async () => {
    const lines: string[] = [];
    const webhook = { url: receiver.url, time, log: (line: string) => lines.push(line) };
    const { sandbox } = await start({ webhook });
    receiver.answer = () => 503;
    await sandbox.advance({ hours: 1, changes: 3 });
    await time.passUntil(() => sandbox.webhook.status.state === 'off');
    const text = expect.stringMatching(/turned off after 24 hours of failures; event evt_\S+ was tried 12 times/);
    expect(await control('', undefined, 'GET')).toMatchObject({ emails: [{ to: expect.any(String), text }] });
    expect(lines).toEqual([text]);
    expect(lines[0]).toContain(receiver.url);
  });
});

describe('POST /sandbox/webhook', () => {
  it('sets up an endpoint and returns its secret; GET shows its state and DELETE removes it', async () => {
    service = await Service.start({ items: 100, webhook: { time } });
    expect(await control('', undefined, 'GET')).toMatchObject({ state: 'none', url: null, deliveries: [] });
    const set = await control('', { url: receiver.url });
    expect(set).toMatchObject({
      state: 'active',
      url: receiver.url,
      secret: expect.stringMatching(/^sandbox_secret_/),
    });
    await service.sandbox.advance({ hours: 1, changes: 4 });
    await arrived(1);
    const [one] = receiver.received as [Received];
    expect(one.headers['service-signature']).toContain(sign(String(set.secret), one));
    expect(await control('', undefined, 'DELETE')).toMatchObject({ state: 'none' });
    expect(await control('/ping')).toMatchObject({ httpStatus: 400, message: 'no webhook endpoint is set up' });
  });

  it('/ping sends a test event without changes and reports its result', async () => {
    await start();
    expect(await control('/ping')).toMatchObject({ ok: true, status: 204, type: 'ping', attempt: 1 });
    const [one] = receiver.received as [Received];
    expect(read(one)).toMatchObject({ type: 'ping', cursor: null, changes: [] });
    expect(one.headers).toMatchObject({ 'service-event-type': 'ping' });
  });

  it('/roll signs with both secrets while the old one is valid', async () => {
    await start();
    expect(await control('/roll', { secret: 'whsec_next', keepHours: 24 })).toMatchObject({ secret: 'whsec_next' });
    await control('/ping');
    const [both] = receiver.received as [Received];
    const [fresh, old] = [sign('whsec_next', both), sign(SECRET, both)];
    expect(both.headers['service-signature']).toMatch(new RegExp(`^t=\\d+,v1=${fresh},v1=${old}$`));
    await control('/roll', { secret: 'whsec_last', keepHours: 0 });
    await control('/ping');
    const last = receiver.received[1] as Received;
    expect(last.headers['service-signature']).toMatch(new RegExp(`^t=\\d+,v1=${sign('whsec_last', last)}$`));
  });

  it('/resend sends an event again at once, and waiting events follow', async () => {
    const { sandbox } = await start();
    receiver.answer = (k) => (k === 1 ? 500 : 200);
    await sandbox.advance({ hours: 1, changes: 120 });
    await arrived(1);
    const id = read(receiver.received[0] as Received).id;
    expect(await control('/resend', { id })).toMatchObject({ ok: true, attempt: 2, eventId: id });
    await arrived(3);
    expect(receiver.received.map((one) => read(one).changes?.length)).toEqual([100, 100, 20]);
    expect(await control('/resend', { id: 'evt_none' })).toMatchObject({ httpStatus: 400 });
  });

  it('refuses another machine and unknown fields', async () => {
    service = await Service.start({ items: 100 });
    const refused = await control('', { url: 'http://192.0.2.1/' });
    expect(refused).toMatchObject({ httpStatus: 400, message: expect.stringContaining('not on this machine') });
    expect(await control('', { uri: receiver.url })).toMatchObject({ httpStatus: 400 });
    expect(await control('/roll', { keepHours: -1 })).toMatchObject({ httpStatus: 400 });
  });
});
