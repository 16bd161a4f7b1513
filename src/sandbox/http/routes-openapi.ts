import type { Hono } from 'hono';
import { buildOpenApi } from '../../api/openapi/document.js';
import type { SandboxEnv } from './caller.js';

/** `/openapi.json` (section 9): the interface description, as schemas/openapi.json holds it. Needs no key. */
export function addOpenApiRoute(app: Hono<SandboxEnv>): void {
  let text: string | undefined;
  app.get('/openapi.json', (c) => {
    text ??= JSON.stringify(buildOpenApi(), null, 2);
    return c.body(text, 200, { 'Content-Type': 'application/json' });
  });
}
