import { type Context, Hono, type Next } from 'hono';
import { isLoopbackHost, isOwnRequest } from '../../io/own-request.js';
import { admitCaller } from './admit-caller.js';
import { ApiError } from './answers.js';
import type { SandboxEnv, Service } from './caller.js';
import { addChangeRoutes } from './routes-changes.js';
import { addControlRoutes } from './routes-control.js';
import { addFacetsRoute, addPlanRoutes } from './routes-datasets.js';
import { addExportRoute } from './routes-export.js';
import { addItemRoutes } from './routes-items.js';
import { addProductRoutes } from './routes-products.js';
import { addStartRoutes } from './start-page.js';

/** Builds the service: the API under `/api/v1`, and control endpoints under `/sandbox`. */
export function buildApp(service: Service): Hono<SandboxEnv> {
  const app = new Hono<SandboxEnv>();
  const api = new Hono<SandboxEnv>();
  api.use(admitCaller(service));
  addPlanRoutes(api, service);
  addFacetsRoute(api, service);
  addItemRoutes(api, service);
  addChangeRoutes(api, service);
  addProductRoutes(api, service);
  addExportRoute(api, service);
  for (const path of OWN_PATHS) app.use(path, refuseForeignPages);
  addStartRoutes(app, service);
  addControlRoutes(app, service);
  app.route('/api/v1', api);
  refuseOtherMethods(app);
  app.notFound((c) => new ApiError(404, `No such endpoint: ${c.req.method} ${c.req.path}.`).toResponse());
  app.onError((error) => (error instanceof ApiError ? error : new ApiError(500, error.message)).toResponse());
  return app;
}

/** Paths that need no key. `/sandbox/*` also matches `/sandbox` itself. */
const OWN_PATHS = ['/', '/openapi.json', '/sandbox/*'];

/** Refuses requests from pages of other sites, because these paths show the keys and change the sandbox. */
async function refuseForeignPages(c: Context, next: Next): Promise<void> {
  const { method } = c.req;
  if (!isLoopbackHost(c.req.header('host')) || !isOwnRequest(method, (name) => c.req.header(name))) {
    throw new ApiError(403, 'Only programs and pages on this machine can use this address, through localhost.');
  }
  await next();
}

/**
 * Returns 405 for methods other than GET, which all operations of the API use (API §1, rule 2). Call it after adding
 * all other routes.
 */
function refuseOtherMethods(app: Hono<SandboxEnv>): void {
  app.all('/api/v1/*', (c) => {
    const { method } = c.req;
    if (method === 'GET' || method === 'HEAD') return c.notFound();
    const answer = new ApiError(405, `${method} is not supported: every operation is GET.`).toResponse();
    answer.headers.set('Allow', 'GET, HEAD');
    return answer;
  });
}
