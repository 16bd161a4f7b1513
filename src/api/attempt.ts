import { hasSystemCode, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { LIMITS } from '../io/limits.js';
import type { BaseUrl } from './api-url.js';
import type { Cleaner } from './clean-text.js';
import { collectBody, collectStart, decodeBody, isMediaType, readEncoding } from './decode-body.js';
import { CERTIFICATE_HINT, explainFault } from './fault-reason.js';
import type { RateBucket } from './rate-bucket.js';
import { judgeJson, refuseJson, showText } from './read-json.js';
import { explainRefusal } from './refusal.js';
import { Trouble } from './retry-policy.js';
import type { ServiceClock } from './service-clock.js';
import { type Answer, ExchangeFault, type Timeouts, type Transport } from './transport.js';

/** The maximum number of bytes of an error response that are read to find its message. */
const REFUSAL_BYTES = 64 * 1024;

export type EndCall = (reached: boolean, answered: boolean) => void;

export interface AttemptContext {
  base: BaseUrl;
  apiKey: string;
  transport: Transport;
  bucket: RateBucket;
  cleaner: Cleaner;
  serviceClock: ServiceClock;
  timeouts: Timeouts;
  io: Io;
  signal: AbortSignal;
  /** Called before each request. Returns a function that records the outcome. Throws if no call is left. */
  beginCall(): EndCall;
}

export interface Request {
  /** The path that the log shows, such as `/api/v1/items`. */
  path: string;
  /** The beginning of error messages, such as `GET /api/v1/items`. */
  where: string;
  /** The path of the request, which includes the base URL's path and the query. */
  target: string;
  mediaType: string;
  /** True for an export, whose rows are billed. A request that may have reached the service isn't retried. */
  billed: boolean;
}

/**
 * Sends a request, and follows redirects within the origin. Returns a response with status 200 and the expected media
 * type.
 * @throws Trouble if another attempt may help; PricelakeError for any other response (API §7)
 */
export async function openAnswer(request: Request, context: AttemptContext): Promise<Answer> {
  let { target } = request;
  for (let hops = 0; ; hops += 1) {
    const answer = await send(request, target, context);
    answer.body.setPace({ totalMs: context.timeouts.bodyMs });
    if (!REDIRECTS.has(answer.status)) {
      await checkStatus(answer, request, context);
      await checkForm(answer, request, context);
      if (request.billed) answer.body.setPace({ minimum: context.timeouts.exportPace });
      return answer;
    }
    answer.body.discard();
    if (hops === MAX_REDIRECTS) {
      throw new PricelakeError('contract', `${request.where}: more than ${MAX_REDIRECTS} redirects`, {
        hint: 'Check source.baseUrl.',
      });
    }
    target = resolveRedirect(request.where, context.base.origin, target, answer.headers.location, context.cleaner);
    await context.bucket.take(context.signal);
  }
}

async function send(request: Request, target: string, context: AttemptContext): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${context.apiKey}`,
    accept: request.billed ? `${request.mediaType}, application/json;q=0.9` : request.mediaType,
    'accept-encoding': 'gzip',
    'user-agent': 'pricelake',
  };
  const endCall = context.beginCall();
  const { io } = context;
  const began = io.now().getTime();
  const log = (facts: { status?: number; failed?: true }) =>
    io.log('trace', 'api.call', { target, ...facts, seconds: (io.now().getTime() - began) / 1000 });
  try {
    const answer = await context.transport.get(target, headers);
    endCall(true, answer.status === 200);
    log({ status: answer.status });
    context.serviceClock.note(answer.headers.date);
    return answer;
  } catch (error) {
    endCall(error instanceof ExchangeFault && error.sent, false);
    log({ failed: true });
    if (!(error instanceof ExchangeFault)) throw error;
    throw explainExchangeFault(error, request, context);
  }
}

function explainExchangeFault(
  fault: ExchangeFault,
  request: Request,
  context: AttemptContext,
): Trouble | PricelakeError {
  const { host } = context.base;
  const { reason, passing, isCertificate, cause } = explainFault(fault.cause, context.timeouts, context.cleaner);
  if (isCertificate) {
    const message = `${request.where}: ${host} has a certificate that this machine doesn't trust (${reason})`;
    return new PricelakeError('config', message, { host, hint: CERTIFICATE_HINT }, { cause });
  }
  // Doesn't retry the request, because another attempt would receive the same headers.
  if (hasSystemCode(cause, 'UND_ERR_HEADERS_OVERFLOW')) return refuseJson(`${request.where}: ${reason}`);
  const what = fault.sent ? `no response from ${host}` : `can't reach ${host}`;
  const facts = {
    host,
    hint: fault.sent
      ? 'Try again later.'
      : 'Check source.baseUrl, the network, and any proxy that is set in HTTPS_PROXY or HTTP_PROXY.',
    ...(request.billed && fault.sent ? { midStream: true } : {}),
  };
  const repeatable = passing && !(request.billed && fault.sent);
  const setback = { kind: 'fault', repeatable } as const;
  return new Trouble(setback, `${request.where}: ${what} (${reason})`, facts, { cause });
}

