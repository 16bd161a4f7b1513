import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { buildEvent, HOUR_MS, NOW, SECRET, Site, sign } from './delivery.js';

let site: Site;
beforeEach(async () => {
  site = await Site.open();
});

/** A request whose body isn't sent yet. */
function beginPost(body: string, headers = {}) {
  return request(site.receiver.url, { method: 'POST', headers: { 'Service-Signature': sign(body), ...headers } });
}

/** The same request, once the receiver waits for the body. */
async function beginTaken(body: string) {
  const sender = beginPost(body, { Expect: '100-continue' });
  sender.flushHeaders();
  await once(sender, 'continue');
  return sender;
}

/** Sends the first bytes through a socket, without an HTTP client. */
function sendRaw(said: string): Socket {
  const socket = connect(Number(new URL(site.receiver.url).port), '127.0.0.1').on('error', () => {});
  socket.write(said);
  return socket;
}

describe('a signed event', () => {
  test('is on disk, byte for byte, when it is confirmed', async () => {
    const body = Buffer.from(
      `{ "id":"evt_1",\n "type":"changes","cursor":9007199254740993,"changes":[{"price": 1.10}] }\n`,
    );
    expect(await site.post(body, { headers: { 'Service-Delivery-Attempt': '3' } })).toBe(204);
    expect(await site.read('events')).toEqual([body]);
    expect(site.logged('webhook.landed')).toMatchObject([
      { eventId: 'evt_1', changes: 1, cursor: '9007199254740993', attempt: 3, bytes: body.length },
    ]);
    expect(await site.list('tmp')).toEqual([]);
  });

  test('lands once, even if it arrives repeatedly, concurrently, or after a restart', async () => {
    const body = buildEvent('evt_1');
    const statuses = await Promise.all(Array.from({ length: 8 }, () => site.post(body)));
    expect(statuses).toEqual(Array(8).fill(204));
    expect(await site.post(body)).toBe(204);
    await site.restart();
    expect(await site.post(body)).toBe(204);
    expect(await site.list('events')).toHaveLength(1);
    expect(site.logged('webhook.landed')).toHaveLength(1);
    expect(site.logged('webhook.repeat')).toHaveLength(9);
  });

  test("is identified by the id in its body, because the header isn't signed", async () => {
    const headers = { 'Service-Event-Id': 'evt_same', 'Service-Event-Type': 'ping' };
    for (const id of ['evt_1', 'evt_2', '../../evt_3', 'ёж/\u0000']) {
      expect(await site.post(buildEvent(id), { headers })).toBe(204);
    }
    expect(await site.list('events')).toHaveLength(4);
  });

  test('is accepted from a day of retries, but refused if it is older than the limit or ahead of the clock', async () => {
    const old = (hours: number) => ({ at: new Date(NOW.getTime() - hours * HOUR_MS) });
    const post = (id: string, hours: number) => {
      const body = buildEvent(id);
      return site.post(body, { signature: sign(body, old(hours)) });
    };
    expect(await post('evt_1', 24)).toBe(204);
    expect(await post('evt_2', 49)).toBe(401);
    expect(await post('evt_3', -1)).toBe(401);
    expect(site.logged('webhook.refused')).toMatchObject([
      { reason: 'older than --max-age', seconds: 49 * 3600 },
      { reason: 'ahead of the clock by more than --max-skew', seconds: -3600 },
    ]);
    expect(await site.list('events')).toHaveLength(1);
  });

  test('that is a ping is confirmed and logged, but not kept', async () => {
    expect(await site.post(buildEvent('evt_p', { type: 'ping', cursor: null, changes: [] }))).toBe(204);
    expect(site.logged('webhook.ping')).toMatchObject([{ eventId: 'evt_p' }]);
    expect(await site.list('events')).toEqual([]);
  });
});

