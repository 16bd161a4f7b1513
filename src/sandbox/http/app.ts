import { type Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ApiError, refuseByLimit } from './api-error.js';
import { buildCaller, type Caller, type SandboxEnv, type Service } from './caller.js';
import { addChangeRoutes } from './routes-changes.js';
import { addControlRoutes } from './routes-control.js';
import { addExportRoute } from './routes-export.js';
import { addFacetsRoute } from './routes-facets.js';
import { addItemRoutes } from './routes-items.js';
import { addPlanRoutes } from './routes-plan.js';
import { addProductRoutes } from './routes-products.js';
import { Selections } from './selections.js';

/** The whole service as one handler: `/api/v1` by the API document, `/sandbox` to move the world on. */
export function buildApp(service: Service): Hono<SandboxEnv> {
  const app = new Hono<SandboxEnv>();
  const api = new Hono<SandboxEnv>();
  const selections = new Selections(service.world);
  api.use(admitCaller(service));
  addPlanRoutes(api, service);
  addFacetsRoute(api, service);
  addItemRoutes(api, service, selections);
  addChangeRoutes(api, service);
  addProductRoutes(api, service, selections);
  addExportRoute(api, service, selections);
  addControlRoutes(app, service);
  app.route('/api/v1', api);
  app.notFound((c) => new ApiError(404, `No such endpoint: ${c.req.method} ${c.req.path}.`).toResponse());
  app.onError((error) => (error instanceof ApiError ? error : new ApiError(500, error.message)).toResponse());
  return app;
}

/** Key, rate and month's calls, in this order; afterwards the headers that every answer carries. */
function admitCaller(service: Service) {
  return createMiddleware<SandboxEnv>(async (c, next) => {
    const { account } = service;
    const kind = account.identify(c.req.header('authorization') ?? null);
    if (kind === null) {
      c.res = new ApiError(401, 'The API key is missing, invalid or revoked.').toResponse();
      return setLimitHeaders(c, service, null);
    }
    try {
      takeCall(service, kind);
      c.set('caller', buildCaller(service, kind));
      await next();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      c.res = error.toResponse();
    }
    return setLimitHeaders(c, service, kind);
  });
}

function takeCall({ account }: Service, kind: Caller['kind']): void {
  const { code, limits } = account.plan;
  const wait = account.limiter(kind).take();
  if (wait > 0) {
    const facts = { limit: 'ratePerSecond', allowed: limits.ratePerSecond, plan: code } as const;
    throw refuseByLimit(429, `More than ${limits.ratePerSecond} requests per second.`, facts, wait);
  }
  const { apiCalls, resetsAt } = account.usage;
  if (limits.apiCallsPerMonth !== null && apiCalls >= limits.apiCallsPerMonth) {
    const facts = { limit: 'apiCallsPerMonth', allowed: limits.apiCallsPerMonth, plan: code } as const;
    throw refuseByLimit(
      429,
      `The month's ${limits.apiCallsPerMonth} calls are used up.`,
      facts,
      account.secondsTo(resetsAt),
    );
  }
  account.countCall();
}

/** The document names the prefixes only (section 8); an unlimited quota has no header. */
function setLimitHeaders(c: Context<SandboxEnv>, { account }: Service, kind: Caller['kind'] | null): void {
  const { limits } = account.plan;
  const { apiCalls, exportRows, resetsAt } = account.usage;
  const limiter = kind === null ? null : account.limiter(kind);
  const set = (name: string, value: number | null) => value !== null && c.res.headers.set(name, String(value));
  set('RateLimit-Limit', limits.ratePerSecond);
  set('RateLimit-Remaining', limits.ratePerSecond === null ? null : (limiter?.remaining ?? 0));
  set('RateLimit-Reset', 1);
  const isKnown = kind !== null;
  set('X-Quota-Api-Calls-Limit', isKnown ? limits.apiCallsPerMonth : 0);
  set('X-Quota-Api-Calls-Remaining', isKnown ? left(limits.apiCallsPerMonth, apiCalls) : 0);
  set('X-Quota-Export-Rows-Limit', isKnown ? limits.exportRowsPerMonth : 0);
  set('X-Quota-Export-Rows-Remaining', isKnown ? left(limits.exportRowsPerMonth, exportRows) : 0);
  c.res.headers.set('X-Quota-Reset', resetsAt.toISOString());
}

function left(limit: number | null, used: number): number | null {
  return limit === null ? null : Math.max(0, limit - used);
}
