import { setMaxListeners } from 'node:events';
import type * as z from 'zod';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import { type BaseUrl, buildQuery, parseBaseUrl, type Query, resolvePath } from './api-url.js';
import { type AttemptContext, openAnswer, type Request } from './attempt.js';
import { createCallCounter } from './call-counter.js';
import { type Cleaner, createCleaner } from './clean-text.js';
import { exportType, JSON_TYPE } from './decode-body.js';
import { createRateBucket } from './rate-bucket.js';
import { explainStop, guardStream, readPage } from './read-body.js';
import { checkAnswer, parseJsonBody } from './read-json.js';
import { DEFAULT_RETRY, type RetryPolicy, runWithRetries } from './retry-policy.js';
import { createServiceClock } from './service-clock.js';
import { type Answer, createTransport, DEFAULT_TIMEOUTS, type Timeouts } from './transport.js';

export type { Query } from './api-url.js';

export interface ClientOptions {
  /** Address of the service; may have a path prefix. `/api/v1/…` is appended. */
  baseUrl: string;
  apiKey: string;
  /** Milliseconds: connectMs 10,000, headersMs 120,000, stallMs 60,000, bodyMs 60,000; and exportPace. */
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
 * (what the document does not allow), `unavailable` (faults that outlasted the retries), `stopped`, and
 * what `setCallLimit` was given.
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
  /**
   * How many calls may still be made, retries and redirects counted; null is any number. A call beyond is not made: it
   * throws what `refuse` returns for the calls made so far.
   */
  setCallLimit(left: number | null, refuse: (made: number) => PricelakeError): void;
  /** Requests that reached the service so far, every attempt and redirect counted. */
  calls(): number;
  /** Of these, the ones that were refused or not answered: whether the service counts them is not documented. */
  refusedCalls(): number;
  /** Now by the service's clock, from the `Date` headers of its answers; undefined where none had a valid one. */
  serviceTime(): Date | undefined;
  /** Ends whatever is under way and closes the connections. */
  close(): Promise<void>;
}

/**
 * A client for one service and one key (API document, section 5). Opens no connection yet.
 *
 * @throws PricelakeError `config` for an unusable `baseUrl` or `apiKey`.
 */
export function createClient(options: ClientOptions, io: Io): ApiClient {
  const stop = new AbortController();
  const counter = createCallCounter();
  const context = createContext(options, io, stop.signal, counter.begin);
  const policy = { ...DEFAULT_RETRY, ...options.retry };
  const { bucket, cleaner, transport } = context;
  const detach = followSignal(options.signal, () => {
    stop.abort();
    transport.abort(new Error('stopped'));
  });

  async function run<T>({ path, where }: PlannedRequest, attempt: () => Promise<T>): Promise<T> {
    try {
      return await runWithRetries({ path, policy, bucket, io, signal: stop.signal }, attempt);
    } catch (error) {
      throw stop.signal.aborted ? explainStop(where) : error;
    }
  }

  async function bytes(path: string, query: Query) {
    const request = planRequest(context.base, path, query, { mediaType: JSON_TYPE, billed: false });
    return run(request, async () => {
      const answer = await openAnswer(request, context);
      return { body: await readPage(answer, request, context), headers: cleanHeaders(answer, cleaner) };
    });
  }

  return {
    bytes,
    async json(path, query, schema) {
      const { body } = await bytes(path, query);
      const where = `GET ${resolvePath(path)}`;
      return checkAnswer(parseJsonBody(body, where, cleaner), schema, where, cleaner);
    },
    async stream(path, query) {
      const request = planRequest(context.base, path, query, { mediaType: exportType(query), billed: true });
      const answer = await run(request, () => openAnswer(request, context));
      return { body: guardStream(answer, request, context), headers: cleanHeaders(answer, cleaner) };
    },
    setRate: bucket.setRate,
    setCallLimit: counter.setLimit,
    calls: counter.count,
    refusedCalls: counter.countRefused,
    serviceTime: context.serviceClock.now,
    async close() {
      detach();
      await transport.close();
    },
  };
}

function createContext(
  options: ClientOptions,
  io: Io,
  signal: AbortSignal,
  beginCall: AttemptContext['beginCall'],
): AttemptContext {
  const { apiKey } = options;
  const base = parseBaseUrl(options.baseUrl);
  // A space or a line break would be a second header or a broken one.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const hint = 'Copy it again from the portal, section API, without spaces and line breaks.';
    throw new PricelakeError('config', 'source.apiKey is empty or has characters that no key has', { hint });
  }
  if (base.cleartext) io.log('warn', 'api.cleartext', { host: base.host });
  // Every call that waits listens to it: many at once are no leak.
  setMaxListeners(0, signal);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  return {
    base,
    apiKey,
    transport: createTransport(base.origin, timeouts),
    bucket: createRateBucket(io),
    cleaner: createCleaner(apiKey),
    serviceClock: createServiceClock(io),
    timeouts,
    io,
    signal,
    beginCall,
  };
}

/** Calls `stop` on the signal's abort and when the function returned is called. */
function followSignal(signal: AbortSignal | undefined, stop: () => void): () => void {
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  return () => {
    signal?.removeEventListener('abort', stop);
    stop();
  };
}

/** A request, and its path alone, for the log. */
type PlannedRequest = Request & { path: string };

function planRequest(
  base: BaseUrl,
  path: string,
  query: Query,
  kind: Pick<Request, 'mediaType' | 'billed'>,
): PlannedRequest {
  const resolved = resolvePath(path);
  return { ...kind, path: resolved, where: `GET ${resolved}`, target: `${base.prefix}${resolved}${buildQuery(query)}` };
}

function cleanHeaders(answer: Answer, cleaner: Cleaner): Record<string, string> {
  const entries = Object.entries(answer.headers).map(([name, value]) => [name, cleaner.redact(value)]);
  return Object.fromEntries(entries);
}
