import type { Dispatcher } from 'undici';
import errors from 'undici/lib/core/errors.js';
import { LIMITS } from '../io/limits.js';
import { type BodyPace, BodyQueue } from './body-queue.js';
import { createDispatcher } from './dispatcher.js';

/** Time limits in milliseconds. */
export interface Timeouts {
  /** The limit for opening a connection, including TLS. Defaults to 10,000. */
  connectMs: number;
  /** The limit from the request to the headers. The service may count an export's rows first. Defaults to 120,000. */
  headersMs: number;
  /** The limit between two chunks of a body, while the reader waits. Defaults to 60,000. */
  stallMs: number;
  /** The limit from the headers to the last byte of a body that isn't an export. Defaults to 60,000. */
  bodyMs: number;
  /** The minimum speed of an export, while the reader waits. Defaults to 64 KiB in 120,000 ms. */
  exportPace: NonNullable<BodyPace['minimum']>;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  headersMs: 120_000,
  stallMs: 60_000,
  bodyMs: LIMITS.jsonBodyMs,
  exportPace: LIMITS.exportPace,
};

/** The maximum number of connections. Further calls are queued. */
const MAX_CONNECTIONS = 64;

export interface Answer {
  status: number;
  /** Header names are lowercase. Repeated headers are joined with commas. */
  headers: Record<string, string>;
  /** The body before decoding. It must be read or discarded, because an unread body blocks its connection. */
  body: BodyQueue;
}

/** The error of a request that failed before its response's headers were complete. */
export class ExchangeFault extends Error {
  /** True if the request may have reached the service. The service may then count the call. */
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super('no answer', { cause });
    this.sent = sent;
  }
}

export type Transport = ReturnType<typeof createTransport>;

/** Sends requests with undici over persistent connections. Doesn't retry, follow redirects or decode. */
export function createTransport(origin: string, timeouts: Timeouts) {
  const agent = createDispatcher(origin, {
    connect: { timeout: timeouts.connectMs },
    connections: MAX_CONNECTIONS,
  });
  // Sets the limits for each request, because undici doesn't apply a dispatcher's limits to connections to a proxy.
  const limits = { headersTimeout: timeouts.headersMs, bodyTimeout: timeouts.stallMs };
  const underWay = new Set<(reason: Error) => void>();

  /** Sends a GET request. @param path the path with its query @throws ExchangeFault, never another error */
  function get(path: string, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { handler, abort } = createExchange(resolve, reject, () => underWay.delete(abort), timeouts);
      underWay.add(abort);
      agent.dispatch({ origin, path, method: 'GET', headers, ...limits }, handler);
    });
  }

  return {
    get,
    /** Aborts all requests in progress with `reason`. */
    abort(reason: Error): void {
      for (const abort of [...underWay]) abort(reason);
    },
    close: (): Promise<void> => agent.destroy(),
  };
}

function createExchange(
  resolve: (answer: Answer) => void,
  reject: (fault: ExchangeFault) => void,
  finish: () => void,
  { headersMs }: Timeouts,
) {
  let sent = false;
  let sentAt = 0;
  let aborted: Error | undefined;
  let breakOff: ((reason: Error) => void) | undefined;
  let body: BodyQueue | undefined;

  function fail(error: unknown): void {
    finish();
    if (body === undefined) reject(new ExchangeFault(sent, error));
    else body.fail(error);
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      breakOff = (reason) => controller.abort(reason);
      if (aborted !== undefined) return controller.abort(aborted);
      sent = true;
      sentAt = performance.now();
    },
    onResponseStart(controller, status, headers) {
      if (status < 200) {
        // Checks the total time, because undici restarts its timeout after each interim response.
        if (performance.now() - sentAt > headersMs) controller.abort(new errors.HeadersTimeoutError());
        return;
      }
      const queue = new BodyQueue({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        close: () => controller.abort(new Error('the rest of the body is not wanted')),
      });
      body = queue;
      // Sets these handlers only now, because only a final response has a body and an end.
      handler.onResponseData = (_controller, chunk) => queue.push(chunk);
      handler.onResponseEnd = () => {
        finish();
        queue.end();
      };
      resolve({ status, headers: flattenHeaders(headers), body });
    },
    onResponseError: (_controller, error) => fail(error),
  };

  function abort(reason: Error): void {
    aborted = reason;
    // If the connection is still being opened, the request is aborted as soon as it starts.
    if (breakOff === undefined) fail(reason);
    else breakOff(reason);
  }
  return { handler, abort };
}

function flattenHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    flat[name] = [value].flat().join(', ');
  }
  return flat;
}
