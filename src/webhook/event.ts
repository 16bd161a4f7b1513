import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { parseExactJson } from '../api/exact-json.js';

/** What the receiver needs to know of a WebhookEvent (section 6); the changes are typed by the next run. */
export interface EventFacts {
  id: string;
  type: string;
  changes: number;
  /** As text: it exceeds what a double holds. Undefined for a ping. */
  cursor: string | undefined;
}

const envelope = z.looseObject({
  id: z.string().min(1).max(1000),
  type: z.string(),
  cursor: z.union([z.number(), z.bigint()]).nullish().catch(null),
  changes: z.array(z.unknown()).nullish(),
});

/** Reads the envelope of a signed body, or says why it is none. */
export function readEvent(body: Buffer): EventFacts | { fault: string } {
  if (!isUtf8(body)) return { fault: 'not valid UTF-8' };
  let value: unknown;
  try {
    value = parseExactJson(body.toString('utf8'));
  } catch (error) {
    // A RangeError is a body nested too deep to be read.
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
