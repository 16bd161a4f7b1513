import type { Context, Hono } from 'hono';
import * as z from 'zod';
import { PricelakeError } from '../../io/errors.js';
import { faultSpec } from '../faults/fault.js';
import { advanceWorld } from '../world/advance-world.js';
import { accountChange } from './account.js';
import { ApiError } from './answers.js';
import type { SandboxEnv, Service } from './caller.js';

const advanceBody = z.strictObject({
  hours: z.number().positive().max(10_000),
  changes: z.number().int().nonnegative().max(10_000_000).optional(),
});

const faultsBody = z.strictObject({ faults: z.array(faultSpec) });
const readingsBody = z.strictObject({ readings: z.array(z.string()) });

/** Adds endpoints that show and change the sandbox. They need no key and aren't part of the service. */
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
    const step = await readBody(c, advanceBody, '{"hours":1,"changes":500}');
    return c.json(await advanceWorld(world, clock, step));
  });

  app.post('/sandbox/account', async (c) => {
    const change = await readBody(c, accountChange, '{"revoked":["live"],"limits":{"apiCallsPerMonth":100}}');
    await refuseUsage(() => account.change(change));
    const { code, status, limits, overage } = account.plan;
    return c.json({ plan: code, status, limits, overage });
  });
}

/** Adds `/sandbox/faults`: GET lists the faults, and POST replaces them. An empty list removes all faults. */
function addFaultRoutes(app: Hono<SandboxEnv>, { faults }: Service): void {
  app.get('/sandbox/faults', (c) => c.json({ faults: faults.list() }));
  app.post('/sandbox/faults', async (c) => {
    faults.arm((await readBody(c, faultsBody, '{"faults":["export:drop@1"]}')).faults);
    return c.json({ faults: faults.list() });
  });
}

/**
 * Adds `/sandbox/readings`, the interpretations of open points in the API document. GET lists them, and POST changes
 * the given ones for later responses.
 */
function addReadingRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const list = () => Object.fromEntries(service.readings.list().map(({ name, value }) => [name, value]));
  app.get('/sandbox/readings', (c) => c.json({ readings: list() }));
  app.post('/sandbox/readings', async (c) => {
    const { readings } = await readBody(c, readingsBody, '{"readings":["lag.items=120s"]}');
    await refuseUsage(() => changeReadings(service, readings));
    return c.json({ readings: list() });
  });
}

/** Changes readings. If responses may lag, starts keeping earlier versions of rows. @throws PricelakeError `usage` */
export function changeReadings({ readings, world }: Service, specs: readonly string[]): void {
  readings.change(specs);
  if (readings.hasLag) world.keepPast();
}

/** Parses the JSON body of a control request. @param parse replaces JSON.parse if 64-bit integers must be exact */
export async function readBody<T extends z.ZodType>(
  c: Context,
  schema: T,
  example: string,
  parse: (text: string) => unknown = JSON.parse,
): Promise<z.infer<T>> {
  const parsed = schema.safeParse(parseText(await c.req.text(), parse));
  if (parsed.success) return parsed.data;
  throw new ApiError(400, `Body: expected JSON such as ${example}. ${z.prettifyError(parsed.error)}`);
}

function parseText(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Runs `work`, and turns errors that the command line would report into a 400 response. */
export async function refuseUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PricelakeError)) throw error;
    throw new ApiError(400, error.facts.hint === undefined ? error.message : `${error.message}. ${error.facts.hint}`);
  }
}
