import type { Hono } from 'hono';
import { ApiError } from './api-error.js';
import type { SandboxEnv } from './caller.js';

/** Every operation of the API is GET (section 1, rule 2). To be added behind all routes. */
export function refuseOtherMethods(app: Hono<SandboxEnv>): void {
  app.all('/api/v1/*', (c) => {
    const { method } = c.req;
    if (method === 'GET' || method === 'HEAD') return c.notFound();
    const answer = new ApiError(405, `${method} is not supported: every operation is GET.`).toResponse();
    answer.headers.set('Allow', 'GET, HEAD');
    return answer;
  });
}