describe("a signed body that isn't a known event is set aside, and doesn't delay later events", () => {
  test.each([
    ['invalid JSON', '{"id":', 'not valid JSON'],
    ['an empty body', '', 'not valid JSON'],
    ['a list', '[]', 'not a WebhookEvent: the body'],
    ['an event without an id', '{"type":"changes","changes":[]}', 'not a WebhookEvent: id'],
    ["changes that aren't a list", '{"id":"a","type":"changes","changes":{}}', 'not a WebhookEvent: changes'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'not valid UTF-8'],
    ['a type from a later version of the API', '{"id":"a","type":"products"}', 'unknown type'],
  ])('%s', async (_name, body, reason) => {
    expect(await site.post(body)).toBe(202);
    expect(await site.read('aside')).toEqual([Buffer.from(body as string)]);
    expect(await site.list('events')).toEqual([]);
    const [entry] = site.logged('webhook.set_aside');
    expect(entry).toMatchObject({ level: 'error', reason: expect.stringContaining(reason) });
  });
});

describe('a request without a valid signature or address is refused and leaves nothing on disk', () => {
  const expectNothing = async () => {
    expect([...(await site.list('events')), ...(await site.list('aside')), ...(await site.list('tmp'))]).toEqual([]);
  };

  test.each([
    ['without a signature', { signature: null }, 401],
    ['with an invalid signature', { signature: 't=1,v1=00' }, 401],
    ['with another secret', { signature: sign(buildEvent('evt_1'), { secrets: ['other'] }) }, 401],
    ['with a changed body', { signature: sign(buildEvent('evt_2')) }, 401],
    ['with another path', { path: '/other' }, 404],
    ['with a longer path', { path: '/webhook/x' }, 404],
    ['with another method', { method: 'PUT' }, 405],
    ['with the method GET', { method: 'GET' }, 405],
  ])('%s', async (_name, post, status) => {
    expect(await site.post(buildEvent('evt_1'), post)).toBe(status);
    await expectNothing();
  });

  test('with a body above the limit, announced or not', async () => {
    const body = Buffer.alloc(300_000, ' ');
    expect(await site.post(body)).toBe(413);
    const stream = new ReadableStream({
      start(controller) {
        for (let at = 0; at < 3; at++) controller.enqueue(body.subarray(0, 60_000));
        controller.close();
      },
    });
    const init = { method: 'POST', body: stream, duplex: 'half', headers: { 'Service-Signature': sign(body) } };
    expect((await fetch(site.receiver.url, init as RequestInit)).status).toBe(413);
    await expectNothing();
    expect(await site.post(buildEvent('evt_1'))).toBe(204);
  });

  test("a flood of them doesn't fill the log, and the log contains no secret, signature or body", async () => {
    for (let n = 0; n < 20; n++) await site.post(buildEvent(`evt_${n}`), { signature: null });
    await site.post(buildEvent('evt_1', { changes: [{ title: 'private' }] }));
    await site.post('private');
    expect(site.logged('webhook.refused')).toHaveLength(1);
    const text = JSON.stringify(site.logs);
    for (const secret of [SECRET, 'private', '"changes":[', sign('private').slice(-64)])
      expect(text).not.toContain(secret);
  });
});

