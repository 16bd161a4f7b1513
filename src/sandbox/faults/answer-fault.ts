import { refuseKey } from '../http/admit-caller.js';
import { type ApiError, type LimitName, refuseByLimit } from '../http/api-error.js';
import type { Service } from '../http/caller.js';
import { setLimitHeaders } from '../http/limit-headers.js';
import { OVERDUE_DAYS } from '../plans.js';
import type { FaultEffect } from './fault.js';

/** Where redirects lead to: the same service once more, without faults. */
export const REDIRECTED = '/redirected';

/** The answer of a fault that stands in for the service's own, else null. */
export function answerFault(effect: FaultEffect, request: Request, service: Service): Response | null {
  const { kind, argument } = effect;
  if (kind === 'html') return answerHtml(argument);
  if (kind === 'redirect') return answerRedirect(argument, new URL(request.url));
  if (kind === '401') return answerRefusal(refuseKey(), request, service);
  if (kind === '402') return answerRefusal(refuseLimit(402, argument, service), request, service);
  if (kind === '429') return answerRefusal(refuseLimit(429, argument, service), request, service);
  return null;
}

/** What a proxy in front of the service says: no JSON, none of the service's headers. */
function answerHtml(status: number): Response {
  const page = `<!doctype html><html><head><title>${status}</title></head><body><h1>${status} Upstream error</h1></body></html>\n`;
  return new Response(page, { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } });
}

function answerRedirect(host: 'same' | 'other', url: URL): Response {
  // The server listens on 127.0.0.1; localhost is another host to every client.
  if (host === 'other') url.hostname = url.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
  url.pathname = REDIRECTED + url.pathname;
  return new Response(null, { status: 307, headers: { Location: url.href } });
}

function answerRefusal(error: ApiError, request: Request, service: Service): Response {
  const response = error.toResponse();
  setLimitHeaders(response.headers, service, service.account.identify(request.headers.get('authorization')));
  return response;
}

function refuseLimit(status: 402 | 429, limit: LimitName, { account }: Service): ApiError {
  const { code, limits } = account.plan;
  const allowed = limit === 'paymentOverdue' ? OVERDUE_DAYS : limits[limit];
  const retryAfter = limit === 'ratePerSecond' ? 1 : account.secondsTo(account.usage.resetsAt);
  const message = `The limit ${limit} of the plan ${code} refuses this request.`;
  return refuseByLimit(status, message, { limit, allowed, plan: code }, status === 429 ? retryAfter : undefined);
}
