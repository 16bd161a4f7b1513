import type { Dispatcher } from 'undici';
import errors from 'undici/lib/core/errors.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { EXPORT_PACE, JSON_BODY_MS } from '../io/limits.js';
import { type BodyPace, BodyQueue } from './body-queue.js';

/** How long each part of an answer may take, in milliseconds. */
export interface Timeouts {
  /** Until the connection is open, including TLS. Default 10,000. */
  connectMs: number;
  /** From the request until the answer's headers: an export may count rows first. Default 120,000. */
  headersMs: number;
  /** Between two pieces of a body, while the reader waits. Default 60,000. */
  stallMs: number;
  /** From an answer's headers until its last byte, exports aside. Default 60,000. */
  bodyMs: number;
  /** What an export has to bring while the reader waits. Default 64 KiB in 120,000. */
  exportPace: NonNullable<BodyPace['minimum']>;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  headersMs: 120_000,
  stallMs: 60_000,
  bodyMs: JSON_BODY_MS,
  exportPace: EXPORT_PACE,
};

/** Calls to one origin at a time; more wait their turn. */
const MAX_CONNECTIONS = 64;

export interface Answer {
  status: number;
  /** Names in lower case; a repeated header joined with commas. */
  headers: Record<string, string>;
  /** As it arrived, not decoded. Read it or discard it: an unread body holds its connection. */
  body: BodyQueue;
}

/** No answer: the exchange broke before its headers were complete. */
export class ExchangeFault extends Error {
  /** True when the request may have reached the service, so that it may have been counted. */
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super('no answer', { cause });
    this.sent = sent;
  }
}

export interface Transport {
  /** GET `path` (with its query) of the origin. Throws ExchangeFault only. */
  get(path: string, headers: Record<string, string>): Promise<Answer>;
  /** Breaks off whatever is under way with `reason`. */
  abort(reason: Error): void;
  close(): Promise<void>;
}

/** One undici agent for one origin, with keep-alive. Nothing is retried, redirected or decoded here. */
export function createTransport(origin: string, timeouts: Timeouts): Transport {
  const agent = new Agent({
    connect: { timeout: timeouts.connectMs },
    connections: MAX_CONNECTIONS,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.stallMs,
  });
  const underWay = new Set<(reason: Error) => void>();

  function get(path: string, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const exchange = createExchange(resolve, reject, () => underWay.delete(exchange.abort), timeouts);
      underWay.add(exchange.abort);
      agent.dispatch({ origin, path, method: 'GET', headers }, exchange.handler);
    });
  }

  return {
    get,
    abort: (reason) => {
      for (const abort of [...underWay]) abort(reason);
    },
    close: () => agent.destroy(),
  };
}

interface Exchange {
  handler: Dispatcher.DispatchHandler;
  abort: (reason: Error) => void;
}

/** The state of one request and its answer, as undici's events report it. */
function createExchange(
  resolve: (answer: Answer) => void,
  reject: (fault: ExchangeFault) => void,
  finish: () => void,
  { headersMs }: Timeouts,
): Exchange {
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
        // Each interim answer makes undici wait as long again.
        if (performance.now() - sentAt > headersMs) controller.abort(new errors.HeadersTimeoutError());
        return;
      }
      const queue = new BodyQueue({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        close: () => controller.abort(new Error('the rest of the body is not wanted')),
      });
      body = queue;
      // An interim answer has no body: only from here on one comes and ends.
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
    // While the connection is still being made there is nothing to break off, but nobody waits on.
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
