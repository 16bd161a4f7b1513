import type { Dispatcher } from 'undici';
import errors from 'undici/lib/core/errors.js';
import { LIMITS } from '../io/limits.js';
import { type BodyPace, BodyQueue } from './body-queue.js';
import { createDispatcher } from './dispatcher.js';

/** Time limits in milliseconds. */
export interface Timeouts {
  /** Until the connection is open, including TLS. Default 10,000. */
  connectMs: number;
  /** From the request to the headers. An export may count its rows first. Default 120,000. */
  headersMs: number;
  /** Between two pieces of a body, while the reader waits. Default 60,000. */
  stallMs: number;
  /** From the headers to the last byte, except for exports. Default 60,000. */
  bodyMs: number;
  /** The minimum pace of an export while the reader waits. Default 64 KiB in 120,000. */
  exportPace: NonNullable<BodyPace['minimum']>;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  headersMs: 120_000,
  stallMs: 60_000,
  bodyMs: LIMITS.jsonBodyMs,
  exportPace: LIMITS.exportPace,
};

/** Further calls wait. */
const MAX_CONNECTIONS = 64;

export interface Answer {
  status: number;
  /** Names are in lower case. Repeated headers are joined with commas. */
  headers: Record<string, string>;
  /** Not decoded. It must be read or discarded, because an unread body holds its connection. */
  body: BodyQueue;
}

/** Thrown if the exchange failed before its headers were complete. */
export class ExchangeFault extends Error {
  /** True if the request may have reached the service, which may then count it. */
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super('no answer', { cause });
    this.sent = sent;
  }
}

export type Transport = ReturnType<typeof createTransport>;

/** Sends requests over one undici dispatcher with keep-alive. It does not retry, redirect or decode. */
export function createTransport(origin: string, timeouts: Timeouts) {
  const agent = createDispatcher(origin, {
    connect: { timeout: timeouts.connectMs },
    connections: MAX_CONNECTIONS,
  });
  // The limits are set on each request, because undici sets none on connections to a proxy.
  const limits = { headersTimeout: timeouts.headersMs, bodyTimeout: timeouts.stallMs };
  const underWay = new Set<(reason: Error) => void>();

  /** @param path with its query. Throws only ExchangeFault. */
  function get(path: string, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { handler, abort } = createExchange(resolve, reject, () => underWay.delete(abort), timeouts);
      underWay.add(abort);
      agent.dispatch({ origin, path, method: 'GET', headers, ...limits }, handler);
    });
  }

  return {
    get,
    /** Ends all exchanges with `reason`. */
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
        // After each interim answer, undici starts its wait from the beginning.
        if (performance.now() - sentAt > headersMs) controller.abort(new errors.HeadersTimeoutError());
        return;
      }
      const queue = new BodyQueue({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        close: () => controller.abort(new Error('the rest of the body is not wanted')),
      });
      body = queue;
      // An interim answer has neither body nor end.
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
    // The connection is still opening, so there is nothing to close.
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
