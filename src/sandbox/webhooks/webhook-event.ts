import { randomUUID } from 'node:crypto';
import { buildCaller, feedEnd, historyStart, type Service } from '../http/caller.js';
import { signBody } from './signing-secrets.js';

const CHANGES_PER_EVENT = 100;

/** A WebhookEvent (API §6). Each attempt sends the same body. */
export interface WebhookEvent {
  id: string;
  type: 'changes' | 'ping';
  cursor: bigint | null;
  body: Uint8Array;
  /** The number of attempts so far, including manual resends. */
  attempts: number;
  delivered: boolean;
}

/**
 * Builds an event with the next changes after the cursor, of those that the live key can see. Returns null if there are
 * none.
 */
export function readNextEvent(service: Service, after: bigint): WebhookEvent | null {
  const { world } = service;
  const caller = buildCaller(service, 'live');
  if (!caller.plan.limits.webhooks) return null;
  const { rows } = world.feed.readForward(after, {
    mask: caller.view.mask,
    since: historyStart(service, caller),
    until: feedEnd(service),
    limit: CHANGES_PER_EVENT,
  });
  const last = rows.at(-1);
  if (last === undefined) return null;
  return buildEvent('changes', world.feed.id(last), (head) => world.feed.rows.wrap(head, rows, ']}'), service);
}

export function buildPing(service: Service): WebhookEvent {
  return buildEvent('ping', null, (head) => Buffer.from(`${head}]}`), service);
}

/** Returns the id of the newest change that the live key can see; 0 if it can't see any change. */
export function findNewestChange(service: Service): bigint {
  const caller = buildCaller(service, 'live');
  const query = { mask: caller.view.mask, since: 0, until: feedEnd(service), limit: 1 };
  const row = service.world.feed.readBackward(null, query).rows[0];
  return row === undefined ? 0n : service.world.feed.id(row);
}

function buildEvent(
  type: WebhookEvent['type'],
  cursor: bigint | null,
  render: (head: string) => Uint8Array,
  { clock }: Service,
): WebhookEvent {
  const id = `evt_${randomUUID()}`;
  const head = `{"id":"${id}","type":"${type}","createdAt":"${clock.iso()}","cursor":${cursor},"changes":[`;
  return { id, type, cursor, body: render(head), attempts: 0, delivered: false };
}

/** The time, in milliseconds, within which an endpoint must respond (API §6, delivery rule 1). */
export const ANSWER_WITHIN_MS = 10_000;

export interface Delivery {
  eventId: string;
  type: WebhookEvent['type'];
  attempt: number;
  at: string;
  ok: boolean;
  /** The status of the response; null if none came in time. */
  status: number | null;
  /** Why there was no response; missing if there was one. */
  error?: string;
}

interface Target {
  url: string;
  secrets: readonly string[];
  answerWithinMs: number;
  /** A signal that is aborted when the endpoint is removed or the sandbox stops. */
  signal: AbortSignal;
}

/** Sends an event once (API §6). It is delivered if a 2xx response comes in time; redirects don't count. */
export async function sendEvent(event: WebhookEvent, target: Target): Promise<Delivery> {
  event.attempts++;
  const attempt = event.attempts;
  const started = new Date();
  const limit = limitAttempt(target);
  const facts = { eventId: event.id, type: event.type, attempt, at: started.toISOString() };
  try {
    const answer = await fetch(target.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        // Uses real time, because receivers compare this time with their own clocks.
        'Service-Signature': signBody(target.secrets, Math.floor(started.getTime() / 1000), event.body),
        'Service-Event-Id': event.id,
        'Service-Event-Type': event.type,
        'Service-Delivery-Attempt': String(attempt),
      },
      body: event.body as Uint8Array<ArrayBuffer>,
      redirect: 'manual',
      signal: limit.signal,
    });
    await answer.body?.cancel().catch(() => {});
    if (answer.ok) event.delivered = true;
    return { ...facts, ok: answer.ok, status: answer.status };
  } catch (error) {
    return { ...facts, ok: false, status: null, error: explain(error) };
  } finally {
    limit.release();
  }
}

/**
 * Combines an abort signal and a timeout. AbortSignal.any isn't used, because Node 20 may garbage-collect its signals.
 */
function limitAttempt({ signal, answerWithinMs }: Target): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  const giveUp = () => controller.abort(new Error(`no answer in ${answerWithinMs / 1000} seconds`));
  const timer = setTimeout(giveUp, answerWithinMs);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    },
  };
}

/** Describes why a request failed. Fetch puts the reason of a broken connection in `cause`. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