async function checkStatus(answer: Answer, request: Request, context: AttemptContext): Promise<void> {
  if (answer.status === 200) return;
  const body = await collectStart(decodeBody(answer), REFUSAL_BYTES);
  const { cleaner, io } = context;
  throw explainRefusal({ ...answer, body }, request.where, cleaner, io.now());
}

/** Rejects a 200 with an unexpected encoding or media type. A proxy or another service has probably sent it. */
async function checkForm(answer: Answer, request: Request, context: AttemptContext): Promise<void> {
  const { where, mediaType } = request;
  if (readEncoding(answer.headers) === undefined) {
    answer.body.discard();
    const encoding = context.cleaner.text(answer.headers['content-encoding'] ?? '', 40);
    throw refuseJson(`${where}: the response is encoded as ${encoding}, but only gzip was requested`);
  }
  const arrived = answer.headers['content-type'];
  if (isMediaType(arrived, mediaType)) return;
  const start = showText(await collectStart(decodeBody(answer), REFUSAL_BYTES), context.cleaner);
  const type = arrived === undefined ? 'no content type' : context.cleaner.text(arrived, 80);
  throw refuseJson(`${where}: expected ${mediaType} in UTF-8, but got ${type}; the response starts with ${start}`);
}

const MAX_REDIRECTS = 3;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the path and query of a redirect. The API document doesn't mention redirects. This function accepts only
 * redirects within the origin, because any other redirect would send the key to another server.
 * @throws PricelakeError `contract` if the redirect leads to another origin, or if `Location` is missing or invalid
 */
function resolveRedirect(
  where: string,
  origin: string,
  from: string,
  location: string | undefined,
  cleaner: Cleaner,
): string {
  const base = `${origin}${from}`;
  const target = location !== undefined && URL.canParse(location, base) ? new URL(location, base) : undefined;
  if (target === undefined) {
    throw new PricelakeError('contract', `${where}: a redirect has no target address`, {
      hint: 'Check source.baseUrl.',
    });
  }
  if (target.origin !== origin) {
    const place = cleaner.text(`${target.protocol}//${target.host}`);
    throw new PricelakeError(
      'contract',
      `${where}: a redirect leads to ${place}, but pricelake sends the key only to ${origin}`,
      { hint: `If ${place} is the service, set source.baseUrl to it.` },
    );
  }
  return target.pathname + target.search;
}

/**
 * Reads and decodes the whole body of a page.
 * @throws Trouble, so that the call is retried, if the body was cut off; PricelakeError `contract` if the body is too
 * long or isn't JSON
 */
export async function readPage(answer: Answer, request: Request, context: AttemptContext): Promise<Buffer> {
  const { where } = request;
  let body: Buffer | undefined;
  try {
    body = await collectBody(decodeBody(answer), LIMITS.pageBytes);
  } catch (error) {
    const { reason, cause } = explainFault(error, context.timeouts, context.cleaner);
    throw breakOff(`${where}: the response was cut off (${reason})`, context, cause);
  }
  if (body === undefined) throw refuseJson(`${where}: the response is longer than ${LIMITS.pageBytes} bytes`);
  const state = judgeJson(body);
  if (state === 'cut' && isUnframed(answer.headers)) throw breakOff(`${where}: the response was cut off`, context);
  if (state !== 'whole')
    throw refuseJson(`${where}: the response is not JSON; it starts with ${showText(body, context.cleaner)}`);
  return body;
}

function breakOff(message: string, context: AttemptContext, cause?: unknown): Trouble {
  const facts = { host: context.base.host, hint: 'Try again later.' };
  return new Trouble({ kind: 'fault', repeatable: true }, message, facts, { cause });
}

/** True if the body ends only when the connection closes. Such a body may be cut off without an error. */
function isUnframed(headers: Record<string, string>): boolean {
  return !['content-length', 'transfer-encoding', 'content-encoding'].some((name) => name in headers);
}

/**
 * Yields the decoded body of an export in chunks. Never repeats the request.
 * @throws PricelakeError `unavailable` with `facts.midStream` if the body is cut off, or `stopped`
 */
export async function* guardStream(answer: Answer, request: Request, context: AttemptContext): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const chunk of decodeBody(answer)) {
      // Checks the signal for each decoded chunk, because one received megabyte of gzip may expand to a gigabyte.
      if (context.signal.aborted) throw explainStop(request.where);
      received += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (context.signal.aborted) throw explainStop(request.where);
    const { reason, cause } = explainFault(error, context.timeouts, context.cleaner);
    const facts = { midStream: true, receivedBytes: received, host: context.base.host, hint: 'Try again later.' };
    const message = `${request.where}: the response was cut off after ${received} bytes (${reason})`;
    throw new PricelakeError('unavailable', message, facts, { cause });
  }
}

export function explainStop(where: string): PricelakeError {
  return new PricelakeError('stopped', `${where}: stopped`);
}
