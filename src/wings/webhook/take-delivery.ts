import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { parseExactJson } from '../../api/exact-json.js';
import { withoutMark } from '../../formats/byte-order-mark.js';
import type { Io } from '../../io/io.js';
import type { EventStore } from './event-store.js';
import { Refusal } from './refusal.js';
import { type AgeLimits, isSignedBy, judgeAge, type Signature } from './signature.js';
import type { SigningSecrets } from './signing-secrets.js';

export interface Desk {
  secrets: Pick<SigningSecrets, 'current'>;
  store: Pick<EventStore, 'land' | 'setAside'>;
  ages: AgeLimits;
  onLanded: () => void;
  io: Io;
}

/**
 * Verifies and saves a delivery, and returns the status of the response (API §6, delivery rules). 2xx means that the
 * event is on disk, or needn't be saved. A signed body that can't be read is saved in a separate folder and answered
 * with 202. A retry wouldn't change it, and a rejection would delay all later changes for a day and then disable the
 * endpoint.
 * @throws Refusal if the delivery isn't signed, or can't be processed now
 */
export async function takeDelivery(
  desk: Desk,
  { signature, attempt, body }: { signature: Signature; attempt: number | undefined; body: Buffer },
): Promise<number> {
  const { io, store } = desk;
  if (!isSignedBy(await desk.secrets.current(), signature, body)) {
    throw new Refusal(401, 'not signed with any of the secrets');
  }
  const age = judgeAge(signature, io.now(), desk.ages);
  if (age !== 'good') {
    const seconds = Math.round(io.now().getTime() / 1000) - Number(signature.t);
    throw new Refusal(401, age === 'too old' ? 'older than --max-age' : 'ahead of the clock by more than --max-skew', {
      seconds,
    });
  }
  // Only the body is used. The headers with the id and the type aren't signed.
  const text = withoutMark(body);
  const event = readEvent(text);
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
    io.log('error', 'webhook.set_aside', { reason: 'unknown type', type, eventId, file, ...facts });
    return 202;
  }
  const isNew = await store.land(eventId, text);
  io.log('info', isNew ? 'webhook.landed' : 'webhook.repeat', { eventId, changes, cursor, ...facts });
  if (isNew) desk.onLanded();
  return 204;
}

/** The envelope of a WebhookEvent (API §6). The next run types the changes in it. */
interface EventFacts {
  id: string;
  type: string;
  changes: number;
  /** The cursor as text, because it may exceed 2^53. Undefined for a ping. */
  cursor: string | undefined;
}

const envelope = z.looseObject({
  id: z.string().min(1).max(1000),
  type: z.string(),
  cursor: z.union([z.number(), z.bigint()]).nullish().catch(null),
  changes: z.array(z.unknown()).nullish(),
});

/** Parses the envelope of a signed body. If the body is invalid, returns a description of the fault. */
function readEvent(body: Buffer): EventFacts | { fault: string } {
  if (!isUtf8(body)) return { fault: 'not valid UTF-8' };
  let value: unknown;
  try {
    value = parseExactJson(body.toString('utf8'));
  } catch (error) {
    // A body that is nested too deeply causes a RangeError instead of a SyntaxError.
    return { fault: error instanceof SyntaxError ? 'not valid JSON' : 'not readable JSON' };
  }
  const parsed = envelope.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { fault: `not a WebhookEvent: ${issue?.path.join('.') || 'the body'}: ${issue?.message}` };
  }
  const { id, type, cursor, changes } = parsed.data;
  return { id, type, changes: changes?.length ?? 0, cursor: cursor?.toString() };
}
