import type { Context, Hono } from 'hono';
import { stringify } from 'lossless-json';
import * as z from 'zod';
import { parseExactJson } from '../../api/exact-json.js';
import { int64 } from '../../api/wire-types.js';
import { PricelakeError } from '../../errors/errors.js';
import { ApiError } from '../http/api-error.js';
import type { SandboxEnv } from '../http/caller.js';
import type { Webhook } from './webhook.js';

const secret = z.string().min(1).max(200).optional();
const setBody = z.strictObject({ url: z.string(), secret, after: int64.optional() });
const rollBody = z.strictObject({ secret, keepHours: z.number().nonnegative().max(10_000).optional() });
const resendBody = z.strictObject({ id: z.string() });

/** Not part of the service: what its customers do in the portal (section 6). Needs no key. */
export function addWebhookRoutes(app: Hono<SandboxEnv>, webhook: Webhook): void {
  app.get('/sandbox/webhook', () => answer(webhook.status));

  app.post('/sandbox/webhook', async (c) => {
    const { url, secret, after } = await readBody(c, setBody, '{"url":"http://127.0.0.1:8700/","secret":"…"}');
    await refuse(
      webhook.set({ url, ...(secret === undefined ? {} : { secret }), ...(after === undefined ? {} : { after }) }),
    );
    return answer({ ...webhook.status, secret: webhook.secret });
  });

  app.post('/sandbox/webhook/roll', async (c) => {
    webhook.roll(await readBody(c, rollBody, '{"keepHours":24}'));
    return answer({ secret: webhook.secret });
  });

  app.post('/sandbox/webhook/ping', async () => answer(await refuse(webhook.ping())));

  app.post('/sandbox/webhook/resend', async (c) => {
    const { id } = await readBody(c, resendBody, '{"id":"evt_…"}');
    return answer(await refuse(webhook.resend(id)));
  });

  app.delete('/sandbox/webhook', async () => {
    await webhook.remove();
    return answer(webhook.status);
  });
}

/** Cursors are exact: they are bigints, which JSON.stringify does not take. */
function answer(value: object): Response {
  return new Response(stringify(value), { headers: { 'Content-Type': 'application/json' } });
}

async function readBody<T extends z.ZodType>(c: Context, schema: T, example: string): Promise<z.infer<T>> {
  const parsed = schema.safeParse(parseText(await c.req.text()));
  if (parsed.success) return parsed.data;
  throw new ApiError(400, `Body: JSON such as ${example} is expected. ${z.prettifyError(parsed.error)}`);
}

/** No body is an empty object. */
function parseText(text: string): unknown {
  try {
    return text === '' ? {} : parseExactJson(text);
  } catch {
    return undefined;
  }
}

async function refuse<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof PricelakeError)) throw error;
    throw new ApiError(400, error.facts.hint === undefined ? error.message : `${error.message}. ${error.facts.hint}`);
  });
}