describe('a slow client', () => {
  test('that sends its body slowly gets a 408 before the sender would give up, and lands nothing', async () => {
    site = await Site.open({ answerWithinMs: 60 });
    const body = buildEvent('evt_1');
    const slow = beginPost(body, { 'Content-Length': body.length });
    slow.write(body.slice(0, 10));
    const [answer] = await once(slow, 'response');
    expect(answer.statusCode).toBe(408);
    expect(await site.list('events')).toEqual([]);
  });

  test('that sends its headers slowly is disconnected', async () => {
    site = await Site.open({ answerWithinMs: 60 });
    const socket = sendRaw('POST /webhook HTTP/1.1\r\nHost: x\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain('408');
    await once(socket, 'close');
  });

  test("that disconnects early doesn't affect the receiver", async () => {
    const body = buildEvent('evt_1');
    const gone = beginPost(body, { 'Content-Length': body.length });
    gone.on('error', () => {});
    gone.write(body.slice(0, 10));
    await once(gone, 'socket');
    gone.destroy();
    expect(await site.post(body)).toBe(204);
  });
});

describe('a client with many connections', () => {
  /** Opens this many connections, and sends the same text through each. */
  async function hold(count: number, said = ''): Promise<Socket[]> {
    const sockets: Socket[] = [];
    for (let n = 0; n < count; n++) {
      const socket = sendRaw(said);
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      sockets.push(socket);
    }
    return sockets;
  }
  const endOf = async (socket: Socket) => {
    socket.resume();
    if (!socket.closed) await once(socket, 'close');
  };

  test.each([
    ['sends nothing', ''],
    ["doesn't finish its headers", 'POST /webhook HTTP/1.1\r\nHost: x\r\n'],
    ['sends no body', 'POST /webhook HTTP/1.1\r\nHost: x\r\nService-Signature: t=1,v1=00\r\nContent-Length: 9\r\n\r\n'],
    ['sends no further request', 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])("that %s doesn't block others, because the oldest connection is closed", async (_name, said) => {
    const sockets = await hold(256 + 40, said);
    expect(await site.post(buildEvent('evt_1'))).toBe(204);
    await Promise.all(sockets.slice(0, 40).map(endOf));
    expect(sockets.slice(45).filter(({ closed }) => closed)).toEqual([]);
  });

  test('loses idle connections before a connection whose event is in progress', async () => {
    const body = buildEvent('evt_1');
    const sender = await beginTaken(body);
    await hold(256 + 40);
    const answered = once(sender, 'response');
    sender.end(body);
    const [answer] = await answered;
    expect(answer.statusCode).toBe(204);
  });

  test('loses each connection that stays silent for a short time', async () => {
    site = await Site.open({ answerWithinMs: 60 });
    const [socket] = (await hold(1)) as [Socket];
    await endOf(socket);
    await expect.poll(() => site.post(buildEvent('evt_1'))).toBe(204);
  });
});

describe('the receiver', () => {
  test('answers 503 if the disk is too slow, but still lands the event, so that its retry is a repeat', async () => {
    let finishWriting = () => {};
    const landed: string[] = [];
    const store = {
      land: async (id: string) => {
        if (landed.includes(id)) return false;
        await new Promise<void>((resolve) => {
          finishWriting = resolve;
        });
        landed.push(id);
        return true;
      },
      setAside: async () => '',
      finish: async () => {},
    };
    site = await Site.open({ answerWithinMs: 60, store });
    expect(await site.post(buildEvent('evt_1'))).toBe(503);
    finishWriting();
    // Repeats the request until a response arrives within this short time.
    await expect.poll(() => site.post(buildEvent('evt_1'))).toBe(204);
    expect(landed).toEqual(['evt_1']);
  });

  test("answers 503 if it can't write, and works again once it can", async () => {
    await rm(path.join(site.folder, '_pricelake', 'webhooks', 'tmp'), { recursive: true });
    expect(await site.post(buildEvent('evt_1'))).toBe(503);
    expect(site.logged('webhook.not_landed')).toMatchObject([{ level: 'error' }]);
    await site.restart();
    expect(await site.post(buildEvent('evt_1'))).toBe(204);
  });

  test('has a health check for load balancers', async () => {
    expect((await fetch(new URL('/health', site.receiver.url))).status).toBe(200);
  });

  test('finishes requests in progress when it is closed', async () => {
    const body = buildEvent('evt_1');
    const slow = await beginTaken(body);
    const answered = once(slow, 'response');
    const closed = site.receiver.close();
    slow.end(body);
    const [answer] = await answered;
    expect(answer.statusCode).toBe(204);
    await closed;
    expect(await site.list('events')).toHaveLength(1);
    await expect(fetch(site.receiver.url)).rejects.toThrow();
  });

  test('reports that its address is in use', async () => {
    const port = Number(new URL(site.receiver.url).port);
    await expect(Site.open({ port })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('EADDRINUSE'),
    });
  });
});
