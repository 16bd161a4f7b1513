import type { Hono } from 'hono';
import * as z from 'zod';
import { faultSpec } from '../faults/fault.js';
import { advanceWorld } from '../world/advance-world.js';
import { accountChange } from './account.js';
import type { SandboxEnv, Service } from './caller.js';
import { parseBody, readBody, refuseUsage } from './control-body.js';
import { addReadingRoutes } from './routes-readings.js';

const advanceBody = z.strictObject({
  hours: z.number().positive().max(10_000),
  changes: z.number().int().nonnegative().max(10_000_000).optional(),
});

const faultsBody = z.strictObject({ faults: z.array(faultSpec) });

/** Not part of the service: looks at the world and moves it on. Needs no key. */
export function addControlRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const { world, clock, account } = service;

  addFaultRoutes(app, service);
  addReadingRoutes(app, service);
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
    const { hours, changes } = parseBody(advanceBody, await readBody(c), '{"hours":1,"changes":500}');
    return c.json(await advanceWorld(world, clock, changes === undefined ? { hours } : { hours, changes }));
  });

  app.post('/sandbox/account', async (c) => {
    const change = parseBody(
      accountChange,
      await readBody(c),
      '{"revoked":["live"],"limits":{"apiCallsPerMonth":100}}',
    );
    refuseUsage(() => account.change(change));
    const { code, status, limits, overage } = account.plan;
    return c.json({ plan: code, status, limits, overage });
  });
}

/** Faults on demand: what is armed, and `{"faults":[…]}` instead; an empty list disarms. */
function addFaultRoutes(app: Hono<SandboxEnv>, { faults }: Service): void {
  app.get('/sandbox/faults', (c) => c.json({ faults: faults.list() }));
  app.post('/sandbox/faults', async (c) => {
    const body = parseBody(faultsBody, await readBody(c), '{"faults":["export:drop@1"]}');
    faults.arm(body.faults);
    return c.json({ faults: faults.list() });
  });
}
