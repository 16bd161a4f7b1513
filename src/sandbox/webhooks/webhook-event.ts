import { randomUUID } from 'node:crypto';
import { buildCaller, feedEnd, historyStart, type Service } from '../http/caller.js';

/** Section 6: an event holds no more changes. */
const CHANGES_PER_EVENT = 100;

/** A WebhookEvent (section 6) as it is sent: the body is the same on every attempt. */
export interface WebhookEvent {
  id: string;
  type: 'changes' | 'ping';
  cursor: bigint | null;
  body: Uint8Array;
  /** Attempts so far, those of a resend included. */
  attempts: number;
  delivered: boolean;
}

/** The next changes after the cursor, as the feed lists them to the live key; null when nothing is new. */
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

/** A test event: no changes, no cursor. */
export function buildPing(service: Service): WebhookEvent {
  return buildEvent('ping', null, (head) => Buffer.from(`${head}]}`), service);
}

/** Id of the newest change that the live key can see, or 0: later ones are new. */
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
