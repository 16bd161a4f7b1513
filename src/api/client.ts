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
  /** May have a path prefix. `/api/v1/…` is appended. */
  baseUrl: string;
  apiKey: string;
  /** Milliseconds: connectMs 10,000, headersMs 120,000, stallMs 60,000, bodyMs 60,000; and exportPace. */
  timeouts?: Partial<Timeouts>;
  /** Attempts of one call that may end in a network fault or a 5xx. Default 8. */
  attempts?: number;
  /** Ends all calls, streams included, with PricelakeError `stopped`. */
  signal?: AbortSignal;
  /** Calls that several clients may make together. */
  cap?: CallCap | undefined;
}

/** A limit that outlives a client, beside the client's own (`setCallLimit`). */
export interface CallCap {
  /** Reserves a call before it is sent. @throws PricelakeError if no call is left */
  begin(): void;
  /** The end of a reserved call; `reached` is false if the service never got it. */
  end(reached: boolean): void;
}

/**
 * GET calls of the API (sections 4, 5 and 7). `path` is the document's, with or without `/api/v1`; `apiPath` puts
 * values in. Each call throws PricelakeError `unauthorized`, `plan_refuses`, `quota`, `bad_request`, `not_found`,
 * `contract`, `unavailable` (after the retries), `stopped`, and what `setCallLimit` was given.
 */
export interface ApiClient {
  /** Parses a small JSON answer exactly, and checks it against the contract. */
  json<T extends z.ZodType>(path: string, query: Query, schema: T): Promise<z.output<T>>;
  /** The body of a JSON answer, decoded and complete, not parsed. */
  bytes(path: string, query: Query): Promise<{ body: Buffer; headers: Record<string, string> }>;
  /**
   * A decoded export. If it breaks off, stalls or never begins to answer, it throws `unavailable` with
   * `facts.midStream`: rows cost money, so nothing is repeated. Compare the number of rows with `X-Export-Rows`.
   */
  stream(path: string, query: Query): Promise<{ body: AsyncIterable<Buffer>; headers: Record<string, string> }>;
  /** The plan's `ratePerSecond` (section 8); null is unlimited. */
  setRate(ratePerSecond: number | null): void;
  /**
   * Limits the calls that may still be made, with retries and redirects; null is unlimited. Beyond the limit a call
   * throws what `refuse` returns for the calls made so far.
   */
  setCallLimit(left: number | null, refuse: (made: number) => PricelakeError): void;
  /** Requests that reached the service, with every retry and redirect. */
  calls(): number;
  /** Those that were refused or not answered: the document does not say whether the service counts them. */
  refusedCalls(): number;
  /** The present time by the `Date` headers of the service's responses. Undefined if no header was valid. */
  serviceTime(): Date | undefined;
  /** Ends all calls and closes the connections. */
  close(): Promise<void>;
}

/**
 * A client for one service and one key. Opens no connection yet.
 * @throws PricelakeError `config` for an unusable `baseUrl` or `apiKey`
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
  // A space or a line break would make a second or a broken header.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const hint = 'Copy it again from the API section of the portal, without spaces or line breaks.';
    throw new PricelakeError('config', 'source.apiKey is empty or has characters that keys never have', { hint });
  }
  if (base.cleartext) io.log('warn', 'api.cleartext', { host: base.host });
  // Every waiting call listens to it: many listeners are no leak.
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
 * Counts the requests that reached the service, and holds them to a limit. An open request counts as made until its end
 * is known, so requests side by side never pass the limit.
 */
function createCallCounter(cap: CallCap | undefined) {
  let made = 0;
  let refused = 0;
  let underWay = 0;
  let limit = Number.POSITIVE_INFINITY;
  let explain: ((made: number) => PricelakeError) | undefined;
  return {
    count: () => made,
    /** Those without a 200: the document does not say whether the service counts them. */
    countRefused: () => refused,
    setLimit(left: number | null, refuse: (made: number) => PricelakeError): void {
      limit = left === null ? Number.POSITIVE_INFINITY : made + underWay + left;
      explain = refuse;
    },
    /** Throws if no call is left. */
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
