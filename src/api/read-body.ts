import { PricelakeError } from '../io/errors.js';
import { MAX_PAGE_BYTES } from '../io/limits.js';
import type { AttemptContext, Request } from './attempt.js';
import { collectBody, decodeBody } from './decode-body.js';
import { explainFault } from './fault-reason.js';
import { judgeJson, refuseJson, showText } from './read-json.js';
import { Trouble } from './retry-policy.js';
import type { Answer } from './transport.js';

/**
 * The whole decoded body. Throws Trouble if it broke off, because a page may be asked for again; PricelakeError
 * `contract` if it is not JSON.
 */
export async function readPage(answer: Answer, request: Request, context: AttemptContext): Promise<Buffer> {
  const { where } = request;
  let body: Buffer | undefined;
  try {
    body = await collectBody(decodeBody(answer), MAX_PAGE_BYTES);
  } catch (error) {
    const { reason, cause } = explainFault(error, context.timeouts, context.cleaner);
    throw breakOff(`${where}: the answer broke off (${reason})`, context, cause);
  }
  if (body === undefined) throw refuseJson(`${where}: the answer is longer than ${MAX_PAGE_BYTES} bytes`);
  const state = judgeJson(body);
  if (state === 'cut' && isUnframed(answer.headers)) throw breakOff(`${where}: the answer broke off`, context);
  if (state !== 'whole')
    throw refuseJson(`${where}: the answer is not JSON; it begins ${showText(body, context.cleaner)}`);
  return body;
}

function breakOff(message: string, context: AttemptContext, cause?: unknown): Trouble {
  const facts = { host: context.base.host, hint: 'Run again later.' };
  return new Trouble({ kind: 'fault', repeatable: true }, message, facts, { cause });
}

/** Such a body ends with its connection, whatever ended that. */
function isUnframed(headers: Record<string, string>): boolean {
  return !['content-length', 'transfer-encoding', 'content-encoding'].some((name) => name in headers);
}

/**
 * The decoded body of an export. Nothing is repeated: it throws PricelakeError `unavailable` with `facts.midStream`, or
 * `stopped`.
 */
export async function* guardStream(answer: Answer, request: Request, context: AttemptContext): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const chunk of decodeBody(answer)) {
      // Checked for each chunk: a megabyte of gzip may be a gigabyte.
      if (context.signal.aborted) throw explainStop(request.where);
      received += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (context.signal.aborted) throw explainStop(request.where);
    const { reason, cause } = explainFault(error, context.timeouts, context.cleaner);
    const facts = { midStream: true, receivedBytes: received, host: context.base.host, hint: 'Run again later.' };
    const message = `${request.where}: the answer broke off after ${received} bytes (${reason})`;
    throw new PricelakeError('unavailable', message, facts, { cause });
  }
}

export function explainStop(where: string): PricelakeError {
  return new PricelakeError('stopped', `${where}: stopped`);
}
