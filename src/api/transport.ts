import type { Dispatcher } from 'undici';
import errors from 'undici/lib/core/errors.js';
import { LIMITS } from '../io/limits.js';
import { type BodyPace, BodyQueue } from './body-queue.js';
import { createDispatcher } from './dispatcher.js';

/** Time limits in milliseconds. */
export interface Timeouts {
  /** The limit for opening a connection, including TLS. Default 10,000. */
  connectMs: number;
  /** The limit from the request to the headers, because an export may count its rows first. Default 120,000. */
  headersMs: number;
  /** The limit between two chunks of a body while the reader waits. Default 60,000. */
  stallMs: number;
  /** The limit from the headers to the last byte, except for exports. Default 60,000. */
  bodyMs: number;
  /** The minimum pace of an export while the reader waits. Default 64 KiB per 120,000 ms. */
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
  /** The undecoded body. It must be read or discarded, because an unread body occupies its connection. */
  body: BodyQueue;
}

/** Thrown if an exchange fails before its headers are complete. */
export class ExchangeFault extends Error {
  /** True if the request may have reached the service, which may count it. */
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super('no answer', { cause });
    this.sent = sent;
  }
}

export type Transport = ReturnType<typeof createTransport>;

/** Sends requests through one undici dispatcher with keep-alive. Doesn't retry, redirect or decode. */
export function createTransport(origin: string, timeouts: Timeouts) {
  const agent = createDispatcher(origin, {
    connect: { timeout: timeouts.connectMs },
    connections: MAX_CONNECTIONS,
  });
  // The limits are set on each request, because undici doesn't set them for connections to a proxy.
  const limits = { headersTimeout: timeouts.headersMs, bodyTimeout: timeouts.stallMs };
  const underWay = new Set<(reason: Error) => void>();

  /** Sends a GET request. @param path including the query. @throws ExchangeFault and no other error */
  function get(path: string, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { handler, abort } = createExchange(resolve, reject, () => underWay.delete(abort), timeouts);
      underWay.add(abort);
      agent.dispatch({ origin, path, method: 'GET', headers, ...limits }, handler);
    });
  }

  return {
    get,
    /** Aborts all exchanges with `reason`. */
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
        // undici restarts its timeout after each interim response, so the total time is checked here.
        if (performance.now() - sentAt > headersMs) controller.abort(new errors.HeadersTimeoutError());
        return;
      }
      const queue = new BodyQueue({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        close: () => controller.abort(new Error('the rest of the body is not wanted')),
      });
      body = queue;
      // An interim response has neither a body nor an end, so these are set only for a final one.
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
    // The connection is still being opened, so the abort happens as soon as the request starts.
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
