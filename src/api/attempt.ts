import { hasSystemCode, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { BaseUrl } from './api-url.js';
import type { EndCall } from './call-counter.js';
import type { Cleaner } from './clean-text.js';
import { collectStart, decodeBody, isMediaType, readEncoding } from './decode-body.js';
import { explainFault } from './fault-reason.js';
import type { RateBucket } from './rate-bucket.js';
import { refuseJson, showText } from './read-json.js';
import { explainRefusal } from './refusal.js';
import { Trouble } from './retry-policy.js';
import type { ServiceClock } from './service-clock.js';
import { type Answer, ExchangeFault, type Timeouts, type Transport } from './transport.js';

/** Enough of a refusal for its message. */
const REFUSAL_BYTES = 64 * 1024;

/** The client's parts that an attempt needs. */
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
  /**
   * Runs before each request, and throws if no call is left. The function that it returns learns how the call ended.
   */
  beginCall(): EndCall;
}

export interface Request {
  /** `GET /api/v1/items`, to begin messages with. */
  where: string;
  /** Path with prefix and query. */
  target: string;
  /** A 200 must have this media type. */
  mediaType: string;
  /** True for an export: its rows are billed, so it is not repeated once it may have been counted. */
  billed: boolean;
}

/**
 * Follows redirects within the origin. Throws everything but a 200 of the expected media type: Trouble if another
 * attempt may help, otherwise PricelakeError (API document, section 7).
 */
export async function openAnswer(request: Request, context: AttemptContext): Promise<Answer> {
  let { target } = request;
  for (let hops = 0; ; hops += 1) {
    const answer = await exchange(request, target, context);
    answer.body.setPace({ totalMs: context.timeouts.bodyMs });
    if (!isRedirect(answer.status)) {
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

async function exchange(request: Request, target: string, context: AttemptContext): Promise<Answer> {
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
  const { reason, passing, cause } = explainFault(fault.cause, context.timeouts, context.cleaner);
  // Another attempt would bring the same headers.
  if (hasSystemCode(cause, 'UND_ERR_HEADERS_OVERFLOW')) return refuseJson(`${request.where}: ${reason}`);
  const what = fault.sent ? `no answer from ${host}` : `${host} cannot be reached`;
  const facts = {
    host,
    hint: fault.sent ? 'Run again later.' : 'Check source.baseUrl and the network.',
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
  throw explainRefusal({ ...answer, body }, { where: request.where, cleaner, now: io.now() });
}

/** A 200 in another form is a proxy's page or another service. */
async function checkForm(answer: Answer, request: Request, context: AttemptContext): Promise<void> {
  const { where, mediaType } = request;
  if (readEncoding(answer.headers) === undefined) {
    answer.body.discard();
    const encoding = context.cleaner.text(answer.headers['content-encoding'] ?? '', 40);
    throw refuseJson(`${where}: the answer is encoded as ${encoding}, and only gzip was asked for`);
  }
  const arrived = answer.headers['content-type'];
  if (isMediaType(arrived, mediaType)) return;
  const start = showText(await collectStart(decodeBody(answer), REFUSAL_BYTES), context.cleaner);
  const type = arrived === undefined ? 'without a content type' : context.cleaner.text(arrived, 80);
  throw refuseJson(`${where}: the answer should be ${mediaType} in UTF-8 and is ${type}; it begins ${start}`);
}

const MAX_REDIRECTS = 3;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * Returns path and query. The document knows no redirects: one within the same origin is harmless, any other would hand
 * the key to somebody else.
 * @throws PricelakeError `contract` for another scheme, host or port, and without a usable `Location`
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
    throw new PricelakeError('contract', `${where}: a redirect names no address`, { hint: 'Check source.baseUrl.' });
  }
  if (target.origin !== origin) {
    const place = cleaner.text(`${target.protocol}//${target.host}`);
    throw new PricelakeError(
      'contract',
      `${where}: a redirect leads to ${place}, and the key is sent only to ${origin}`,
      {
        hint: `If ${place} is the service, set source.baseUrl to it.`,
      },
    );
  }
  return target.pathname + target.search;
}
