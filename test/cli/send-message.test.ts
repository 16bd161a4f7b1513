import { createHmac } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Notice, writeMessage, writeNotice } from '../../src/cli/notify/notice.js';
import type { Receiver } from '../../src/cli/notify/receivers.js';
import { SEND_LIMITS, sendMessage } from '../../src/cli/notify/send-message.js';
import { testIo } from '../run/world.js';
import { type Answer, openReceiver } from './notify-receiver.js';

const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-send-'));
afterAll(() => rm(folder, { recursive: true }));

const at = new Date('2026-11-24T10:00:00Z');
const ID = '0b8f4f5e-6f0c-4f0e-9a55-0d8f4d1c7a11';
const SECRET = 'secret-of-the-receiver';
const HOSTILE = '<!channel> *Shop* & [here](https://bad.example)\u001b[31m\nnext';

function notice(text: string, when = at): Notice {
  const facts = { shop: HOSTILE, price: '19.00' };
  return writeNotice({ key: text, kind: 'price', at: when.toISOString(), text, facts, credits: ['Open Prices'] });
}

const write = (notices: Notice[], dropped = 0) =>
  writeMessage({
    ...{ id: ID, createdAt: at.toISOString(), pipeline: 'prices', command: 'watch' as const },
    ...{ notices, dropped, at },
  });

/** Who gets it; a message does not depend on when a lake is out of date. */
type Recipient =
  | { kind: 'command'; command: string[] }
  | { kind: 'slack' | 'teams' | 'url'; address: string; secret?: string };

const send = (receiver: Recipient, message = write([notice(HOSTILE)]), limits = {}) =>
  sendMessage(
    { staleAfterMs: 0, ...receiver } as Receiver,
    message,
    { ...testIo, now: () => at, redact: (text) => text.replaceAll('live_key', '***') },
    { ...SEND_LIMITS, tryMs: 1_000, ...limits },
  );

/** Sends to a receiver that answers so; returns its deliveries, and why it failed. */
async function sendTo(answer: Answer, limits = {}) {
  const receiver = await openReceiver(answer);
  const fault = await send({ kind: 'url', address: receiver.address }, undefined, limits).then(
    () => undefined,
    (error: Error) => `${error.message}${error.stack}${JSON.stringify(error)}`,
  );
  expect(fault ?? '').not.toContain(receiver.address.slice('http://'.length));
  return { ...receiver, fault };
}

describe('a message', () => {
  test("is signed like the service's webhooks and contains the attempt's number", async () => {
    const { deliveries, address } = await openReceiver();
    const message = write([notice('a price'), notice('live_key')]);
    await send({ kind: 'url', address, secret: SECRET }, message);
    const [{ headers, body }] = deliveries as [(typeof deliveries)[0]];
    const t = String(at.getTime() / 1000);
    const mac = createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'service-signature': `t=${t},v1=${mac}`,
      'service-event-id': message.id,
      'service-event-type': 'notices',
      'service-delivery-attempt': '1',
    });
    expect(JSON.parse(body)).toMatchObject({
      ...{ id: message.id, type: 'notices', created_at: at.toISOString(), pipeline: 'prices', command: 'watch' },
      notices: [{ kind: 'price', text: 'a price', price: '19.00' }, { text: '***' }],
      dropped: 0,
      attribution: ['Open Prices'],
    });
  });

  test('contains no foreign markup for Slack and no foreign Markdown for Teams', async () => {
    const { deliveries, address } = await openReceiver();
    await send({ kind: 'slack', address });
    await send({ kind: 'teams', address });
    const [slack, teams] = deliveries.map(({ body }) => JSON.parse(body));
    const line = '• <!channel> *Shop* & [here](https://bad.example)[31m next';
    expect(slack).toMatchObject({ mrkdwn: false });
    expect(slack.text.split('\n')).toEqual([
      'pricelake watch prices',
      '• &lt;!channel&gt; *Shop* &amp; [here](https://bad.example)[31m next',
      'Data: Open Prices',
    ]);
    const { contentType, content } = teams.attachments[0];
    expect(contentType).toBe('application/vnd.microsoft.card.adaptive');
    expect(content.body.map(({ type, inlines }: { type: string; inlines: object[] }) => [type, ...inlines])).toEqual([
      ['RichTextBlock', { type: 'TextRun', text: 'pricelake watch prices' }],
      ['RichTextBlock', { type: 'TextRun', text: line }],
      ['RichTextBlock', { type: 'TextRun', text: 'Data: Open Prices' }],
    ]);
  });

  test('shows twenty lines and counts the others, with the time of an old notice', async () => {
    const old = notice('old', new Date('2026-11-23T08:30:00Z'));
    const many = Array.from({ length: 30 }, (_, k) => notice(`${k} ${'x'.repeat(2_000)}`));
    const { text, body } = write([...many, old], 5);
    const lines = text.split('\n');
    expect(lines.slice(-3)).toEqual(['• old (2026-11-23 08:30 UTC)', 'and 16 more', 'Data: Open Prices']);
    expect(Buffer.byteLength(text)).toBeLessThan(16_000);
    expect((body.notices as object[]).length).toBe(31);
    expect(body.dropped).toBe(5);
  });
});

