import type { Hono } from 'hono';
import { stringify } from 'lossless-json';
import * as z from 'zod';
import { parseExactJson } from '../../api/exact-json.js';
import { int64 } from '../../api/wire-types.js';
import type { SandboxEnv } from '../http/caller.js';
import { readBody, refuseUsage } from '../http/routes-control.js';
import type { Webhook } from './webhook.js';

const secret = z.string().min(1).max(200).optional();
const setBody = z.strictObject({ url: z.string(), secret, after: int64.optional() });
const rollBody = z.strictObject({ secret, keepHours: z.number().nonnegative().max(10_000).optional() }).prefault({});
const resendBody = z.strictObject({ id: z.string() });

/** Adds endpoints that do what customers do in the service's portal (API §6). They need no key. */
export function addWebhookRoutes(app: Hono<SandboxEnv>, webhook: Webhook): void {
  app.get('/sandbox/webhook', () => answer(webhook.status));

  app.post('/sandbox/webhook', async (c) => {
    const settings = await readBody(c, setBody, '{"url":"http://127.0.0.1:8700/","secret":"…"}', parseExactJson);
    await refuseUsage(() => webhook.set(settings));
    return answer({ ...webhook.status, secret: webhook.secret });
  });

  app.post('/sandbox/webhook/roll', async (c) => {
    webhook.roll(await readBody(c, rollBody, '{"keepHours":24}'));
    return answer({ secret: webhook.secret });
  });

  app.post('/sandbox/webhook/ping', async () => answer(await refuseUsage(() => webhook.ping())));

  app.post('/sandbox/webhook/resend', async (c) => {
    const { id } = await readBody(c, resendBody, '{"id":"evt_…"}');
    return answer(await refuseUsage(() => webhook.resend(id)));
  });

  app.delete('/sandbox/webhook', async () => {
    await webhook.remove();
    return answer(webhook.status);
  });
}

/** Serializes bigint cursors exactly, which JSON.stringify can't. */
function answer(value: object): Response {
  return new Response(stringify(value), { headers: { 'Content-Type': 'application/json' } });
}
