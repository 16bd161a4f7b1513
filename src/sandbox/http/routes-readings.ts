import type { Hono } from 'hono';
import * as z from 'zod';
import type { SandboxEnv, Service } from './caller.js';
import { parseBody, readBody, refuseUsage } from './control-body.js';

const body = z.strictObject({ readings: z.array(z.string()) });

/** How the document is read where it is silent: what holds, and `{"readings":["lag.items=120s"]}` from the next answer on. */
export function addReadingRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const list = () => Object.fromEntries(service.readings.list().map(({ name, value }) => [name, value]));
  app.get('/sandbox/readings', (c) => c.json({ readings: list() }));
  app.post('/sandbox/readings', async (c) => {
    const { readings } = parseBody(body, await readBody(c), '{"readings":["lag.items=120s"]}');
    refuseUsage(() => changeReadings(service, readings));
    return c.json({ readings: list() });
  });
}

/** Earlier versions of rows are kept once an answer may lag. Throws PricelakeError `usage`. */
export function changeReadings({ readings, world }: Service, specs: readonly string[]): void {
  readings.change(specs);
  if (readings.hasLag) world.keepPast();
}