describe('a receiver', () => {
  test('that answers 500 once gets the message a second time, with the same id', async () => {
    const { deliveries, fault } = await sendTo((response, number) =>
      response.writeHead(number === 1 ? 500 : 204).end(),
    );
    expect(fault).toBeUndefined();
    expect(deliveries.map(({ headers }) => headers['service-delivery-attempt'])).toEqual(['1', '2']);
    expect(new Set(deliveries.map(({ headers }) => headers['service-event-id'])).size).toBe(1);
  });

  test('that always answers 500 gets two attempts', async () => {
    const { deliveries, fault } = await sendTo((response) => response.writeHead(500).end('secret words'));
    expect(fault).toMatch(/^it returned 500/);
    expect(fault).not.toContain('secret words');
    expect(deliveries).toHaveLength(2);
  });

  test('that refuses the message gets no second attempt', async () => {
    const { deliveries, fault } = await sendTo((response) => response.writeHead(404).end());
    expect(fault).toMatch(/^it returned 404/);
    expect(deliveries).toHaveLength(1);
  });

  test("that doesn't answer in time gets two attempts", async () => {
    const { deliveries, fault } = await sendTo(() => {}, { tryMs: 150 });
    expect(fault).toMatch(/^no response within 0.15 s/);
    expect(deliveries).toHaveLength(2);
  });

  test('that redirects is not followed', async () => {
    const other = await openReceiver();
    const { deliveries, fault } = await sendTo((response) =>
      response.writeHead(307, { location: other.address }).end(),
    );
    expect(fault).toMatch(/^it returned 307; redirects are not followed/);
    expect([deliveries.length, other.deliveries.length]).toEqual([1, 0]);
  });

  test('that answers endlessly counts as notified, and the connection is closed', async () => {
    let sent = 0;
    let ended: Promise<void> | undefined;
    const { fault, deliveries } = await sendTo((response) => {
      ended = new Promise((resolve) => response.on('close', resolve));
      const push = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384;
        if (!response.destroyed) response.once('drain', push);
      };
      push();
    });
    await ended;
    expect(fault).toBeUndefined();
    expect(deliveries).toHaveLength(1);
    // The system buffers a few megabytes more than the program reads.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test("that can't be reached is reported without its address", async () => {
    const fault = await send({ kind: 'url', address: 'http://127.0.0.1:1/T0KEN' }).catch(
      (error: Error) => error.message,
    );
    expect(fault).toBe('no response (ECONNREFUSED)');
  });
});

describe('a command', () => {
  async function script(text: string): Promise<string> {
    const file = path.join(folder, `run-${text.length}.sh`);
    await writeFile(file, `#!/bin/sh\n${text}\n`);
    await chmod(file, 0o755);
    return file;
  }

  test('gets the message on stdin, and no shell interprets its arguments', async () => {
    const out = path.join(folder, 'got.json');
    const program = await script(`cat > "$1"; printf %s "$2" > "$1.argument"`);
    const message = write([notice('a price')]);
    await send({ kind: 'command', command: [program, out, '$(id); `id`'] }, message);
    const { createdAt, ...others } = message.body;
    expect(JSON.parse(await readFile(out, 'utf8'))).toEqual({ ...others, created_at: createdAt });
    expect(await readFile(`${out}.argument`, 'utf8')).toBe('$(id); `id`');
  });

  test('that fails is tried twice', async () => {
    const counted = path.join(folder, 'counted');
    const program = await script(`echo once >> '${counted}'; exit 3`);
    await expect(send({ kind: 'command', command: [program] })).rejects.toThrow('it exited with code 3');
    expect(await readFile(counted, 'utf8')).toBe('once\nonce\n');
  });

  test("that doesn't read its input or doesn't end can't delay a run", async () => {
    const large = write(Array.from({ length: 200 }, (_, k) => notice(`${k}${'x'.repeat(900)}`)));
    await send({ kind: 'command', command: [await script('exit 0')] }, large);
    const forever = send({ kind: 'command', command: [await script('exec sleep 60')] }, large, {
      tryMs: 150,
    });
    await expect(forever).rejects.toThrow('it was killed by SIGKILL');
  });

  test("that doesn't exist is reported without its path", async () => {
    await expect(send({ kind: 'command', command: ['/nowhere/T0KEN'] })).rejects.toThrow(
      /^it can't be started \(ENOENT\)$/,
    );
  });
});
