import { setMaxListeners } from 'node:events';
import type * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { type BaseUrl, buildQuery, parseBaseUrl, type Query, resolvePath } from './api-url.js';
import {
  type AttemptContext,
  type EndCall,
  explainStop,
  guardStream,
  openAnswer,
  type Request,
  readPage,
} from './attempt.js';
import { type Cleaner, createCleaner } from './clean-text.js';
import { exportType, JSON_TYPE } from './decode-body.js';
import { createRateBucket } from './rate-bucket.js';
import { checkAnswer, parseJsonBody } from './read-json.js';
import { DEFAULT_ATTEMPTS, runWithRetries } from './retry-policy.js';
import { createServiceClock } from './service-clock.js';
import { type Answer, createTransport, DEFAULT_TIMEOUTS, type Timeouts } from './transport.js';

export type { Query } from './api-url.js';

export interface ClientOptions {
  /** The service's address, which may include a path. `/api/v1/…` is appended to it. */
  baseUrl: string;
  apiKey: string;
  /** Time limits in milliseconds. For the defaults, see `Timeouts`. */
  timeouts?: Partial<Timeouts>;
  /** The maximum number of attempts of a call after network errors or 5xx responses. Defaults to 8. */
  attempts?: number;
  /** When this signal aborts, all calls and streams end with PricelakeError `stopped`. */
  signal?: AbortSignal;
  /** A limit on the calls of several clients together. */
  cap?: CallCap | undefined;
}

/** A limit on calls that outlives a client. It applies in addition to the client's own limit (`setCallLimit`). */
export interface CallCap {
  /** Reserves a call that is about to be sent. @throws PricelakeError if no call is left */
  begin(): void;
  /** Ends the reservation after the call. @param reached false if the service never received the request */
  end(reached: boolean): void;
}

/**
 * Makes GET calls to the API (API §4, §5 and §7). `path` is a path from the API document, with or without `/api/v1`.
 * Every call throws PricelakeError `unauthorized`, `plan_refuses`, `quota`, `bad_request`, `not_found`, `contract`,
 * `unavailable` (after all attempts), `stopped`, `deadline`, or the error given to `setCallLimit`.
 */
export interface ApiClient {
  /** Requests a small JSON response, parses it without losing digits, and validates it. */
  json<T extends z.ZodType>(path: string, query: Query, schema: T): Promise<z.output<T>>;
  /** Requests a JSON response. Returns its headers and its decoded body, which isn't parsed. */
  bytes(path: string, query: Query): Promise<{ body: Buffer; headers: Record<string, string> }>;
  /**
   * Streams a decoded export. Doesn't retry a request that may have reached the service, because exported rows are
   * billed. If such a request gets no response, or its response stalls or is cut off, throws `unavailable` with
   * `facts.midStream`. The caller must compare the number of rows with `X-Export-Rows`.
   */
  stream(path: string, query: Query): Promise<{ body: AsyncIterable<Buffer>; headers: Record<string, string> }>;
  /** Sets the rate to the plan's `ratePerSecond` (API §8); null means unlimited. */
  setRate(ratePerSecond: number | null): void;
  /**
   * Limits the number of further calls, including retries and redirects; null means unlimited. A call beyond the limit
   * throws the error that `refuse` returns. `refuse` receives the number of calls made.
   */
  setCallLimit(left: number | null, refuse: (made: number) => PricelakeError): void;
  /** The number of requests that reached the service, including retries and redirects. */
  calls(): number;
  /** The number of requests that reached the service and didn't return 200. The service may or may not count them. */
  refusedCalls(): number;
  /** The service's current time, according to the `Date` headers of its responses; undefined if none was valid. */
  serviceTime(): Date | undefined;
  close(): Promise<void>;
}

/**
 * Creates a client for one service and one key. Opens no connection yet.
 * @throws PricelakeError `config` if `baseUrl` or `apiKey` is invalid
 */
export function createClient(options: ClientOptions, io: Io): ApiClient {
  const stop = new AbortController();
  const counter = createCallCounter(options.cap);
  const context = createContext(options, io, stop.signal, counter.begin);
  const { attempts = DEFAULT_ATTEMPTS } = options;
  const { bucket, cleaner, transport } = context;
  const end = () => {
    stop.abort();
    transport.abort(new Error('stopped'));
  };
  options.signal?.addEventListener('abort', end);
  if (options.signal?.aborted) end();

  async function run<T>({ path, where }: Request, attempt: () => Promise<T>): Promise<T> {
    try {
      return await runWithRetries({ path, attempts, bucket, io, signal: stop.signal }, attempt);
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
      options.signal?.removeEventListener('abort', end);
      end();
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
  // Rejects a key with a space or a line break, which would make the headers invalid.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const hint = 'Copy it again from the API section of the portal, without spaces or line breaks.';
    throw new PricelakeError('config', 'source.apiKey is empty or contains invalid characters', { hint });
  }
  if (base.cleartext) io.log('warn', 'api.cleartext', { host: base.host });
  // Each pending call adds a listener to the signal. Without this line, Node would warn of a memory leak.
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

/**
 * Counts and limits the requests that reach the service. A pending request counts as made, so that parallel requests
 * can't exceed the limit.
 */
function createCallCounter(cap: CallCap | undefined) {
  let made = 0;
  let refused = 0;
  let underWay = 0;
  let limit = Number.POSITIVE_INFINITY;
  let explain: ((made: number) => PricelakeError) | undefined;
  return {
    count: () => made,
    countRefused: () => refused,
    setLimit(left: number | null, refuse: (made: number) => PricelakeError): void {
      limit = left === null ? Number.POSITIVE_INFINITY : made + underWay + left;
      explain = refuse;
    },
    /** Reserves a call. Throws if no call is left. */
    begin(): EndCall {
      if (explain !== undefined && made + underWay >= limit) throw explain(made);
      cap?.begin();
      underWay += 1;
      return (reached, answered) => {
        cap?.end(reached);
        underWay -= 1;
        if (reached) made += 1;
        if (reached && !answered) refused += 1;
      };
    },
  };
}

type RequestKind = Pick<Request, 'mediaType' | 'billed'>;

function planRequest(base: BaseUrl, path: string, query: Query, kind: RequestKind): Request {
  const resolved = resolvePath(path);
  return { ...kind, path: resolved, where: `GET ${resolved}`, target: `${base.prefix}${resolved}${buildQuery(query)}` };
}

function cleanHeaders(answer: Answer, cleaner: Cleaner): Record<string, string> {
  const entries = Object.entries(answer.headers).map(([name, value]) => [name, cleaner.redact(value)]);
  return Object.fromEntries(entries);
}
