import type { Io } from '../io/io.js';
import { readEvent } from './event.js';
import type { EventStore } from './event-store.js';
import type { RefusalLog } from './refusal-log.js';
import { type AgeLimits, isSignedBy, judgeAge, type Signature } from './signature.js';
import type { SigningSecrets } from './signing-secrets.js';

/** What a delivery is judged by and where it goes. */
export interface Desk {
  secrets: Pick<SigningSecrets, 'current'>;
  store: Pick<EventStore, 'land' | 'setAside'>;
  ages: AgeLimits;
  refusals: RefusalLog;
  /** An event with changes has landed. */
  onLanded: () => void;
  io: Io;
}

/**
 * Judges a delivery and lands it. Returns the status to answer with (section 6, delivery rules): 2xx is said only of
 * what is on disk, or needs not be. A signed body that can't be read is kept aside and taken as well: refused, it would
 * hold up all later changes for a day and then turn the endpoint off, and no retry would change it.
 */
export async function takeDelivery(
  desk: Desk,
  { signature, attempt, body }: { signature: Signature; attempt: number | undefined; body: Buffer },
): Promise<number> {
  const { io, store } = desk;
  if (!isSignedBy(await desk.secrets.current(), signature, body)) {
    desk.refusals.add('signed with none of the secrets');
    return 401;
  }
  const age = judgeAge(signature, io.now(), desk.ages);
  if (age !== 'good') {
    const seconds = Math.round(io.now().getTime() / 1000) - Number(signature.t);
    desk.refusals.add(age === 'too old' ? 'older than --max-age' : 'ahead by more than --max-skew', { seconds });
    return 401;
  }
  // The headers that name id and type are not signed: only the body counts.
  const event = readEvent(body);
  const facts = { attempt, bytes: body.length };
  if ('fault' in event) {
    const file = await store.setAside(body);
    io.log('error', 'webhook.set_aside', { reason: event.fault, file, ...facts });
    return 202;
  }
  const { id: eventId, type, changes, cursor } = event;
  if (type === 'ping') {
    io.log('info', 'webhook.ping', { eventId, ...facts });
    return 204;
  }
  if (type !== 'changes') {
    const file = await store.setAside(body);
    io.log('error', 'webhook.set_aside', { reason: 'of an unknown type', type, eventId, file, ...facts });
    return 202;
  }
  const isNew = await store.land(eventId, body);
  io.log('info', isNew ? 'webhook.landed' : 'webhook.repeat', { eventId, changes, cursor, ...facts });
  if (isNew) desk.onLanded();
  return 204;
}
