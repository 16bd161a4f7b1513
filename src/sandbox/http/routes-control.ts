import type { Hono } from 'hono';
import { z } from 'zod';
import { advanceWorld } from '../world/advance-world.js';
import { ApiError } from './api-error.js';
import type { SandboxEnv, Service } from './caller.js';

const advanceBody = z.strictObject({
  hours: z.number().positive().max(10_000),
  changes: z.number().int().nonnegative().max(10_000_000).optional(),
});

/** Not part of the service: looks at the world and moves it on. Needs no key. */
export function addControlRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const { world, clock, account } = service;

  app.get('/sandbox', async (c) => {
    const row = await world.database.use((session) =>
      session.row('SELECT count(*) FILTER (removed_at IS NULL) AS listed FROM items'),
    );
    return c.json({
      seed: world.facts.seed,
      now: clock.iso(),
      clock: clock.mode,
      plan: account.plan.code,
      items: world.itemCount,
      listed: Number(row?.listed),
      changes: world.feed.length,
      steps: world.version,
    });
  });

  app.post('/sandbox/advance', async (c) => {
    const body = advanceBody.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) {
      throw new ApiError(
        400,
        `Body: JSON such as {"hours":1,"changes":500} is expected. ${z.prettifyError(body.error)}`,
      );
    }
    const { hours, changes } = body.data;
    return c.json(await advanceWorld(world, clock, changes === undefined ? { hours } : { hours, changes }));
  });
}
