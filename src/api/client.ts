import { setMaxListeners } from 'node:events';
import type { z } from 'zod';
import { PricelakeError } from '../errors.js';
import type { Io } from '../io.js';
import { buildQuery, parseBaseUrl, type Query, resolvePath } from './api-url.js';
import { type AttemptContext, openAnswer, type Request } from './attempt.js';
import { createCleaner } from './clean-text.js';
import { collectBody, decodeBody } from './decode-body.js';
import { explainFault } from './fault-reason.js';
import { exportType, JSON_TYPE } from './media-type.js';
import { createRateBucket } from './rate-bucket.js';
import { checkAnswer, judgeJson, parseJsonBody, refuseJson, showText } from './read-json.js';
import { runWithRetries } from './retry-loop.js';
import { DEFAULT_RETRY, type RetryPolicy } from './retry-policy.js';
import { type Answer, createTransport, DEFAULT_TIMEOUTS, type Timeouts } from './transport.js';
import { Trouble } from './trouble.js';

export type { Query } from './api-url.js';

export interface ClientOptions {
  /** Address of the service; may have a path prefix. `/api/v1/…` is appended. */
  baseUrl: string;
  apiKey: string;
  /** Milliseconds: connectMs 10,000, headersMs 120,000, stallMs 60,000. */
  timeouts?: Partial<Timeouts>;
  /** attempts 8, baseMs 500, maxMs 30,000, maxWaitMs 120,000; see RetryPolicy. */
  retry?: Partial<RetryPolicy>;
  /** Ends all calls, streams included, with PricelakeError `stopped`. */
  signal?: AbortSignal;
}

/**
 * GET calls of the API (API document, sections 4, 5 and 7). `path` is the document's, with or without
 * `/api/v1`; put values into it with `apiPath`. Every call throws PricelakeError: `unauthorized` (401),
 * `plan_refuses` (402), `quota` (429 for the month), `bad_request` (400), `not_found` (404), `contract`
 * (what the document does not allow), `unavailable` (faults that outlasted the retries), `stopped`.
 */
export interface ApiClient {
  /** A small JSON answer, parsed exactly and checked against the contract. */
  json<T extends z.ZodType>(path: string, query: Query, schema: T): Promise<z.output<T>>;
  /** The raw body of a JSON answer (a page), decoded, checked for completeness, not parsed. */
  bytes(path: string, query: Query): Promise<{ body: Buffer; headers: Record<string, string> }>;
  /**
   * An export as a stream with backpressure, decoded. A body that breaks off or stalls ends with
   * `unavailable` and `facts.midStream`; so does a request that was sent and never answered. Neither is
   * repeated here, because export rows cost money. Count the rows against `X-Export-Rows` as well.
   */
  stream(path: string, query: Query): Promise<{ body: AsyncIterable<Buffer>; headers: Record<string, string> }>;
  /** The plan's `ratePerSecond` (section 8); null is unlimited. */
  setRate(ratePerSecond: number | null): void;
  /** Requests that reached the service so far, every attempt and redirect counted. */
  calls(): number;
  /** Ends whatever is under way and closes the connections. */
  close(): Promise<void>;
}

/** No page comes near; a larger answer is an error before it fills the memory. */
const MAX_PAGE_BYTES = 256 * 1024 * 1024;

/**
 * A client for one service and one key (API document, section 5). Opens no connection yet.
 *
 * @throws PricelakeError `config` for an unusable `baseUrl` or `apiKey`.
 */
export function createClient(options: ClientOptions, io: Io): ApiClient {
  const base = parseBaseUrl(options.baseUrl);
  // A space or a line break would be a second header or a broken one.
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
    const hint = 'Copy it again from the portal, section API, without spaces and line breaks.';
    throw new PricelakeError('config', 'source.apiKey is empty or has characters that no key has', { hint });
  }
  if (base.cleartext) io.log('warn', 'api.cleartext', { host: base.host });
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const policy = { ...DEFAULT_RETRY, ...options.retry };
  const stop = new AbortController();
  // Every call that waits listens to it: many at once are no leak.
  setMaxListeners(0, stop.signal);
  let calls = 0;
  const context: AttemptContext = {
    base,
    apiKey: options.apiKey,
    transport: createTransport(base.origin, timeouts),
    bucket: createRateBucket(io),
    cleaner: createCleaner(options.apiKey),
    timeouts,
    io,
    signal: stop.signal,
    count: () => {
      calls += 1;
    },
  };

  const onAbort = () => {
    stop.abort();
    context.transport.abort(new Error('stopped'));
  };
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted) onAbort();

  function describe(path: string, query: Query, mediaType: string, billed: boolean): Request & { path: string } {
    const resolved = resolvePath(path);
    const target = `${base.prefix}${resolved}${buildQuery(query)}`;
    return { path: resolved, where: `GET ${resolved}`, target, mediaType, billed };
  }

  async function run<T>(request: Request & { path: string }, attempt: () => Promise<T>): Promise<T> {
    const { path, where } = request;
    try {
      return await runWithRetries({ path, policy, bucket: context.bucket, io, signal: stop.signal }, attempt);
    } catch (error) {
      throw stop.signal.aborted ? explainStop(where) : error;
    }
  }

  async function bytes(path: string, query: Query) {
    const request = describe(path, query, JSON_TYPE, false);
    return run(request, async () => {
      const answer = await openAnswer(request, context);
      return { body: await readPage(answer, request, context), headers: cleanHeaders(answer, context) };
    });
  }

  return {
    bytes,
    async json(path, query, schema) {
      const { body } = await bytes(path, query);
      const where = `GET ${resolvePath(path)}`;
      return checkAnswer(parseJsonBody(body, where, context.cleaner), schema, where, context.cleaner);
    },
    async stream(path, query) {
      const request = describe(path, query, exportType(query), true);
      const answer = await run(request, () => openAnswer(request, context));
      return { body: guardStream(answer, request, context), headers: cleanHeaders(answer, context) };
    },
    setRate: context.bucket.setRate,
    calls: () => calls,
    async close() {
      options.signal?.removeEventListener('abort', onAbort);
      onAbort();
      await context.transport.close();
    },
  };
}

async function readPage(answer: Answer, request: Request, context: AttemptContext): Promise<Buffer> {
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
  return new Trouble({ kind: 'fault', repeatable: true }, message, facts, cause === undefined ? {} : { cause });
}

/** Without length, chunks and gzip a body ends with its connection, whatever ended that. */
function isUnframed(headers: Record<string, string>): boolean {
  return !['content-length', 'transfer-encoding', 'content-encoding'].some((name) => name in headers);
}

async function* guardStream(answer: Answer, request: Request, context: AttemptContext): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const chunk of decodeBody(answer)) {
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

function explainStop(where: string): PricelakeError {
  return new PricelakeError('stopped', `${where}: stopped`);
}

function cleanHeaders(answer: Answer, context: AttemptContext): Record<string, string> {
  const entries = Object.entries(answer.headers).map(([name, value]) => [name, context.cleaner.redact(value)]);
  return Object.fromEntries(entries);
}
