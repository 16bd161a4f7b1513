import { spawn } from 'node:child_process';
import { createDispatcher } from '../../api/dispatcher.js';
import type { Io } from '../../io/io.js';
import { writeSignature } from '../../wings/webhook/index.js';
import { toJsonText } from '../json-text.js';
import { renameMembers } from '../member-names.js';
import type { Message } from './notice.js';
import type { Receiver } from './receivers.js';

export interface SendLimits {
  /** The maximum duration of an attempt in milliseconds, from connecting to the end of the response. */
  tryMs: number;
  tries: number;
  pauseMs: number;
  /** The maximum number of bytes to read from a response. Only the status of the response matters. */
  answerBytes: number;
}

export const SEND_LIMITS: SendLimits = { tryMs: 10_000, tries: 2, pauseMs: 1_000, answerBytes: 64 * 1024 };

/** An error for a failed attempt. Its message contains neither the receiver's address nor the receiver's response. */
class SendFault extends Error {
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

/**
 * Sends a message, and retries once if the attempt fails.
 * @throws Error whose message contains the reason, but not the address
 */
export async function sendMessage(
  receiver: Receiver,
  message: Message,
  io: Pick<Io, 'now' | 'sleep'> & { redact(text: string): string },
  limits: SendLimits = SEND_LIMITS,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (receiver.kind === 'command') {
        await runCommand(receiver.command, io.redact(`${toJsonText(renameMembers(message.body))}\n`), limits);
      } else {
        const body = Buffer.from(io.redact(toJsonText(writeBody(receiver.kind, message))));
        const { secret } = receiver;
        const t = Math.floor(io.now().getTime() / 1000);
        const headers = {
          'content-type': 'application/json',
          ...(receiver.kind === 'url' ? nameEvent(message, attempt) : {}),
          ...(secret === undefined ? {} : { 'service-signature': writeSignature(secret, t, body) }),
        };
        await post(receiver.address, body, headers, limits);
      }
      return;
    } catch (error) {
      if (!(error instanceof SendFault) || error.isFinal || attempt >= limits.tries) throw error;
    }
    await io.sleep(limits.pauseMs);
  }
}

/**
 * Builds the same headers that the service's webhooks have (API §6), so that a receiver of these webhooks also accepts
 * the messages of pricelake.
 */
function nameEvent({ id }: Message, attempt: number): Record<string, string> {
  return {
    'service-event-id': id,
    'service-event-type': 'notices',
    'service-delivery-attempt': String(attempt),
  };
}

/** Builds the request body. For Slack, escapes characters that would format the text. For Teams, uses plain text. */
function writeBody(kind: 'slack' | 'teams' | 'url', { text, body }: Message): Record<string, unknown> {
  if (kind === 'url') return renameMembers(body) as Record<string, unknown>;
  if (kind === 'slack') {
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return { text: escaped, mrkdwn: false, unfurl_links: false, unfurl_media: false };
  }
  const lines = text.split('\n').map((line) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: line }] }));
  const card = { type: 'AdaptiveCard', version: '1.4', body: lines };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }],
  };
}

/** Sends a POST request. Doesn't follow redirects, because no other address may receive the message. */
async function post(
  address: string,
  body: Buffer,
  headers: Record<string, string>,
  { tryMs, answerBytes }: SendLimits,
): Promise<void> {
  const { origin, pathname, search } = new URL(address);
  const agent = createDispatcher(address, { connect: { timeout: tryMs } });
  const signal = AbortSignal.timeout(tryMs);
  try {
    const answer = await agent.request({ origin, path: pathname + search, method: 'POST', headers, body, signal });
    const { statusCode: status } = answer;
    await answer.body.dump({ limit: answerBytes, signal }).catch(() => {});
    if (status >= 200 && status < 300) return;
    if (status >= 300 && status < 400) throw new SendFault(`it returned ${status}; redirects are not followed`, true);
    throw new SendFault(`it returned ${status}`, status < 500 && status !== 408 && status !== 429);
  } catch (error) {
    if (error instanceof SendFault) throw error;
    throw new SendFault(signal.aborted ? `no response within ${tryMs / 1000} s` : `no response${nameCode(error)}`);
  } finally {
    await agent.destroy();
  }
}

/** Formats the code of an error. Omits the error's message, which may contain the host name. */
function nameCode(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? ` (${code})` : '';
}

/**
 * Runs a program without a shell and passes it the message on stdin. Discards the program's output, which may contain
 * secrets.
 */
function runCommand([program = '', ...args]: readonly string[], input: string, { tryMs }: SendLimits): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: tryMs, killSignal: 'SIGKILL' });
    child.on('error', (error) => reject(new SendFault(`it can't be started${nameCode(error)}`, true)));
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else if (signal === null) reject(new SendFault(`it exited with code ${code}`));
      else reject(new SendFault(`it was killed by ${signal} (time limit: ${tryMs / 1000} s)`));
    });
    // Writing fails if the program exits without reading its stdin. The exit code alone determines whether it
    // succeeded.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
